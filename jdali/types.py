"""Defines DALI's enums and constants with the names and numbers of `nvidia.dali.types` 2.4.

The numbers equal DALI's, so a number that a program for DALI has stored means the same in jdali.
"""

from __future__ import annotations

from jdali._numerics.constants import ArrayConstant, Constant, ConstantNode, ScalarConstant, constant_array
from jdali._numerics.elements import (
    BOOL,
    DATA_TYPE,
    FEATURE,
    FLOAT,
    FLOAT16,
    FLOAT64,
    IMAGE_TYPE,
    INT8,
    INT16,
    INT32,
    INT64,
    INTERP_TYPE,
    NO_TYPE,
    PYTHON_OBJECT,
    STRING,
    TENSOR_LAYOUT,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DALIDataType,
    DALIEnum,
    element_array,
    to_dali_type,
    to_dtype,
    to_numpy_type,
    type_name,
)

__all__ = [
    "ANY_DATA", "ArrayConstant", "BGR", "BOOL", "BatchInfo", "CPU_ONLY_DEVICE_ID", "CUDAStream",
    "Constant", "ConstantNode", "DALIDataType", "DALIImageType", "DALIInterpType", "DATA_TYPE", "FEATURE",
    "FLOAT", "FLOAT16", "FLOAT64", "GRAY", "IMAGE_TYPE", "INDEX", "INT16", "INT32", "INT64", "INT8",
    "INTERP_CUBIC", "INTERP_GAUSSIAN", "INTERP_LANCZOS3", "INTERP_LINEAR", "INTERP_NN",
    "INTERP_TRIANGULAR", "INTERP_TYPE", "NCHW", "NFCHW", "NFHWC", "NHWC", "NO_TYPE", "PYTHON_OBJECT",
    "PipelineAPIType", "RGB", "SAME", "STRING", "SampleInfo", "ScalarConstant", "TENSOR_LAYOUT",
    "TensorLayout", "UINT16", "UINT32", "UINT64", "UINT8", "YCbCr", "constant_array", "element_array",
    "to_dali_type", "to_dtype", "to_numpy_type", "type_name",
]  # fmt: skip

CPU_ONLY_DEVICE_ID = -99999
SAME = ""
NHWC, NCHW, NFHWC, NFCHW = "HWC", "CHW", "FHWC", "FCHW"


class DALIImageType(DALIEnum):
    """Lists the colour spaces of a decoded image."""

    RGB = 0
    BGR = 1
    GRAY = 2
    YCbCr = 3
    ANY_DATA = 4
    INDEX = 5  # indices into the palette, for masks; DALI lacks it


class DALIInterpType(DALIEnum):
    """Lists the interpolation filters."""

    INTERP_NN = 0
    INTERP_LINEAR = 1
    INTERP_CUBIC = 2
    INTERP_LANCZOS3 = 3
    INTERP_TRIANGULAR = 4
    INTERP_GAUSSIAN = 5


class PipelineAPIType(DALIEnum):
    """Lists the groups of `Pipeline` methods that can run a pipeline."""

    BASIC = 0
    ITERATOR = 1
    SCHEDULED = 2


RGB = DALIImageType.RGB
BGR = DALIImageType.BGR
GRAY = DALIImageType.GRAY
YCbCr = DALIImageType.YCbCr
ANY_DATA = DALIImageType.ANY_DATA
INDEX = DALIImageType.INDEX
INTERP_NN = DALIInterpType.INTERP_NN
INTERP_LINEAR = DALIInterpType.INTERP_LINEAR
INTERP_CUBIC = DALIInterpType.INTERP_CUBIC
INTERP_LANCZOS3 = DALIInterpType.INTERP_LANCZOS3
INTERP_TRIANGULAR = DALIInterpType.INTERP_TRIANGULAR
INTERP_GAUSSIAN = DALIInterpType.INTERP_GAUSSIAN


class TensorLayout(str):
    """Names each axis of an array by one letter. A plain string works as well, and compares equal."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"TensorLayout({str(self)!r})"


class CUDAStream:
    """Holds the handle of a CUDA stream, as DALI's class does; has no effect, because XLA manages its own streams.

    Args:
        ptr: the handle; None for no stream.
    """

    def __init__(self, ptr: int | None = None):
        self._ptr = ptr

    @property
    def ptr(self) -> int | None:
        """Returns the handle that was passed in."""
        return self._ptr


class SampleInfo:
    """Identifies the sample that a per-sample callback should return; each call gets a `SampleInfo` as its argument.

    Attributes:
        idx_in_epoch: index of the sample in the epoch.
        idx_in_batch: index of the sample in its batch.
        iteration: number of the batch in the epoch.
        epoch_idx: number of the epoch.
    """

    __slots__ = ("epoch_idx", "idx_in_batch", "idx_in_epoch", "iteration")

    def __init__(self, idx_in_epoch: int, idx_in_batch: int, iteration: int, epoch_idx: int):
        self.idx_in_epoch, self.idx_in_batch = idx_in_epoch, idx_in_batch
        self.iteration, self.epoch_idx = iteration, epoch_idx

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)}" for name in reversed(self.__slots__))
        return f"SampleInfo({fields})"


class BatchInfo:
    """Identifies the batch that a callback should return; each call gets a `BatchInfo` if `batch_info` is True.

    Attributes:
        iteration: number of the batch in the epoch.
        epoch_idx: number of the epoch.
    """

    __slots__ = ("epoch_idx", "iteration")

    def __init__(self, iteration: int, epoch_idx: int):
        self.iteration, self.epoch_idx = iteration, epoch_idx

    def __repr__(self) -> str:
        return f"BatchInfo(iteration={self.iteration}, epoch_idx={self.epoch_idx})"
