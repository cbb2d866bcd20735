"""DALI's plugins for other frameworks, under DALI's names: `plugin.jax`, `plugin.pytorch`, `plugin.tf`, `plugin.paddle`,
`plugin.triton`, `plugin.numba`, `plugin.base_iterator`.

`plugin.grain`, `plugin.ray` and `plugin.operators` are not in DALI. `plugin.dicts` and `plugin.dali_names` are shared by the
iterators.
"""
