"""Provides DALI's `plugin.pytorch`: iterators that return `torch.Tensor`s, and PyTorch functions in a pipeline."""

from jdali._system.extras import needed_by
from jdali.iterator import LastBatchPolicy
from jdali.plugin.base_iterator import _DaliBaseIterator as _DaliBaseIterator

with needed_by("jdali.plugin.pytorch", "PyTorch", "torch"):
    import torch as _torch  # noqa: F401  # before the modules below, which import it too

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
