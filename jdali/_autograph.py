"""Exports the functions for conditionals from `_autograph`, as DALI does."""

from jdali.graph import do_not_convert, is_autograph_artifact

__all__ = ["do_not_convert", "is_autograph_artifact"]
