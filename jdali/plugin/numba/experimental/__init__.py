"""Provides `NumbaFunction` at DALI's older location."""

from jdali.plugin.numba._function import NumbaFunction

__all__ = ["NumbaFunction"]
