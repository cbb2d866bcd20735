from __future__ import annotations

import numpy as np

from jdali import types
from jdali._batches import BatchSpec
from jdali._operators.record import Static, host_operator
from jdali.codecs import image as codec
from jdali.types import DALIImageType

_NAME = "peek_image_shape"
_TYPES = ("int32", "uint32", "int64", "uint64", "float32", "float64")


def setup(encoded: BatchSpec, *, dtype: np.dtype) -> BatchSpec:
    if encoded.ndim != 1 or encoded.dtype != np.uint8:
        raise ValueError(
            f"{_NAME}: The input must be a raw, undecoded file stored as a flat uint8 array, got {encoded.dtype} with "
            f"{encoded.ndim} axes"
        )
    if dtype.name not in _TYPES:
        raise ValueError(
            f"{_NAME}: Operator PeekImageShape can return the output as one of the following: {', '.join(_TYPES)}; requested: "
            f"{dtype}"
        )
    return BatchSpec(np.full((encoded.batch_size, 1), 3), dtype)


@host_operator(name=_NAME, setup=setup, devices=("cpu",), source="operators/imgcodec/peek_image_shape.h")
def peek_image_shape(
    encoded: np.ndarray,
    /,
    *,
    adjust_orientation: Static[bool] = True,
    dtype: Static[np.dtype | types.DALIDataType] = types.INT64,
    image_type: Static[DALIImageType] = types.RGB,
) -> np.ndarray:
    """Reads height, width and channels of the image that a decoder would return, without decoding it.

    Args:
        encoded: uint8 [bytes].
        adjust_orientation: return the size that the image has after it is rotated by its EXIF orientation.
        dtype: output type, an integer or floating type of at least 32 bits.
        image_type: colour space of the decoded image. ANY_DATA keeps the stored number of channels. GRAY and INDEX have
            1 channel, all others 3.

    Returns: [3] of type `dtype`.

    Example: sizes = fn.peek_image_shape(jpegs)
    """
    shape = codec.output_shape(codec.probe(encoded), image_type, adjust_orientation)
    return np.array(shape, types.to_dtype(dtype))
