"""Provides DALI's `plugin.tf`, which turns pipelines into TensorFlow data sets."""

from jdali._system.extras import needed_by

with needed_by("jdali.plugin.tf", "TensorFlow", "tf"):
    import tensorflow as _tensorflow  # noqa: F401  # before the modules below, which import it too

from jdali.plugin.tf import experimental as experimental
from jdali.plugin.tf._dataset import DALIDataset
from jdali.plugin.tf._operator import (
    DALIIterator,
    DALIIteratorWrapper,
    DALIRawIterator,
    dataset_compatible_tensorflow,
    dataset_distributed_compatible_tensorflow,
    dataset_inputs_compatible_tensorflow,
    serialize_pipeline,
)

__all__ = [
    "DALIDataset",
    "DALIIterator",
    "DALIIteratorWrapper",
    "DALIRawIterator",
    "dataset_compatible_tensorflow",
    "dataset_distributed_compatible_tensorflow",
    "dataset_inputs_compatible_tensorflow",
    "experimental",
    "serialize_pipeline",
]
