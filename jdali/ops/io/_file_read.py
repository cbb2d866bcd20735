from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from jdali._errors import SampleError
from jdali._operators.record import Static, host_operator
from jdali._storage import from_data, read_file

_NAME = "io.file.read"


@host_operator(name=_NAME, devices=("cpu",), source="operators/io/file/file_read.cc")
def read(
    filepaths: np.ndarray,
    /,
    *,
    dont_use_mmap: Static[bool] = False,
    use_o_direct: Static[bool] = False,
) -> npt.NDArray[np.uint8]:
    """Reads whole files; each input sample is the path of a file.

    Args:
        filepaths: uint8 or int8 [bytes], a path in UTF-8, up to the first zero byte. URLs must be allowed:
            `jdali.storage.configure(allow_protocols=["s3"])`.
        dont_use_mmap: without effect.
        use_o_direct: without effect.

    Returns: uint8 [bytes].

    Parity: DALI cannot read an empty file.

    Example: contents = fn.io.file.read(path)
    """
    if filepaths.dtype not in (np.uint8, np.int8) or filepaths.ndim != 1:
        raise SampleError(
            f"{_NAME}: Unexpected input data type or shape: a path must be uint8 or int8 with one axis, got {filepaths.dtype} "
            f"with {filepaths.ndim}"
        )
    path = os.fsdecode(filepaths.tobytes().partition(b"\0")[0])
    if not path:
        raise SampleError(f"{_NAME}: File mapping failed: the path is empty")
    try:
        return read_file(from_data("", path, free=True))
    except ValueError as error:
        raise SampleError(f"{_NAME}: {error}") from error
