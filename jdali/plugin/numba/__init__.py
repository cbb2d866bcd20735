"""Provides DALI's `plugin.numba`: operators from functions that Numba compiles (extra `numba`)."""

from jdali.plugin.numba import fn as fn
from jdali.plugin.numba._function import NumbaFunction

__all__ = ["NumbaFunction", "fn"]
