"""DALI's older location of `pipeline_def`, with what was new then."""

from jdali._pipeline import pipeline_def

__all__ = ["pipeline_def"]
