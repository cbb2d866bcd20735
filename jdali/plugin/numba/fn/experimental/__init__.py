"""Provides `numba_function` at DALI's older location."""

from jdali.plugin.numba._surface import numba_function

__all__ = ["numba_function"]
