"""Names that DALI's users import: `plugin.jax`, `plugin.pytorch`, `plugin.tf`, `plugin.paddle`, `plugin.triton`,
`plugin.numba`, `plugin.base_iterator`.

`plugin.grain` and `plugin.operators` are jdali's own, `plugin.dicts` is for those above.
"""
