"""Indexes tensors, `data[...]`: with integers, ranges with a step, and new axes."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, TypeVar

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali import types
from jdali._batches import BatchSpec, Plan
from jdali._errors import check_samples
from jdali._kernels.fit import fit
from jdali._operators.record import PerSample, Static, is_traced, operator

F = TypeVar("F", bound=Callable[..., Any])

NAME = "_tensor_subscript"
MAX_AXES = 32  # number of axes for which subscript.cc declares arguments
_PARTS = ("at", "lo", "hi", "step")
_Index = PerSample[int | np.integer | None]


class NewAxis:
    """Adds an axis of size 1: `data[newaxis]`, or with a letter for the layout, `data[newaxis("N")]`."""

    def __init__(self, name: str | None = None):
        if name is not None and not isinstance(name, str):
            raise TypeError(f"newaxis: Axis name must be a single-character string, got {name!r}")
        if name is not None and len(name) != 1:
            raise ValueError(f"newaxis: Axis name must be a single-character string, got {name!r}")
        self.name = name

    def __call__(self, name: str | None = None) -> NewAxis:
        return NewAxis(name)

    def __repr__(self) -> str:
        return "newaxis" if self.name is None else f"newaxis({self.name!r})"


newaxis = NewAxis()


def parse_index(key: object, ndim: int | None = None) -> dict[str, Any]:
    """Converts a Python subscript to arguments of `_tensor_subscript`.

    Args:
        key: integers, slices, `newaxis`, or a tuple of these. None is a full range, as in DALI. Other objects, such
            as graph nodes and arrays, are used as indices unchanged.
        ndim: number of axes of the data; None: not known, so an Ellipsis raises an error.
    """
    items = list(key) if isinstance(key, tuple) else [key]
    if any(item is Ellipsis for item in items):
        items = _expand_ellipsis(items, ndim)
    args: dict[str, Any] = {}
    new_axes: list[int] = []
    names: list[str] = []
    axis = out_axis = 0
    for item in items:
        if isinstance(item, NewAxis):
            new_axes.append(out_axis)
            names += [] if item.name is None else [item.name]
        elif item is None or isinstance(item, slice):
            parts = () if item is None else zip(_PARTS[1:], (item.start, item.stop, item.step), strict=True)
            args |= {f"{part}_{axis}": _checked(value) for part, value in parts if value is not None}
            axis += 1
        else:
            args[f"at_{axis}"] = _checked(item)
            axis += 1
            continue
        out_axis += 1
    if names and len(names) != len(new_axes):
        raise ValueError("indexing: either all new axes must have a name, or none")
    if axis > MAX_AXES:
        raise ValueError(f"indexing: {axis} indices given, at most {MAX_AXES} are possible")
    args["num_subscripts"] = axis
    if new_axes:
        args["new_axes"] = tuple(new_axes)
    if names:
        args["new_axis_names"] = "".join(names)
    return args


def _expand_ellipsis(items: list[object], ndim: int | None) -> list[Any]:
    if ndim is None:
        raise NotImplementedError(
            "Ellipsis in indexing is not implemented: it needs the number of axes, which is not known while a "
            "pipeline is being defined; write a ':' for each axis"
        )
    ellipses = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("indexing: only one Ellipsis (...) is possible")
    missing = ndim - sum(not isinstance(item, NewAxis) and item is not Ellipsis for item in items)
    return [*items[: ellipses[0]], *[slice(None)] * max(missing, 0), *items[ellipses[0] + 1 :]]


def _checked(index: object) -> Any:
    if isinstance(index, types.ArrayConstant):
        index = index.value
    real = isinstance(index, (np.ndarray, np.generic, Array)) and index.dtype.kind not in "iub"
    if real or isinstance(index, (float, complex, str, bytes, list)):
        raise TypeError(
            f"Invalid type for an index: {type(index)}. It must be an integer or a range, got {index!r}"
        )
    if isinstance(index, (np.ndarray, Array)) and index.size != 1:
        raise not_a_scalar(index.shape)
    return int(index) if isinstance(index, (bool, np.integer, np.bool_)) else index


def not_a_scalar(shape: object) -> TypeError:
    """Returns the error for an index that is an array of `shape`."""
    return TypeError(
        f"Array indices must be scalar (0D): an index must be an integer or a range, got an array of shape {shape}"
    )


@dataclasses.dataclass(frozen=True)
class _Subscript:
    """Arguments of one axis: an index, or the first index, end and step of a range; None: not passed."""

    at: Any = None
    lo: Any = None
    hi: Any = None
    step: Any = None

    def start(self, size: Any, xp: ModuleType) -> Any:
        """Returns the first index of the range, counted from the end if negative, then clamped to the data."""
        back = xp.asarray(1 if self.step is None else self.step) < 0
        if self.lo is None:
            return xp.where(back, size - 1, 0)
        lo = xp.where(self.lo < 0, self.lo + size, self.lo)
        return xp.clip(lo, xp.where(back, -1, 0), xp.where(back, size - 1, size))

    def count(self, size: np.ndarray) -> np.ndarray:
        """Counts the elements of the range."""
        step = np.asarray(1 if self.step is None else self.step)
        if self.hi is None:
            stop = np.where(step < 0, -1, size)
        else:
            stop = np.where(self.hi < 0, self.hi + size, self.hi)
            stop = np.clip(stop, np.where(step < 0, -1, 0), np.where(step < 0, size - 1, size))
        count: np.ndarray = np.maximum(0, -((stop - self.start(size, np)) // -step))
        return count


def _subscripts(arguments: Mapping[str, object], count: int) -> list[_Subscript]:
    return [_Subscript(*(arguments.get(f"{part}_{axis}") for part in _PARTS)) for axis in range(count)]


def _per_axis(function: F) -> F:
    """Replaces `**arguments` in the signature of `function` by at_0, lo_0, ... for every axis."""
    parameters = list(inspect.signature(function, eval_str=True).parameters.values())[:-1]
    for axis in range(MAX_AXES):
        for part in _PARTS:
            name = f"{part}_{axis}"
            parameters.append(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_Index)
            )
    described: Any = function
    described.__signature__ = inspect.Signature(parameters)
    described.__annotations__ = {p.name: p.annotation for p in parameters}
    return function


@_per_axis
def _setup(
    data: BatchSpec,
    *,
    num_subscripts: int | None,
    new_axes: tuple[int, ...],
    new_axis_names: str | None,
    **arguments: object,
) -> Plan:
    counts = [int(name.rpartition("_")[2]) + 1 for name, value in arguments.items() if value is not None]
    count = max([num_subscripts or 0, *counts])
    if count > data.ndim:
        raise ValueError(
            f"{NAME}: Too many indices ({count}) for a {data.ndim}D tensor."
            if data.ndim
            else f"{NAME}: Cannot apply an index to a scalar."
        )
    extents, layout = [], ""
    for axis, subscript in enumerate(_subscripts(arguments, data.ndim)):
        size = data.extents[:, axis]
        if subscript.at is not None:
            _check_index(axis, subscript, size)
            continue
        _check_step(axis, subscript)
        extents.append(subscript.count(size))
        layout += data.layout[axis : axis + 1]
    if new_axis_names is not None and extents and not layout:
        raise ValueError(
            f"{NAME}: Specifying ``new_axis_names`` requires an input with a proper layout, and this one has none"
        )
    for i, axis in enumerate(new_axes):
        if axis > len(extents):
            raise ValueError(f"{NAME}: new axis {axis} is past the end of the {len(extents)} axes before it")
        extents.insert(axis, np.ones(data.batch_size, np.int64))
        if new_axis_names is not None:
            layout = layout[:axis] + new_axis_names[i] + layout[axis:]
    if new_axes and new_axis_names is None:
        layout = ""
    shape = np.stack(extents, axis=1) if extents else np.zeros((data.batch_size, 0), np.int64)
    return Plan((BatchSpec(shape, data.dtype, layout),), static={"_sizes": _known_sizes(data)})


def _check_index(axis: int, subscript: _Subscript, size: np.ndarray) -> None:
    if any(part is not None for part in (subscript.lo, subscript.hi, subscript.step)):
        raise ValueError(f"{NAME}: axis {axis} has both an index (at_{axis}) and a range")
    if is_traced(subscript.at):
        return
    bad = (subscript.at < -size) | (subscript.at >= size)
    check_samples(
        bad,
        lambda i: f"{NAME}: Index {subscript.at[i]} is out of range for axis {axis} of length {size[i]}",
        argument=f"at_{axis}",
    )


def _check_step(axis: int, subscript: _Subscript) -> None:
    if subscript.step is None:
        return
    zero = np.asarray(subscript.step) == 0
    check_samples(
        zero,
        lambda _: f"{NAME}: Step cannot be zero. Detected step == 0 at axis {axis}",
        argument=f"step_{axis}",
    )


def _known_sizes(data: BatchSpec) -> tuple[int | None, ...]:
    """Returns the sizes to compile into the program: only the number of channels, which rarely changes."""
    return tuple(
        int(data.extents[0, axis])
        if data.layout[axis : axis + 1] == "C" and data.batch_size and np.ptp(data.extents[:, axis]) == 0
        else None
        for axis in range(data.ndim)
    )


@operator(
    setup=_setup,
    name=NAME,
    setup_needs=lambda arguments: [name for name in arguments if name.partition("_")[0] in _PARTS],
    source="operators/generic/slice/subscript.h",
)
@_per_axis
def tensor_subscript(
    data: Array,
    /,
    *,
    num_subscripts: Static[int | None] = None,
    new_axes: Static[tuple[int, ...]] = (),
    new_axis_names: Static[str | None] = None,
    extent: Array,
    out_shape: tuple[int, ...],
    _sizes: Static[tuple[int | None, ...]] = (),
    **arguments: object,
) -> Array:
    """Takes an element or a range along each axis, as Python does, and adds new axes of size 1.

    Args:
        at_0: index along axis 0, which is dropped; a negative one counts from the end. The other
            axes have their own arguments: at_1, ...
        lo_0: first index of the range, clamped to the data; None: the first (the last if the step
            is negative).
        hi_0: end of the range, exclusive, clamped; None: no end.
        step_0: distance between elements, not 0; None: 1.
        num_subscripts: number of axes with an index; None: the number of axes with arguments.
        new_axes: positions of new axes in the result, ascending.
        new_axis_names: a layout letter for each new axis; None: the result has no layout.

    Returns: elements in the input's type; the layout loses the letters of dropped axes.
    """
    kept = [size for axis, size in enumerate(out_shape) if axis not in new_axes]
    dropped: list[int] = []
    moving: dict[int, tuple[Array, int]] = {}  # by axis: traced start and length of a window
    for axis, subscript in enumerate(_subscripts(arguments, data.ndim)):
        length = kept[axis - len(dropped)] if subscript.at is None else 1
        if subscript.at is not None:
            subscript = _Subscript(lo=subscript.at)
            dropped.append(axis)
        size = extent[axis] if _sizes[axis] is None else _sizes[axis]
        first, step = _first(subscript, size), _step(subscript)
        if isinstance(first, int) and isinstance(step, int):
            data = _take_fixed(data, axis, first, step, length)
        elif isinstance(step, int) and abs(step) == 1:
            if step < 0:
                data, first = jnp.flip(data, axis), data.shape[axis] - 1 - first
            # Padded, because `dynamic_slice` moves a window back if it extends past the end of the data.
            data = fit(data, _with(data.shape, axis, data.shape[axis] + length))
            moving[axis] = (jnp.asarray(first, jnp.int32), length)
        else:
            data = fit(data, _with(data.shape, axis, max(data.shape[axis], 1)))
            indices = first + step * jnp.arange(length, dtype=jnp.int32)
            data = jnp.take(data, indices, axis, mode="clip")
    if moving:
        zero = jnp.zeros((), jnp.int32)
        starts = [moving[axis][0] if axis in moving else zero for axis in range(data.ndim)]
        sizes = [moving[axis][1] if axis in moving else n for axis, n in enumerate(data.shape)]
        data = lax.dynamic_slice(data, starts, sizes)
    data = fit(jnp.squeeze(data, dropped), kept)
    return jnp.broadcast_to(jnp.expand_dims(data, new_axes), out_shape)


def _first(subscript: _Subscript, size: object) -> Any:
    """Returns the first index of a range: an int if it does not depend on traced values, else an array."""
    constant = all(part is None or isinstance(part, np.ndarray) for part in (subscript.lo, subscript.step))
    if constant and isinstance(size, int):
        return int(subscript.start(size, np))
    forward = constant and (subscript.step is None or subscript.step > 0)
    if forward and (subscript.lo is None or subscript.lo >= 0):
        return 0 if subscript.lo is None else int(subscript.lo)
    return subscript.start(size, jnp)


def _step(subscript: _Subscript) -> Any:
    if subscript.step is None:
        return 1
    return int(subscript.step) if isinstance(subscript.step, np.ndarray) else subscript.step


def _take_fixed(data: Array, axis: int, first: int, step: int, length: int) -> Array:
    """Takes a range with a known first index and step. The result is shorter than `length` if the data end first."""
    end = first + step * length
    taken = slice(first, end if end >= 0 else None, step)
    return data[(slice(None),) * axis + (taken,)]


def _with(shape: tuple[int, ...], axis: int, size: int) -> tuple[int, ...]:
    return (*shape[:axis], size, *shape[axis + 1 :])
