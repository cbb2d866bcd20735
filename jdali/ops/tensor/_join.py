"""stack and cat: join several inputs along a new or an existing axis."""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan, size_text
from jdali._errors import check_samples
from jdali._kernels.fit import fit
from jdali._operators.record import Static, operator


def _check_alike(name: str, specs: tuple[BatchSpec, ...], joined: int | None) -> None:
    """Raises an error unless all inputs have the same type and shape; sizes may differ along the axis `joined`."""
    first = specs[0]
    rule = (
        "Tensor stacking requires that all tensors being stacked are of equal shape."
        if joined is None
        else f"Concatenated tensors can differ in size only in the concatenation axis ({joined})."
    )

    def text(i: int, sample: int) -> str:
        return (
            f"{name}: {rule} Sample {sample} has shape {size_text(first.extents[sample])} in input 0 and "
            f"{size_text(specs[i].extents[sample])} in input {i}"
        )

    for i, spec in enumerate(specs[1:], 1):
        if spec.dtype != first.dtype or spec.ndim != first.ndim:
            raise ValueError(
                f"{name}: All inputs must have the same type and number of dimensions. input #0: {first.dtype}, "
                f"{first.ndim}-D, input #{i}: {spec.dtype}, {spec.ndim}-D."
            )
        same = spec.extents == first.extents
        if joined is not None:
            same[:, joined] = True
        check_samples(~same.all(axis=1), functools.partial(text, i))


def _resolve(name: str, axis: int, ndim: int, low: int, high: int) -> int:
    if not low <= axis <= high:
        raise ValueError(
            f"{name}: Invalid axis argument, {axis} for {ndim}-D tensors. Accepted range is [{low}, {high}], with "
            "negative indices being counted from the back."
        )
    return axis + high + 1 if axis < 0 else axis


def _check_letter(name: str, axis_name: str | None) -> None:
    if axis_name is not None and len(axis_name) != 1:
        raise ValueError(f"{name}: ``axis_name`` must be a single character; got {axis_name}")


def setup_stack(*data: BatchSpec, axis: int, axis_name: str | None) -> Plan:
    _check_letter("stack", axis_name)
    first = data[0]
    at = _resolve("stack", axis, first.ndim, -first.ndim, first.ndim)
    _check_alike("stack", data, None)
    layout = ""
    if axis_name is not None:
        layout = first.layout
        if first.ndim and not layout:
            raise ValueError(
                "stack: Specifying the new axis name with ``axis_name`` with non-scalar input requires a non-empty input layout."
            )
        layout = layout[:at] + axis_name + layout[at:]
    extents = np.insert(first.extents, at, len(data), axis=1)
    return Plan((BatchSpec(extents, first.dtype, layout),), static={"axis": at})


@operator(setup=setup_stack, source="operators/generic/join.cc")
def stack(
    *data: Array,
    axis: Static[int] = 0,
    axis_name: Static[str | None] = None,
    out_shape: tuple[int, ...],
) -> Array:
    """Joins inputs of equal shape along a new axis.

    Args:
        data: any shape and type, the same for all inputs.
        axis: position of the new axis in the result, from -ndim to ndim of the inputs; a negative one counts from the end.
        axis_name: letter of the new axis; None: the result has no layout.

    Returns: tensor with one more axis. The size of the new axis is the number of inputs. With `axis_name`, its layout is that
        of the first input and the new letter.

    Example: stacked = fn.stack(numbers, others, axis=0)
    """
    at = axis + data[0].ndim + 1 if axis < 0 else axis
    shape = out_shape[:at] + out_shape[at + 1 :]
    return fit(jnp.stack([fit(d, shape) for d in data], axis=at), out_shape)


def setup_cat(*data: BatchSpec, axis: int, axis_name: str | None) -> Plan:
    _check_letter("cat", axis_name)
    first, layout = data[0], data[0].layout
    if axis_name is not None:
        if axis:
            raise ValueError("cat: Arguments ``axis`` and ``axis_name`` cannot be used together.")
        if axis_name not in layout:
            raise ValueError(
                f"cat: ``axis_name`` specifies an undefined axis '{axis_name}' for layout \"{layout}\""
            )
        axis = layout.index(axis_name)
    at = _resolve("cat", axis, first.ndim, -first.ndim, first.ndim - 1)
    _check_alike("cat", data, at)
    extents = first.extents.copy()
    extents[:, at] = sum(s.extents[:, at] for s in data)
    return Plan((BatchSpec(extents, first.dtype, layout),), static={"axis": at})


@operator(setup=setup_cat, source="operators/generic/join.cc")
def cat(
    *data: Array,
    axis: Static[int] = 0,
    axis_name: Static[str | None] = None,
    extent: tuple[Array, ...],
    out_shape: tuple[int, ...],
) -> Array:
    """Joins inputs along an existing axis.

    Args:
        data: inputs of one type with at least one axis; sizes may differ only along `axis`.
        axis: axis to join along; a negative one counts from the end.
        axis_name: letter of the axis in the layout, in place of `axis`.

    Returns: the inputs, one after the other, in the layout of the first.

    Example: joined = fn.cat(numbers, others, axis=0)
    """
    at = axis % data[0].ndim
    rest = [(*out_shape[:at], d.shape[at], *out_shape[at + 1 :]) for d in data]
    padded = jnp.concatenate([fit(d, shape) for d, shape in zip(data, rest, strict=True)], axis=at)
    if padded.shape[at] == 0:
        return jnp.zeros(out_shape, padded.dtype)
    # For each element of the result, the index in the concatenation of the padded inputs.
    index = jnp.arange(out_shape[at], dtype=jnp.int32)
    source, end, skipped = index, jnp.zeros((), jnp.int32), jnp.zeros((), jnp.int32)
    for array, size in zip(data[:-1], extent[:-1], strict=True):
        end = end + size[at]
        skipped = skipped + (array.shape[at] - size[at])
        source = jnp.where(index >= end, index + skipped, source)
    return jnp.take(padded, jnp.clip(source, 0, padded.shape[at] - 1), axis=at)
