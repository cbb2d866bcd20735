"""Provides DALI's `plugin.paddle`: iterators that return dense tensors of PaddlePaddle."""

from jdali.iterator import LastBatchPolicy
from jdali.plugin.base_iterator import _DaliBaseIterator as _DaliBaseIterator

# Imported first, because it raises ImportError with advice if PaddlePaddle is missing.
from jdali.plugin.paddle import _paddle as _paddle
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
