"""Exports `pipeline_def` from DALI's older location."""

from jdali._pipeline import pipeline_def

__all__ = ["pipeline_def"]
