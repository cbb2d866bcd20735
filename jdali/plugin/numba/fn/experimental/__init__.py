"""Provides `numba_function` at DALI's older location."""

from jdali.plugin.numba._function import numba_function

__all__ = ["numba_function"]
