from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jdali import types
from jdali._errors import SampleError
from jdali._numerics.rounding import np_saturate_cast
from jdali._operators.record import HostOutputs, Static, Workers, host_batch_operator
from jdali.codecs import npy

_NAME = "decoders.numpy"


@host_batch_operator(name=_NAME, devices=("cpu",), work="decoding", source="operators/decoder/numpy.cc")
def decode_numpy(
    data: Sequence[np.ndarray],
    /,
    *,
    dtype: Static[np.dtype | types.DALIDataType | None] = None,
    workers: Workers,
) -> HostOutputs:
    """Decodes NumPy's .npy format, versions 1.0 to 3.0; never unpickles.

    Args:
        data: uint8 [bytes], content of a file.
        dtype: output type; values are rounded and saturated. None: the stored type, which must be the same for all
            samples of a batch.

    Returns: the array in C order and this machine's byte order.

    Parity: DALI refuses versions 2.0 and 3.0, big-endian elements, and headers whose spacing differs from
    NumPy's. It also refuses a type or number of axes that differs from earlier batches.

    Example: numbers = fn.decoders.numpy(npy)
    """

    def one(i: int) -> np.ndarray:
        try:
            array = npy.decode(data[i], exact=True)
        except SampleError as error:
            raise SampleError(f"{_NAME}: {error}") from error
        return array if dtype is None else np_saturate_cast(array, types.to_dtype(dtype))

    arrays, failures = workers.each(one, len(data))
    _check_alike([(i, array) for i, array in enumerate(arrays) if i not in failures])
    return HostOutputs.of_samples(arrays, failures, ("",))


def _check_alike(arrays: Sequence[tuple[int, np.ndarray]]) -> None:
    """Raises an error unless all arrays have one type and number of axes. The message begins like DALI's."""
    for i, array in arrays:
        number, first = arrays[0]
        facts = f"sample {i} is {array.dtype} {list(array.shape)}, sample {number} {first.dtype} {list(first.shape)}"
        if array.ndim != first.ndim:
            raise SampleError(
                f"{_NAME}: All samples in the dataset must have the same number of dimensions, but got differing "
                f"sample dimensions: {first.ndim} and {array.ndim}: {facts}; a batch has one number of axes",
                sample=i,
            )
        if array.dtype != first.dtype:
            raise SampleError(
                f"{_NAME}: All samples in the dataset must have the same data type, but got differing types: {facts}; "
                "give the dtype to convert to",
                sample=i,
            )
