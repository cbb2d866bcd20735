"""decoders.numpy: .npy files to arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from jdali import types
from jdali._errors import SampleError
from jdali._numerics.rounding import np_saturate_cast
from jdali._operators.record import Static, host_operator
from jdali.codecs import npy

_NAME = "decoders.numpy"


@host_operator(name=_NAME, devices=("cpu",), work="decoding", source="operators/decoder/numpy.cc")
def decode_numpy(
    data: np.ndarray, /, *, dtype: Static[np.dtype[Any] | types.DALIDataType | None] = None
) -> np.ndarray:
    """Decodes NumPy's .npy format, versions 1.0 to 3.0; never unpickles.

    Args:
        data: uint8 [bytes], content of a file.
        dtype: output type, rounded and saturated; None: as stored.

    Returns: the array in C order and this machine's byte order.

    Parity: DALI refuses versions 2.0 and 3.0, big-endian elements, and headers that are spaced otherwise than
    NumPy writes them.
    """
    try:
        array = npy.decode(data)
    except SampleError as error:
        raise SampleError(f"{_NAME}: {error}") from error
    return array if dtype is None else np_saturate_cast(array, types.to_dtype(dtype))
