"""Operators: their records, how they are called, and the public functions derived from them.

Other packages import six modules only:

* `record`: all that the file of an operator imports, and the registry of all operators.
* `call`: one call of an operator on a batch, planned on the host and run in a compiled program.
* `argument_rules`: shapes and types that per-sample arguments may have.
* `pure`: one sample through an operator in the user's own program.
* `random_key`: the JAX key of a call that draws random values.
* `surface`: signatures, docs and names of the functions of `fn`, `ops` and `dynamic`.

Inside:

* Records: `base`, `options`, `schema` (a signature, read), `shared_arguments`, `offers`; one module for each kind:
  `device`, `device_batch` (both on `compiled`), `host`, `host_batch`, `reader`, `index`.
* Finding them: `registry`, `catalog` (written by tools/make_stubs.py), `names`, `deprecated`.
* Calls: `layout` adapts layouts, `frames` maps over the frames of a sequence, `static_values` converts constants, `traced`
  admits tracers as arguments of `setup`, `names_read` finds the parameters that `run` reads.
* Pure functions: `padded` for padded data, `one_sample` for errors that name `jax.vmap`.
"""
