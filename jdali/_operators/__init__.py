"""Operators: their records, how they are called, and the public functions derived from them.

Six modules are entries; nothing outside of this package imports another one of it:

* `record`: all that the file of an operator imports, and the registry of all operators.
* `call`: one call of an operator on a batch, planned on the host and run in a compiled program.
* `argument_rules`: shapes and types that per-sample arguments may have.
* `pure`: one sample through an operator in the user's own program.
* `random_key`: the JAX key of a call that draws random values.
* `surface`: signatures, docs and names of the functions of `fn`, `ops` and `dynamic`.
"""
