"""Provides names that users of DALI import from `experimental`."""

import sys

from jdali import dynamic
from jdali.pipeline import pipeline_def

sys.modules[f"{__name__}.dynamic"] = dynamic

__all__ = ["dynamic", "pipeline_def"]
