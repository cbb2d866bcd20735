"""Arithmetic that operators share: element types, rounding, sums with known bits, random numbers, padded sizes.

* `elements`, `constants`, `narrow`: DALI's element types, its rules for constants, JAX's 32-bit types.
* `rounding`: the one rounding and saturation rule.
* `exact`, `sums`, `elementary`: the same bits in every padded shape and batch size. `positions`: the same bits of an index
  in users' programs as well.
* `random` makes all keys; `threefry` and `flat_program` compile the draws.
* `platform`: the platform that a program is traced for. `mesh_axes`: programs over Explicit axes and in `shard_map`.
* `grid`: sizes that padded axes may have. `counting`: the arrays 0, 1, 2, ...
"""
