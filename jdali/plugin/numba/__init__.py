"""Provides DALI's `plugin.numba`: functions compiled by Numba as operators of a pipeline (extra `numba`)."""

from jdali.plugin.numba import fn as fn
from jdali.plugin.numba._surface import NumbaFunction

__all__ = ["NumbaFunction", "fn"]
