"""Provides DALI's `plugin.pytorch`: iterators that return `torch.Tensor`s, and PyTorch functions in a pipeline."""

from jdali.iterator import LastBatchPolicy
from jdali.plugin.base_iterator import _DaliBaseIterator as _DaliBaseIterator

# Imported first, because it raises ImportError with advice if PyTorch is missing.
from jdali.plugin.pytorch import _torch as _torch
from jdali.plugin.pytorch import experimental as experimental
from jdali.plugin.pytorch import fn as fn
from jdali.plugin.pytorch import loader_evaluator as loader_evaluator
from jdali.plugin.pytorch._iterator import DALIClassificationIterator, DALIGenericIterator, DALIRaggedIterator
from jdali.plugin.pytorch.fn import TorchPythonFunction
from jdali.plugin.pytorch.torch_utils import feed_ndarray, to_torch_type

__all__ = [
    "DALIClassificationIterator",
    "DALIGenericIterator",
    "DALIRaggedIterator",
    "LastBatchPolicy",
    "TorchPythonFunction",
    "feed_ndarray",
    "fn",
    "to_torch_type",
]
