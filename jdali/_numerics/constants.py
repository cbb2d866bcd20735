"""Constants in a pipeline, with DALI's rules for their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jdali._numerics.elements import (
    BOOL,
    FLOAT,
    FLOAT16,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DALIDataType,
    element_array,
    to_dali_type,
    to_dtype,
)  # fmt: skip
from jdali._system.devices import to_host

# Maps each type of a scalar to True if it is a floating type.
_SCALAR_KINDS = {
    BOOL: False, INT8: False, INT16: False, INT32: False, INT64: False, UINT8: False, UINT16: False, UINT32: False,
    UINT64: False, FLOAT16: True, FLOAT: True, FLOAT64: True,
}  # fmt: skip


def _is_numpy_scalar(value: object) -> bool:
    return isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0


class ScalarConstant:
    """A scalar with a DALI type for arithmetic with DataNodes, such as `Constant(1).uint8()`."""

    shape: tuple[int, ...] = ()

    def __init__(self, value: Any, dtype: DALIDataType | None = None):
        if _is_numpy_scalar(value):
            dtype, value = to_dali_type(value.dtype) if dtype is None else dtype, value.item()
        if not isinstance(value, (bool, int, float)):
            raise TypeError(
                f"ScalarConstant: Expected scalar value of type 'bool', 'int' or 'float', got {type(value)}."
            )
        if dtype is None:
            dtype = BOOL if isinstance(value, bool) else INT32 if isinstance(value, int) else FLOAT
        if not isinstance(dtype, (int, DALIDataType)) or dtype not in list(_SCALAR_KINDS):
            names = [kind.name for kind in _SCALAR_KINDS]
            raise TypeError(f"DALI ScalarConstant can only hold one of: {names} types, not {dtype}.")
        self.dtype = DALIDataType(dtype)
        kind: Any = bool if self.dtype is BOOL else float if _SCALAR_KINDS[self.dtype] else int
        self.value: bool | float = kind(value)

    def __str__(self) -> str:
        return f"{self.value}:{self.dtype}"

    def __repr__(self) -> str:
        return str(self.value)

    def __eq__(self, other: object) -> Any:
        """Compares value and type with another constant; with a DataNode, returns a node that compares each sample."""
        if not isinstance(other, ScalarConstant):
            return NotImplemented
        return (self.value, self.dtype) == (other.value, other.dtype)

    __ne__ = object.__ne__  # the opposite of `__eq__`; defined because DALI's class defines it

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
        """Raises TypeError unless the constant's type is floating, or with `real=False`, an integer or boolean type."""
        allowed = [kind for kind, is_real in _SCALAR_KINDS.items() if is_real == real]
        if self.dtype not in allowed:
            what = "the float types" if real else "bool or int types"
            names = ", ".join(kind.name for kind in allowed)
            raise TypeError(
                f"DALI ScalarConstant must be converted to one of {what}: ({names}) explicitly before casting to "
                f"builtin `{builtin}`. It is {self.dtype.name}"
            )

    def _cast(self, dtype: DALIDataType) -> ScalarConstant:
        return ScalarConstant(self.value, dtype)

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
    """An array that is the same for all samples of a batch, for use with DataNodes.

    Attributes:
        options: `name` and `preserve` of the operator that outputs the constant in a pipeline.
        node: node that outputs a named constant, used again because names are unique in a graph. None before the
            first use, and for a constant without a name.
    """

    node: Any = None

    def __init__(
        self, value: np.ndarray, layout: str, device: str, options: Mapping[str, object] | None = None
    ):
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
    """Makes a constant for arithmetic with DataNodes or as an output.

    Args:
        value: a scalar, a list or an array.
        dtype: element type; None: INT32, FLOAT or BOOL for Python numbers, the 32-bit type for 64-bit arrays, else the
            array's type.
        shape: shape of the array; a scalar is repeated.
        layout: layout of the array.
        device: "cpu" or "gpu"; None: "cpu".
        kwargs: for an array, `name` and `preserve` of the operator that outputs the array.

    Returns: a `ScalarConstant` if `value` is a Python or NumPy scalar, `shape` is None, [] or [1], and no other
        argument but `dtype` is given; else an `ArrayConstant`.
    """
    is_scalar = isinstance(value, (bool, int, float)) or _is_numpy_scalar(value)
    plain = layout is None and device is None and not kwargs
    if is_scalar and plain and (shape is None or np.atleast_1d(shape).tolist() in ([], [1])):
        return ScalarConstant(value, dtype)
    if np.ndim(value) == 0 and not isinstance(value, (int, float)) and not hasattr(value, "dtype"):
        raise TypeError(f"Expected scalar value of type 'bool', 'int' or 'float', got {type(value)}.")
    return ConstantNode(device or "cpu", value, dtype, shape, layout, **kwargs)


def ConstantNode(
    device: str,
    value: Any,
    dtype: DALIDataType | None,
    shape: Any,
    layout: str | None,
    **kwargs: Any,
) -> ArrayConstant:
    """Makes an `ArrayConstant`, even from a scalar.

    Raises:
        TypeError: `kwargs` has an option other than `name` and `preserve`.
    """
    unknown = kwargs.keys() - {"name", "preserve"}
    if unknown:
        raise TypeError(f"Constant: got an unexpected argument {min(unknown)!r}; there are name and preserve")
    array = constant_array(alone(value), dtype)
    if shape is not None:
        array = np.broadcast_to(array, shape) if array.ndim == 0 else array.reshape(shape)
    return ArrayConstant(array, layout or "", device, kwargs)


def constant_array(value: Any, dtype: Any = None, *, exact: bool = False) -> np.ndarray:
    """Converts a constant by DALI's rule: a Python int becomes INT32, a float FLOAT, a bool BOOL.

    64-bit arrays become 32-bit arrays; a NumPy integer scalar, an operand, keeps its 64 bits (see `alone`). Integers out
    of range become the nearest value of the type.

    Args:
        value: number, list of numbers, array, or a constant.
        dtype: type of the result; None: by DALI's rule.
        exact: raise for integers out of range.

    Raises:
        OverflowError: integers are out of range. Raised only if `exact` is True, or if `value` is an array and `dtype`
            is None.
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
    checks = exact or (dtype is None and hasattr(value, "dtype"))
    if checks and array.dtype.kind in "iu" and converted.dtype.kind in "iu" and (array != converted).any():
        raise OverflowError(f"Integer {array[array != converted].flat[0]} out of range for {converted.dtype}")
    return converted


def alone(value: Any) -> Any:
    """Returns a NumPy integer scalar as an array: as a batch of its own, unlike as an operand, it has 32 bits, as in DALI."""
    return np.asarray(value) if isinstance(value, np.integer) else value


_HALVES = {np.dtype(np.int64): np.dtype(np.int32), np.dtype(np.uint64): np.dtype(np.uint32)}


def _nearest(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Converts an array; integers out of range become the nearest value of the type."""
    if array.dtype.kind in "iu" and dtype.kind in "iu" and array.dtype != dtype:
        limits, own = np.iinfo(dtype), np.iinfo(array.dtype)
        array = array.clip(max(limits.min, own.min), min(limits.max, own.max))
    return array.astype(dtype, copy=False)
