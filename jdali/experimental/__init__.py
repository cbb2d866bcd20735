"""Names that DALI users import from `experimental`."""

import sys

from jdali import dynamic, pipeline
from jdali.pipeline import pipeline_def

sys.modules[f"{__name__}.dynamic"] = dynamic
# DALI's older place of `pipeline_def` with what was new then.
pipeline.experimental = sys.modules["jdali.pipeline.experimental"] = sys.modules[__name__]  # type: ignore[attr-defined]

__all__ = ["dynamic", "pipeline_def"]
