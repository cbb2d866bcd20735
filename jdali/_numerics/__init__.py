"""Contains the arithmetic that operators share: element types, rounding, exact sums, random numbers, padded sizes.

* `elements`: DALI's element types; `constants`: DALI's types of constants; `narrow`: conversion to 32-bit types.
* `rounding` has the one rule for rounding and saturation.
* `exact`, `sums` and `elementary` compute the same bits in every padded shape and batch size. `positions` computes
  indices with the same bits, even in users' programs.
* `random` makes all keys; `threefry` and `flat_program` compile the draws.
* `platform` finds the platform that a program is traced for; `mesh_axes` handles Explicit axes and `shard_map`.
* `grid` has the sizes of padded axes; `counting` makes the arrays 0, 1, 2, ...
"""
