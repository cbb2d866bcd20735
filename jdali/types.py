"""DALI's enums and constants, with DALI's names and numbers.

The values are those of `nvidia.dali.types` 2.4, so that a number stored by DALI code means
the same here.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike

from jdali._system.devices import to_host

CPU_ONLY_DEVICE_ID = -99999
SAME = ""
NHWC, NCHW, NFHWC, NFCHW = "HWC", "CHW", "FHWC", "FCHW"


class _DALIEnum(enum.IntEnum):
    def __repr__(self) -> str:
        return f"<{type(self).__name__}.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class DALIDataType(_DALIEnum):
    """Element types of a tensor."""

    NO_TYPE = -1
    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    UINT64 = 3
    INT8 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    FLOAT16 = 8
    FLOAT = 9
    FLOAT64 = 10
    BOOL = 11
    STRING = 12
    FEATURE = 17
    IMAGE_TYPE = 20
    DATA_TYPE = 21
    INTERP_TYPE = 22
    TENSOR_LAYOUT = 23
    PYTHON_OBJECT = 24


class DALIImageType(_DALIEnum):
    """Colour spaces of a decoded image."""

    RGB = 0
    BGR = 1
    GRAY = 2
    YCbCr = 3
    ANY_DATA = 4


class DALIInterpType(_DALIEnum):
    """Interpolation filters."""

    INTERP_NN = 0
    INTERP_LINEAR = 1
    INTERP_CUBIC = 2
    INTERP_LANCZOS3 = 3
    INTERP_TRIANGULAR = 4
    INTERP_GAUSSIAN = 5


class PipelineAPIType(_DALIEnum):
    """Which family of `Pipeline` methods a pipeline is driven with."""

    BASIC = 0
    ITERATOR = 1
    SCHEDULED = 2


NO_TYPE = DALIDataType.NO_TYPE
UINT8 = DALIDataType.UINT8
UINT16 = DALIDataType.UINT16
UINT32 = DALIDataType.UINT32
UINT64 = DALIDataType.UINT64
INT8 = DALIDataType.INT8
INT16 = DALIDataType.INT16
INT32 = DALIDataType.INT32
INT64 = DALIDataType.INT64
FLOAT16 = DALIDataType.FLOAT16
FLOAT = DALIDataType.FLOAT
FLOAT64 = DALIDataType.FLOAT64
BOOL = DALIDataType.BOOL
STRING = DALIDataType.STRING
FEATURE = DALIDataType.FEATURE
IMAGE_TYPE = DALIDataType.IMAGE_TYPE
DATA_TYPE = DALIDataType.DATA_TYPE
INTERP_TYPE = DALIDataType.INTERP_TYPE
TENSOR_LAYOUT = DALIDataType.TENSOR_LAYOUT
PYTHON_OBJECT = DALIDataType.PYTHON_OBJECT
RGB = DALIImageType.RGB
BGR = DALIImageType.BGR
GRAY = DALIImageType.GRAY
YCbCr = DALIImageType.YCbCr
ANY_DATA = DALIImageType.ANY_DATA
INTERP_NN = DALIInterpType.INTERP_NN
INTERP_LINEAR = DALIInterpType.INTERP_LINEAR
INTERP_CUBIC = DALIInterpType.INTERP_CUBIC
INTERP_LANCZOS3 = DALIInterpType.INTERP_LANCZOS3
INTERP_TRIANGULAR = DALIInterpType.INTERP_TRIANGULAR
INTERP_GAUSSIAN = DALIInterpType.INTERP_GAUSSIAN

_NUMPY_TYPES: dict[DALIDataType, Any] = {
    UINT8: np.uint8,
    UINT16: np.uint16,
    UINT32: np.uint32,
    UINT64: np.uint64,
    INT8: np.int8,
    INT16: np.int16,
    INT32: np.int32,
    INT64: np.int64,
    FLOAT16: np.float16,
    FLOAT: np.float32,
    FLOAT64: np.float64,
    BOOL: np.bool_,
}
_DALI_TYPES = {np.dtype(numpy): dali for dali, numpy in _NUMPY_TYPES.items()}


def to_numpy_type(dali_type: DALIDataType) -> Any:
    """NumPy scalar type of a DALI type, e.g. FLOAT → numpy.float32."""
    try:
        return _NUMPY_TYPES[DALIDataType(dali_type)]
    except KeyError:
        raise TypeError(f"{DALIDataType(dali_type)} has no NumPy type") from None


def to_dali_type(framework_type: DTypeLike) -> DALIDataType:
    """DALI type of a NumPy, JAX or Python type, or of its name ("float32", "bool")."""
    dtype = np.dtype(framework_type)
    try:
        return _DALI_TYPES[dtype]
    except KeyError:
        raise TypeError(f"{dtype} has no DALI type") from None


@functools.lru_cache(maxsize=256, typed=True)  # some operators ask for each sample
def to_dtype(value: Any) -> np.dtype[Any]:
    """NumPy dtype of whatever a `dtype=` argument may be: DALI, NumPy, JAX or Python type."""
    if isinstance(value, (DALIDataType, int)) and not isinstance(value, (bool, type)):
        number: np.dtype[Any] = np.dtype(to_numpy_type(DALIDataType(value)))
        return number
    dtype: np.dtype[Any] = np.dtype(jnp.dtype(value))
    to_dali_type(dtype)
    return dtype


def type_name(dtype: np.dtype[Any]) -> str:
    """The name of an element type in DALI's messages: NumPy's, but "float" and "double"."""
    return {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)


# Types of scalars, and whether they are real.
_SCALAR_KINDS = {
    BOOL: False, INT8: False, INT16: False, INT32: False, INT64: False, UINT8: False, UINT16: False, UINT32: False,
    UINT64: False, FLOAT16: True, FLOAT: True, FLOAT64: True,
}  # fmt: skip


class ScalarConstant:
    """A scalar with a DALI type, for arithmetic with DataNodes: `Constant(1).uint8()`."""

    shape: tuple[int, ...] = ()

    def __init__(self, value: bool | float, dtype: DALIDataType | None = None):
        if not isinstance(value, (bool, int, float)):
            raise TypeError(
                f"ScalarConstant: Expected scalar value of type 'bool', 'int' or 'float', got {type(value)}."
            )
        self.value = value
        if dtype is None:
            dtype = BOOL if isinstance(value, bool) else INT32 if isinstance(value, int) else FLOAT
        self.dtype = DALIDataType(dtype)
        if self.dtype not in _SCALAR_KINDS:
            names = [kind.name for kind in _SCALAR_KINDS]
            raise TypeError(
                f"DALI ScalarConstant can only hold one of: {names} types, not {self.dtype.name}."
            )

    def __repr__(self) -> str:
        return f"ScalarConstant({self.value}, {self.dtype})"

    def __eq__(self, other: object) -> Any:
        """Whether another constant has the same value and type; with a DataNode, a comparison sample by sample."""
        if not isinstance(other, ScalarConstant):
            return NotImplemented
        return (self.value, self.dtype) == (other.value, other.dtype)

    __ne__ = object.__ne__  # the opposite of `__eq__`; DALI's class has it by name

    def __hash__(self) -> int:
        return hash((self.value, self.dtype))

    def __bool__(self) -> bool:
        self._check_kind("bool", real=False)
        return bool(self.value)

    def __int__(self) -> int:
        self._check_kind("int", real=False)
        return int(self.value)

    def __float__(self) -> float:
        self._check_kind("float", real=True)
        return float(self.value)

    def _check_kind(self, builtin: str, *, real: bool) -> None:
        """Raises unless it is of one of the types that may become this type of Python."""
        allowed = [kind for kind, is_real in _SCALAR_KINDS.items() if is_real == real]
        if self.dtype not in allowed:
            what = "the float types" if real else "bool or int types"
            names = ", ".join(kind.name for kind in allowed)
            raise TypeError(
                f"DALI ScalarConstant must be converted to one of {what}: ({names}) explicitly before casting to "
                f"builtin `{builtin}`. It is {self.dtype.name}"
            )

    def _cast(self, dtype: DALIDataType) -> ScalarConstant:
        kind = bool if dtype is BOOL else float if np.dtype(_NUMPY_TYPES[dtype]).kind == "f" else int
        return ScalarConstant(kind(self.value), dtype)

    def bool(self) -> ScalarConstant:
        return self._cast(BOOL)

    def int8(self) -> ScalarConstant:
        return self._cast(INT8)

    def int16(self) -> ScalarConstant:
        return self._cast(INT16)

    def int32(self) -> ScalarConstant:
        return self._cast(INT32)

    def int64(self) -> ScalarConstant:
        return self._cast(INT64)

    def uint8(self) -> ScalarConstant:
        return self._cast(UINT8)

    def uint16(self) -> ScalarConstant:
        return self._cast(UINT16)

    def uint32(self) -> ScalarConstant:
        return self._cast(UINT32)

    def uint64(self) -> ScalarConstant:
        return self._cast(UINT64)

    def float16(self) -> ScalarConstant:
        return self._cast(FLOAT16)

    def float32(self) -> ScalarConstant:
        return self._cast(FLOAT)

    def float64(self) -> ScalarConstant:
        return self._cast(FLOAT64)


class ArrayConstant:
    """An array that is the same for every sample of a batch, for use among DataNodes.

    Attributes:
        options: of the operator that gives it in a pipeline: its `name`, and `preserve`.
        node: the only one that gives it, if it has a name.
    """

    node: Any = None

    def __init__(self, value: np.ndarray, layout: str, device: str, options: Mapping[str, Any] | None = None):
        self.value, self.layout, self.device = value, layout, device
        self.options = dict(options or {})

    def __repr__(self) -> str:
        return f"Constant({self.value.tolist()!r}, dtype={to_dali_type(self.value.dtype)})"


def Constant(
    value: Any,
    dtype: DALIDataType | None = None,
    shape: Any = None,
    layout: str | None = None,
    device: str | None = None,
    **kwargs: Any,
) -> ScalarConstant | ArrayConstant:
    """A constant for arithmetic with DataNodes or as an output.

    Args:
        value: a scalar, a list or an array.
        dtype: None: INT32, FLOAT or BOOL of Python numbers and of 64-bit arrays, else the array's own.
        shape: shape of the array; a scalar is repeated.
        layout: layout of the array.
        device: "cpu" or "gpu"; None: "cpu".
        kwargs: of an array, `name` and `preserve` of the operator that gives it.

    Returns: a `ScalarConstant` for a scalar without shape, layout and device, else an array.
    """
    if isinstance(value, (bool, int, float)) and shape is None and layout is None and device is None:
        return ScalarConstant(value, dtype)
    return ConstantNode(device or "cpu", value, dtype, shape, layout, **kwargs)


def ConstantNode(
    device: str,
    value: Any,
    dtype: DALIDataType | None,
    shape: Any,
    layout: str | None,
    **kwargs: Any,
) -> ArrayConstant:
    """`Constant` of an array, also where the value is a scalar.

    Raises:
        TypeError: there is no such option.
    """
    unknown = kwargs.keys() - {"name", "preserve"}
    if unknown:
        raise TypeError(f"Constant: got an unexpected argument {min(unknown)!r}; there are name and preserve")
    array = constant_array(value, dtype)
    if shape is not None:
        array = np.broadcast_to(array, shape) if array.ndim == 0 else array.reshape(shape)
    return ArrayConstant(array, layout or "", device, kwargs)


def constant_array(value: Any, dtype: Any = None, *, exact: bool = False) -> np.ndarray:
    """DALI's rule for constants: Python int is INT32, float FLOAT, bool BOOL; 64 bits shrink to 32.

    But a NumPy integer by itself, no array, keeps its 64 bits. Integers that a type does not hold become its nearest one.

    Args:
        value: number, list of numbers, array, or a constant.
        dtype: of the result; None: by that rule.
        exact: integers that do not fit are an error.

    Raises:
        OverflowError: those of an array do not fit in 32 bits, and no type was given; or `exact`.
    """
    if isinstance(value, ScalarConstant):
        value, dtype = value.value, dtype or value.dtype
    if isinstance(value, ArrayConstant):
        return value.value if dtype is None else value.value.astype(to_dtype(dtype))
    array = element_array(to_host(value))
    if dtype is None and array.dtype == np.float64:
        return array.astype(np.float32)
    own = array.dtype if isinstance(value, np.integer) else _HALVES.get(array.dtype, array.dtype)
    wanted = own if dtype is None else to_dtype(dtype)
    converted = _nearest(array, wanted)
    if exact or (dtype is None and hasattr(value, "dtype")):
        _check_integers(array, converted)
    return converted


_HALVES = {np.dtype(np.int64): np.dtype(np.int32), np.dtype(np.uint64): np.dtype(np.uint32)}


def _check_integers(array: np.ndarray, converted: np.ndarray) -> None:
    """Raises OverflowError if an integer has become another one."""
    if array.dtype.kind in "iu" and converted.dtype.kind in "iu" and (array != converted).any():
        raise OverflowError(f"Integer {array[array != converted].flat[0]} out of range for {converted.dtype}")


def _nearest(array: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Converted; integers that do not fit are the nearest ones that do."""
    if array.dtype.kind in "iu" and dtype.kind in "iu" and array.dtype != dtype:
        limits, own = np.iinfo(dtype), np.iinfo(array.dtype)
        array = array.clip(max(limits.min, own.min), min(limits.max, own.max))
    return array.astype(dtype, copy=False)


def element_array(array: np.ndarray) -> np.ndarray:
    """The array in the machine's byte order; itself, if it has that.

    Raises:
        TypeError: its elements are of no type that DALI has.
    """
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype not in _DALI_TYPES:
        raise TypeError(f"elements of type {array.dtype} have no type in DALI: convert them first")
    return array


class TensorLayout(str):
    """A layout: a letter for each axis. Strings do as well, and compare with it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"TensorLayout({str(self)!r})"


class CUDAStream:
    """The handle of a CUDA stream, where DALI takes one; without effect, XLA has streams of its own.

    Args:
        ptr: the handle; None: there is none.
    """

    def __init__(self, ptr: int | None = None):
        self._ptr = ptr

    @property
    def ptr(self) -> int | None:
        """As given."""
        return self._ptr


class SampleInfo:
    """What a per-sample callback is told: which sample it is to give.

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
    """What a batch callback with `batch_info=True` is told."""

    __slots__ = ("epoch_idx", "iteration")

    def __init__(self, iteration: int, epoch_idx: int):
        self.iteration, self.epoch_idx = iteration, epoch_idx

    def __repr__(self) -> str:
        return f"BatchInfo(iteration={self.iteration}, epoch_idx={self.epoch_idx})"
