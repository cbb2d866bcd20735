"""Converts static arguments, which have one value for the batch, for `setup` and `run`."""

from __future__ import annotations

import enum
import functools
import os
import types as pytypes
import typing
from collections.abc import Collection, Hashable, Mapping
from typing import Any

import numpy as np

from jdali import types


@functools.cache
def alternatives(annotation: object) -> tuple[Any, ...]:
    if typing.get_origin(annotation) in (typing.Union, pytypes.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


def static_value(annotation: Any, value: Any) -> Hashable:
    """Converts the value of a `Static[annotation]` argument to a hashable value, and a dtype to a NumPy dtype."""
    if annotation is object:
        return value
    options = alternatives(annotation)
    if np.dtype in options or any(typing.get_origin(o) is np.dtype for o in options):
        if isinstance(value, (list, tuple)):
            return tuple(types.to_dtype(v) for v in value)
        return types.to_dtype(value)
    for option in options:
        if isinstance(option, type) and issubclass(option, enum.IntEnum):
            return option(value)
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, (np.generic, np.ndarray)):
        one_number = value.size == 1 and not any(typing.get_args(option) for option in options)
        value = value.item() if one_number else value.tolist()
    elif isinstance(value, Collection) and not isinstance(value, (str, bytes, list, tuple, Mapping)):
        # A vector argument may be a range or a column of pandas; either becomes a list.
        vector = any(typing.get_origin(option) in (tuple, list) for option in options)
        value = list(value) if vector else value
    kind = _element(annotation)
    return _freeze(value if kind is None else _converted(kind, annotation, value))


@functools.cache
def _element(annotation: object) -> type | None:
    """Returns int, float or str if it is the only element type of an annotation such as `int | tuple[int, ...] | None`."""
    found: set[Any] = set()
    pending = [annotation]
    while pending:
        option = pending.pop()
        if inner := typing.get_args(option):
            pending += inner
        elif option not in (pytypes.NoneType, Ellipsis):
            found.add(option)
    return next((kind for kind in (int, float, str) if found == {kind}), None)


def _converted(kind: type, annotation: object, value: object) -> object:
    """Converts numbers as DALI does: by `int(value)`, which drops the fraction, or by `float(value)`."""
    if isinstance(value, (list, tuple)):
        if not any(typing.get_args(option) for option in alternatives(annotation)):
            raise _not_of(kind, value)
        return [_one(kind, v) for v in value]
    return _one(kind, value)


def _one(kind: type, value: object) -> object:
    if value is None:
        return None
    if kind is str:
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        if not isinstance(value, str):
            raise _not_of(kind, value)
        return value
    try:
        return kind(value)
    except OverflowError as error:
        raise ValueError(str(error)) from None


def _not_of(kind: type, value: object) -> TypeError:
    wanted = "text" if kind is str else "a real number"
    return TypeError(f"it must be {wanted}, not one of type {type(value).__name__}")


def _freeze(value: object) -> Hashable:
    return tuple(_freeze(v) for v in value) if isinstance(value, (list, np.ndarray)) else value
