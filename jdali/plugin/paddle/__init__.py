"""Provides DALI's `plugin.paddle`: iterators that return dense tensors of PaddlePaddle."""

from jdali._system.extras import needed_by
from jdali.iterator import LastBatchPolicy
from jdali.plugin.base_iterator import _DaliBaseIterator as _DaliBaseIterator

with needed_by("jdali.plugin.paddle", "PaddlePaddle", "paddle"):
    import paddle as _paddle  # noqa: F401  # before the modules below, which import it too

from jdali.plugin.paddle._iterator import DALIClassificationIterator, DALIGenericIterator
from jdali.plugin.paddle._tensors import (
    dtype_map,
    feed_ndarray,
    lod_tensor_clip,
    recursive_length,
    to_paddle_type,
)

__all__ = [
    "DALIClassificationIterator",
    "DALIGenericIterator",
    "LastBatchPolicy",
    "dtype_map",
    "feed_ndarray",
    "lod_tensor_clip",
    "recursive_length",
    "to_paddle_type",
]
