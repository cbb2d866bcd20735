"""Exports DALI's graph mode: `Pipeline` and `pipeline_def`."""

from jdali._pipeline import OperatorConcurrency, Pipeline, StreamPolicy, pipeline_def
from jdali.graph import DataNode, do_not_convert

from jdali.pipeline import experimental as experimental  # isort: skip

__all__ = ["DataNode", "Pipeline", "pipeline_def", "do_not_convert", "StreamPolicy", "OperatorConcurrency"]
