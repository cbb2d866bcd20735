"""Names that DALI's users import: `plugin.jax` and `plugin.base_iterator`."""
