"""Provides DALI's `plugin.tf`, which turns pipelines into TensorFlow data sets."""

# Imported first, because it raises ImportError with advice if TensorFlow is missing.
from jdali.plugin.tf import _tensorflow as _tensorflow
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
