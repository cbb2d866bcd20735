"""Provides `NumbaFunction` at DALI's older location."""

from jdali.plugin.numba._surface import NumbaFunction

__all__ = ["NumbaFunction"]
