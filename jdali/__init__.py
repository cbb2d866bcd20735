"""DALI's data loading for JAX: readers, decoders and operators that feed a training loop."""

from jdali._system.lazy import imported as _imported

__version__ = "0.1.0"

# Where each name is imported from, when somebody asks for it.
_WHERE = {
    "CompileLimitError": "jdali._errors",
    "OperatorConcurrency": "jdali.pipeline",
    "OperatorError": "jdali._errors",
    "Pipeline": "jdali.pipeline",
    "SampleError": "jdali._errors",
    "StreamPolicy": "jdali.pipeline",
    "backend": "jdali.backend",
    "data_node": "jdali.data_node",
    "dynamic": "jdali.dynamic",
    "experimental": "jdali.experimental",
    "external_source": "jdali.external_source",
    "fn": "jdali.fn",
    "iterator": "jdali.iterator",
    "math": "jdali.math",
    "newaxis": "jdali.data_node",
    "ops": "jdali.ops",
    "pipeline": "jdali.pipeline",
    "pipeline_def": "jdali.pipeline",
    "profiler": "jdali.profiler",
    "storage": "jdali.storage",
    "tensors": "jdali.tensors",
    "tfrecord": "jdali.tfrecord",
    "types": "jdali.types",
}

_imported(__name__, _WHERE)
