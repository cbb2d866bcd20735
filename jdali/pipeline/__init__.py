"""`Pipeline` and `pipeline_def`: DALI's graph mode."""

from jdali._pipeline.config import OperatorConcurrency, StreamPolicy
from jdali._pipeline.definition_decorator import pipeline_def
from jdali._pipeline.pipeline import Pipeline
from jdali.graph.conditional import do_not_convert
from jdali.graph.node import DataNode

from jdali.pipeline import experimental as experimental  # isort: skip

__all__ = ["DataNode", "Pipeline", "pipeline_def", "do_not_convert", "StreamPolicy", "OperatorConcurrency"]
