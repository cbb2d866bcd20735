"""DALI's element types, with their numbers and NumPy types."""

from __future__ import annotations

import enum
import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike


class DALIEnum(enum.IntEnum):
    """An enum with DALI's `repr` and `str`."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class DALIDataType(DALIEnum):
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


class UnsupportedTypeError(TypeError, RuntimeError):
    """Raised for a DALI type that has no NumPy type. It is a RuntimeError, as in DALI, and also a TypeError."""


def to_numpy_type(dali_type: DALIDataType) -> Any:
    """Returns the NumPy scalar type of a DALI type, e.g. numpy.float32 for FLOAT."""
    try:
        return _NUMPY_TYPES[DALIDataType(dali_type)]
    except KeyError:
        raise UnsupportedTypeError(f"{DALIDataType(dali_type)} has no NumPy type") from None


def to_dali_type(framework_type: DTypeLike) -> DALIDataType:
    """Returns the DALI type of a NumPy, JAX or Python type, or of its name ("float32", "bool")."""
    try:
        return _DALI_TYPES[np.dtype(framework_type)]
    except (KeyError, TypeError):
        raise TypeError(
            f"'{framework_type}' could not be converted into any known DALIDataType. {_known_types()}"
        ) from None


@functools.lru_cache(maxsize=256, typed=True)  # some operators call it for each sample
def to_dtype(value: Any) -> np.dtype:
    """Returns the NumPy dtype of any `dtype=` argument: a DALI, NumPy, JAX or Python type."""
    if isinstance(value, (DALIDataType, int)) and not isinstance(value, (bool, type)):
        number: np.dtype = np.dtype(to_numpy_type(DALIDataType(value)))
        return number
    try:
        dtype: np.dtype = np.dtype(jnp.dtype(value))
    except TypeError as error:
        raise TypeError(f"{error}. {_known_types()}") from None
    to_dali_type(dtype)
    return dtype


def _known_types() -> str:
    return "There are types." + ", types.".join(dali.name for dali in _NUMPY_TYPES)


def type_name(dtype: np.dtype) -> str:
    """Returns the name that DALI's messages use for an element type: "float", "double", otherwise NumPy's name."""
    return {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)


def element_array(array: np.ndarray) -> np.ndarray:
    """Converts an array to the machine's byte order; copies it only if the order differs.

    Raises:
        TypeError: DALI has no such element type.
    """
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype not in _DALI_TYPES:
        raise TypeError(f"elements of type {array.dtype} have no type in DALI: convert them first")
    return array
