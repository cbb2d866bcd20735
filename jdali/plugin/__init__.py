"""Names that DALI's users import: `plugin.jax`, `plugin.pytorch`, `plugin.base_iterator`; and `plugin.grain`."""
