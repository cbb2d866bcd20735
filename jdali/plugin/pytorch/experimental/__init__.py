"""Provides DALI's `plugin.pytorch.experimental`."""

from jdali.plugin.pytorch.experimental import proxy as proxy
