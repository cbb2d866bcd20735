"""Provides `numba_function`."""

from jdali.plugin.numba._function import numba_function
from jdali.plugin.numba.fn import experimental as experimental

__all__ = ["experimental", "numba_function"]
