"""DALI's data loading for JAX: readers, decoders and operators that feed a training loop."""

from jdali import storage as storage
from jdali import types as types
from jdali._errors import CompileLimitError, OperatorError, SampleError
from jdali.data_node import newaxis
from jdali.pipeline import OperatorConcurrency, Pipeline, StreamPolicy, pipeline_def

from jdali import fn as fn  # isort: skip
from jdali import dynamic as dynamic  # isort: skip
from jdali import experimental as experimental  # isort: skip
from jdali import math as math  # isort: skip
from jdali import iterator as iterator  # isort: skip
from jdali import ops as ops  # isort: skip
from jdali import backend as backend  # isort: skip
from jdali import external_source as external_source  # isort: skip
from jdali import profiler as profiler  # isort: skip
from jdali import tensors as tensors  # isort: skip

__version__ = "0.1.0"

__all__ = [
    "CompileLimitError",
    "OperatorConcurrency",
    "OperatorError",
    "Pipeline",
    "SampleError",
    "StreamPolicy",
    "backend",
    "dynamic",
    "experimental",
    "external_source",
    "fn",
    "iterator",
    "math",
    "newaxis",
    "ops",
    "pipeline_def",
    "profiler",
    "storage",
    "tensors",
    "types",
]
