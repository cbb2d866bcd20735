"""DALI's older location of `NumbaFunction`."""

from jdali.plugin.numba._surface import NumbaFunction

__all__ = ["NumbaFunction"]
