"""Checks a pipeline's outputs against `output_dtype`, `output_ndim` and `output_layout`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jdali import types
from jdali._batches import dali_type
from jdali.tensors import TensorList


class Expected:
    """Expected element types, numbers of axes and layouts: a value for all outputs, a list with a value for each output, or None.

    Attributes:
        given: {name of the `Pipeline` argument: expected value}; element types are DALIDataTypes.

    Raises:
        TypeError, ValueError: an option has a wrong value.
    """

    def __init__(self, dtype: Any, ndim: Any, layout: Any):
        _check("output_dtype", dtype, _is_dtype, "a value from jdali.types.DALIDataType", "a list of these")
        _check("output_ndim", ndim, lambda v: isinstance(v, (int, np.integer)), "an int", "a list of ints")
        _check("output_layout", layout, lambda v: isinstance(v, str), "a string", "a list of strings")
        for value in _each(dtype):
            if value is types.NO_TYPE:
                found = _found("value", value, dtype)
                raise ValueError(f"Pipeline: `output_dtype` can't be a types.NO_TYPE. {found}")
        for value in _each(ndim):
            if value is not None and value < 0:
                found = _found("value", value, ndim)
                raise ValueError(f"Pipeline: `output_ndim` must be non-negative. {found}")
        dtypes = (
            [_dali_dtype(value) for value in dtype]
            if isinstance(dtype, (list, tuple))
            else _dali_dtype(dtype)
        )
        self.given = {"output_dtype": dtypes, "output_ndim": ndim, "output_layout": layout}

    def of(self, name: str, count: int) -> list[Any]:
        """Returns the values of an option as a list with a value for each output."""
        value = self.given[name]
        return list(value) if isinstance(value, (list, tuple)) else [value] * count

    def check_count(self, count: int) -> None:
        """Raises RuntimeError if an option has values for another number of outputs."""
        if any(isinstance(value, (list, tuple)) and len(value) != count for value in self.given.values()):
            received = "".join(f"\n{name}={value}" for name, value in self.given.items())
            raise RuntimeError(
                f"Pipeline: Lengths of provided output descriptions do not match. \nExpected num_outputs={count}.\n"
                f"Received:{received}"
            )

    def check(self, outputs: tuple[TensorList, ...]) -> None:
        """Raises RuntimeError if an output differs from the options."""
        if all(value is None for value in self.given.values()):
            return
        rows = zip(*(self.of(name, len(outputs)) for name in self.given), strict=True)
        for i, (output, (dtype, ndim, layout)) in enumerate(zip(outputs, rows, strict=True)):
            if not len(output):  # an empty batch has no type
                continue
            spec = output.spec
            for what, wanted, got in (
                ("Data type", None if dtype is None else dtype.name, dali_type(spec.dtype).name),
                ("Number of dimensions", ndim, spec.ndim),
                ("Layout", layout, spec.layout),
            ):  # fmt: skip
                if wanted is not None and wanted != got:
                    raise RuntimeError(
                        f"Pipeline: {what} in the output_idx={i} does not match. Expected: {wanted}. Received: {got}."
                    )


def _each(given: object) -> list[Any]:
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _found(what: str, value: object, given: object) -> str:
    return (
        f"Found {what} {value} in the list."
        if isinstance(given, (list, tuple))
        else f"Found {what}: {value}."
    )


def _check(name: str, given: object, is_right: Callable[[object], bool], one: str, several: str) -> None:
    for value in _each(given):
        if value is not None and not is_right(value):
            found = _found("type", type(value), given)
            raise TypeError(f"Pipeline: `{name}` must be either: {one}, {several} or None. {found}")


def _dali_dtype(value: Any) -> types.DALIDataType | None:
    if value is None or isinstance(value, types.DALIDataType):
        return value
    return types.to_dali_type(types.to_dtype(value))


def _is_dtype(value: object) -> bool:
    if isinstance(value, types.DALIDataType):
        return True
    try:
        types.to_dtype(value)
    except TypeError:
        return False
    return not isinstance(value, int)
