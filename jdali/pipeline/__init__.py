"""`Pipeline` and `pipeline_def`: DALI's graph mode."""

from jdali._pipeline._options import OperatorConcurrency, StreamPolicy
from jdali._pipeline._pipeline import Pipeline
from jdali._pipeline._pipeline_def import pipeline_def
from jdali.graph._conditional import do_not_convert
from jdali.graph._node import DataNode

from jdali.pipeline import experimental as experimental  # isort: skip

__all__ = ["DataNode", "Pipeline", "pipeline_def", "do_not_convert", "StreamPolicy", "OperatorConcurrency"]
