"""Provides DALI's plugins for other frameworks, under DALI's names.

From DALI come `plugin.jax`, `pytorch`, `tf`, `paddle`, `triton`, `numba` and `base_iterator`. DALI does not have
`plugin.grain`, `ray` and `operators`. The iterators share `plugin.dicts` and `plugin.dali_names`.
"""
