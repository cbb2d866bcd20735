"""Provides DALI's plugins for other frameworks, under DALI's names.

DALI has `plugin.jax`, `pytorch`, `tf`, `paddle`, `triton`, `numba` and `base_iterator`, too. It does not have
`plugin.grain`, `ray` or `operators`. The iterators share `plugin.dicts` and `plugin.dali_names`.
"""
