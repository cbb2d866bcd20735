"""Defines operators: their records, their calls, and the public functions derived from them.

The record of an operator is an object with its function, its schema and its options. A surface is a public module that has
a function for each operator: `fn`, `ops` or `dynamic`.

Other packages import only six modules:

* `record`: all that an operator's file imports, and the registry of all operators.
* `call`: one call of an operator on a batch, planned on the host and run in a compiled program.
* `argument_rules`: shapes and types that per-sample arguments may have.
* `pure`: runs an operator on one sample in the user's own program.
* `random_key`: the JAX key of a call that draws random values.
* `surface`: signatures, docs and names of the functions of surfaces.

Inside:

* Records: `base`, `schema` (reads signatures); compiled kinds are in `compiled`, all other kinds in `host`.
* Lookup: `catalog` (written by tools/make_stubs.py), `names`.
* Calls: `layout` adapts layouts, `frames` maps over the frames of a sequence, `static_values` converts static arguments,
  `scaled` handles decoding at a fraction of the size.
* Pure functions: `padded` handles padded data.
"""
