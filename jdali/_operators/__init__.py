"""Operators: their records, how they are called, and the public functions derived from them.

Other packages import six modules only:

* `record`: all that the file of an operator imports, and the registry of all operators.
* `call`: one call of an operator on a batch, planned on the host and run in a compiled program.
* `argument_rules`: shapes and types that per-sample arguments may have.
* `pure`: one sample through an operator in the user's own program.
* `random_key`: the JAX key of a call that draws random values.
* `surface`: signatures, docs and names of the functions of `fn`, `ops` and `dynamic`.

Inside:

* Records: `base`, `schema` (a signature, read); the kinds that are compiled in `compiled`, all others in `host`.
* Finding them: `catalog` (written by tools/make_stubs.py), `names`.
* Calls: `layout` adapts layouts, `frames` maps over the frames of a sequence, `static_values` converts constants, `scaled`
  is decoding at a fraction of the size.
* Pure functions: `padded` for padded data, `one_sample` for errors that name `jax.vmap`.
"""
