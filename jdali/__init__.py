"""Provides DALI's data loading for JAX: readers, decoders and operators that feed a training loop."""

from jdali._system.lazy import imported as _imported
from jdali._system.lazy import register as _register

__version__ = "0.1.0"
__git_sha__ = ""  # DALI has its commit here; a release of jdali is identified by its version

# Maps each public name to the module that provides it, which is imported on first use.
_WHERE = {
    "__cuda_version__": "jdali.backend",
    "CompileLimitError": "jdali._errors",
    "FolderError": "jdali.engine.function.manifest",
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
    "load": "jdali.engine.function.load",
    "math": "jdali.math",
    "newaxis": "jdali.data_node",
    "ops": "jdali.ops",
    "pipeline": "jdali.pipeline",
    "pickling": "jdali.pickling",
    "pipeline_def": "jdali.pipeline",
    "plugin_manager": "jdali.plugin_manager",
    "profiler": "jdali.profiler",
    "statistics": "jdali._statistics",
    "show": "jdali._notebook",
    "storage": "jdali.storage",
    "sysconfig": "jdali.sysconfig",
    "tensors": "jdali.tensors",
    "tfrecord": "jdali.tfrecord",
    "types": "jdali.types",
}

_imported(__name__, _WHERE)
_register("view", "jdali._viewer.server")  # for `Pipeline.view`, because pipelines must not import the viewer
