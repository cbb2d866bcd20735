"""Provides `do_not_convert` and `is_autograph_artifact`, as DALI's `_autograph` does."""

from jdali.graph import do_not_convert, is_autograph_artifact

__all__ = ["do_not_convert", "is_autograph_artifact"]
