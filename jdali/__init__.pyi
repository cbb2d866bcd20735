"""Made by tools/make_stubs.py from what `jdali` imports when it is asked for; do not edit."""

from jdali.backend import __cuda_version__ as __cuda_version__
from jdali._errors import CompileLimitError as CompileLimitError
from jdali.engine.function.manifest import FolderError as FolderError
from jdali.pipeline import OperatorConcurrency as OperatorConcurrency
from jdali._errors import OperatorError as OperatorError
from jdali.pipeline import Pipeline as Pipeline
from jdali._errors import SampleError as SampleError
from jdali.pipeline import StreamPolicy as StreamPolicy
from jdali import backend as backend
from jdali import data_node as data_node
from jdali import dynamic as dynamic
from jdali import experimental as experimental
from jdali import external_source as external_source
from jdali import fn as fn
from jdali import iterator as iterator
from jdali.engine.function.load import load as load
from jdali import math as math
from jdali.data_node import newaxis as newaxis
from jdali import ops as ops
from jdali import pipeline as pipeline
from jdali import pickling as pickling
from jdali.pipeline import pipeline_def as pipeline_def
from jdali import plugin_manager as plugin_manager
from jdali import profiler as profiler
from jdali._statistics import statistics as statistics
from jdali._notebook import show as show
from jdali import storage as storage
from jdali import sysconfig as sysconfig
from jdali import tensors as tensors
from jdali import tfrecord as tfrecord
from jdali import types as types

__git_sha__: str
__version__: str
