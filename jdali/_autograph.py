"""Provides the functions for conditionals under DALI's name of this module."""

from jdali.graph import do_not_convert, is_autograph_artifact

__all__ = ["do_not_convert", "is_autograph_artifact"]
