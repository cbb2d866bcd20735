"""Conversion of conditionals, under DALI's name of the module."""

from jdali.graph import do_not_convert, is_autograph_artifact

__all__ = ["do_not_convert", "is_autograph_artifact"]
