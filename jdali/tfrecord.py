"""Describes the features that `fn.readers.tfrecord` reads from each record, with DALI's names."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

int64, string, float32 = 0, 1, 2

_NAMES = {int64: "int64", string: "string", float32: "float32"}
_DEFAULT_TYPES: dict[int, tuple[type, ...]] = {int64: (int,), string: (str, bytes), float32: (float, int)}


@dataclasses.dataclass(frozen=True)
class Feature:
    """Describes one feature of a record; call `FixedLenFeature` or `VarLenFeature` to make one.

    Attributes:
        dtype: int64, float32 or string.
        shape: shape of the tensor; None if it is variable.
        partial_shape: sizes of all axes except the first, if `shape` is None. The number of elements determines the size of
            the first axis.
        default_value: value of elements that a record lacks.
    """

    dtype: int
    shape: tuple[int, ...] | None
    partial_shape: tuple[int, ...]
    default_value: int | float | str | bytes

    @property
    def type_name(self) -> str:
        return _NAMES[self.dtype]


def FixedLenFeature(shape: int | Sequence[int], dtype: int, default_value: Any, /) -> Feature:
    """Describes a feature of the same shape in all records.

    Args:
        shape: shape of the tensor; () for a scalar. For a string, `shape` must be () or (1,), whatever the string's length.
        dtype: `int64`, `float32` or `string`.
        default_value: value of elements that a record lacks.

    Raises:
        TypeError: `default_value` is not of type `dtype`.
        ValueError: `shape` or `dtype` is wrong.
    """
    sizes = _sizes("FixedLenFeature", shape)
    feature = _feature("FixedLenFeature", dtype, sizes, (), default_value)
    if dtype == string and sizes not in ((), (1,)):
        raise ValueError(f"FixedLenFeature: a string must have the shape () or (1,), not {sizes}")
    return feature


def VarLenFeature(*arguments: Any) -> Feature:
    """Describes a feature whose number of elements may differ from record to record.

    Args:
        arguments: `(dtype, default_value)`, or `(partial_shape, dtype, default_value)`. `partial_shape` holds the sizes of
            the axes after the first. `dtype` is `int64` or `float32`. `default_value` has no effect.

    Raises:
        TypeError: the number of arguments is wrong, or `default_value` is not of type `dtype`.
        ValueError: `partial_shape` or `dtype` is wrong.
    """
    if len(arguments) not in (2, 3):
        raise TypeError(
            "VarLenFeature: takes (dtype, default_value) or (partial_shape, dtype, default_value), "
            f"got {len(arguments)} arguments"
        )
    *shape, dtype, default_value = arguments
    partial = _sizes("VarLenFeature", shape[0]) if shape else ()
    if dtype == string:
        raise ValueError("VarLenFeature: strings must be FixedLenFeature((), string, default)")
    return _feature("VarLenFeature", dtype, None, partial, default_value)


def _sizes(name: str, shape: int | Sequence[int]) -> tuple[int, ...]:
    sizes = (shape,) if isinstance(shape, int) else tuple(int(size) for size in shape)
    if any(size < 1 for size in sizes):
        raise ValueError(f"{name}: sizes must be at least 1, got {sizes}")
    return sizes


def _feature(
    name: str,
    dtype: int,
    shape: tuple[int, ...] | None,
    partial: tuple[int, ...],
    default: int | float | str | bytes,
) -> Feature:
    if dtype not in _NAMES:
        raise ValueError(f"{name}: dtype must be tfrecord.int64, float32 or string, not {dtype!r}")
    if not isinstance(default, _DEFAULT_TYPES[dtype]) or isinstance(default, bool):
        raise TypeError(
            f"{name}: Invalid type for default value, expected {_NAMES[dtype]}. The default value cannot be {default!r}"
        )
    return Feature(int(dtype), shape, partial, default)
