"""DALI's older location of `numba_function`."""

from jdali.plugin.numba._surface import numba_function

__all__ = ["numba_function"]
