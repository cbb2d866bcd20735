from __future__ import annotations

from typing import Any, cast

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali import types
from jdali._batches import BatchSpec, Plan, size_text
from jdali._errors import check_samples
from jdali._kernels.fit import fit
from jdali._kernels.reduced_axes import resolve_axes
from jdali._numerics.rounding import saturate_cast
from jdali._numerics.sums import fixed_sum
from jdali._operators.record import PerSample, Static, batch_operator, extents_of, is_traced


def setup(
    data: BatchSpec,
    *,
    axes: Any,
    axis_names: str | None,
    batch: bool,
    dtype: np.dtype,
    mean: Any,
    stddev: Any,
) -> Plan:
    spread = [_spread_axes(name, value, data) for name, value in (("mean", mean), ("stddev", stddev))]
    chosen = None
    if axes is not None or axis_names is not None:
        chosen = resolve_axes("normalize", data, axes, axis_names)
        if axes is not None and not chosen:
            raise ValueError("normalize: Normalize `axes` argument must specify at least one reduction axis.")
    if batch and chosen is not None and data.batch_size:
        rest = [a for a in range(data.ndim) if a not in chosen]
        check_samples(
            (data.extents[:, rest] != data.extents[0, rest]).any(axis=1),
            lambda i: (
                "normalize: Batch normalization requires that non-reduced dimensions have equal extent in all samples in the "
                f"batch. Got sample #{i} with shape {size_text(data.extents[i])}, sample #0 was of shape "
                f"{size_text(data.extents[0])}"
            ),
        )
    measured = set(range(data.ndim)).intersection(*(s for s in spread if s is not None))
    static = {"axes": chosen, "_measured": tuple(sorted(measured)) if chosen is None else chosen}
    return Plan((data.replace(dtype=dtype),), static=static)


def _spread_axes(name: str, value: Any, data: BatchSpec) -> set[int] | None:
    """Returns the axes along which `value`, a mean or deviation, has size 1; None if it is a number or was not passed.

    Raises:
        SampleError: the shape of `value` does not fit a sample.
    """
    extents = None if value is None else value.extents if is_traced(value) else extents_of(value)
    if extents is None or extents.shape[1] == 0:
        return None
    if extents.shape[1] != data.ndim:
        raise ValueError(
            f"normalize: parameter shape: {size_text(extents[0])} does not match the reduced input sample shape. "
            "Normalization parameters' shape must have extent of 1 or one that matches the input: "
            f"{name} has {extents.shape[1]} axes, a sample {data.ndim}"
        )
    ones = (extents == 1).all(axis=0)
    wrong = ((extents != data.extents) & ~ones).any(axis=1)
    check_samples(
        wrong,
        lambda i: (
            f"normalize: At sample {i}: parameter shape: {size_text(extents[i])} does not match the reduced input "
            f"sample shape: {name} must have a size of 1 or that of the data, {size_text(data.extents[i])}"
        ),
        argument=name,
    )
    return set(np.flatnonzero(ones).tolist())


@batch_operator(
    setup=setup,
    setup_needs=lambda arguments: (),  # `setup` uses only the shapes of `mean` and `stddev`
    whole_batch=lambda arguments: bool(arguments.get("batch")),
    nanoseconds=3.0,
    source="operators/math/normalize/normalize.h",
)
def normalize(
    data: Array,
    /,
    *,
    axes: Static[tuple[int, ...] | None] = None,
    axis_names: Static[str | None] = None,
    batch: Static[bool] = False,
    ddof: Static[int] = 0,
    dtype: Static[np.dtype | types.DALIDataType] = types.FLOAT,
    epsilon: Static[float] = 0.0,
    mean: PerSample[float | Array | None] = None,
    scale: Static[float] = 1.0,
    shift: Static[float] = 0.0,
    stddev: PerSample[float | Array | None] = None,
    _measured: Static[tuple[int, ...]] = (),
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Computes scale · (data - mean) / stddev + shift; integers round half away from zero.

    Args:
        data: [N, ...], numbers.
        axes: axes of a sample over which mean and deviation are measured; None: the axes along which a
            tensor `mean` or `stddev` has size 1, or all axes without such a tensor.
        axis_names: letters of the axes in the layout, in place of `axes`.
        batch: measure over all samples of the batch together.
        ddof: degrees of freedom subtracted from the number of elements in a measured variance.
        dtype: type of the result.
        epsilon: value that is added to the variance.
        mean: a scalar, or a tensor that broadcasts to a sample and has as many axes; one for all samples, or one per
            sample. None: the mean is measured.
        scale: factor of the result.
        shift: value that is added to the result.
        stddev: standard deviation, a scalar or tensor like `mean`. If `epsilon` is 0, elements become `shift` where
            `stddev` is 0; a single 0 for all samples gives infinity or NaN.

    Returns: shape of `data`, `dtype`, saturated. If `epsilon` is 0, elements become `shift` where the measured
    deviation is 0 or is measured over at most `ddof` elements.

    Example: numbers = fn.normalize(numbers, axes=[1])
    """
    value = data.astype(jnp.float32)
    parameters = [None if p is None else _parameter(p, value) for p in (mean, stddev)]
    _check_combination(axes, (mean, stddev), batch)
    over = tuple(a + 1 for a in _measured)
    inside = _inside(extent, value.shape)
    if batch:
        over = (0, *over)
    number = _count(extent, _measured, batch)
    center = parameters[0]
    if center is None:
        total = fixed_sum(jnp.where(inside, value, 0), over, keep_dims=True)
        center = total * (1 / jnp.maximum(number, 1))
    if parameters[1] is None:
        squares = jnp.where(inside, jnp.square(value - center), 0)
        inverse = _inverse_measured(fixed_sum(squares, over, keep_dims=True), number, ddof, epsilon, scale)
    else:
        inverse = _inverse_of(parameters[1], epsilon, scale, keep_zero=jnp.ndim(cast(Array, stddev)) > 0)
    result = saturate_cast((value - center) * inverse + jnp.float32(shift), types.to_dtype(dtype))
    return fit(result, (data.shape[0], *out_shape))


def _parameter(parameter: object, value: Array) -> Array:
    """Reshapes a given mean or deviation so that it broadcasts against `value` [N, ...].

    The shape of `parameter` is [] for one number, [N] for a number per sample, or [N or 1, ...] for a tensor.
    """
    parameter = jnp.asarray(parameter, jnp.float32)
    if parameter.ndim < 2:
        return parameter.reshape(-1, *[1] * (value.ndim - 1))
    return fit(parameter, [n if n == 1 else v for n, v in zip(parameter.shape, value.shape, strict=True)])


def _check_combination(axes: tuple[int, ...] | None, parameters: tuple[Any, Any], batch: bool) -> None:
    tensors = [p for p in parameters if p is not None and jnp.ndim(p) > 0]
    if axes is not None and all(p is not None for p in parameters) and not tensors:
        raise ValueError(
            "normalize: Axes must not be specified when both mean and standard deviation are scalars"
        )
    if batch and tensors:
        raise ValueError(
            "normalize: Batch normalization cannot be used with parameters specified as TensorList inputs"
        )


def _inside(extent: Array, shape: tuple[int, ...]) -> Array:
    """Marks elements within the true sizes, bool [N, ...]."""
    inside = jnp.ones(shape, bool)
    for axis, size in enumerate(shape[1:]):
        one = jnp.arange(size, dtype=jnp.int32) < extent[:, axis : axis + 1]
        inside &= jnp.expand_dims(one, [a for a in range(1, len(shape)) if a != axis + 1])
    return inside


def _count(extent: Array, axes: tuple[int, ...], batch: bool) -> Array:
    """Counts the elements over which each mean is computed, float32 [N or 1, 1, ...]."""
    number = jnp.prod(extent[:, list(axes)].astype(jnp.float32), axis=1)
    if batch:
        number = jnp.sum(number, keepdims=True)
    return number.reshape(-1, *[1] * extent.shape[1])


def _inverse_measured(squares: Array, number: Array, ddof: int, epsilon: float, scale: float) -> Array:
    enough = number > ddof
    variance = squares * jnp.where(enough, 1 / jnp.where(enough, number - ddof, 1), 0)
    if epsilon:
        return scale * lax.rsqrt(variance + jnp.float32(epsilon))
    positive = variance > 0
    return jnp.where(positive, scale * lax.rsqrt(jnp.where(positive, variance, 1)), 0)


def _inverse_of(stddev: Array, epsilon: float, scale: float, keep_zero: bool) -> Array:
    if epsilon:
        return scale * lax.rsqrt(jnp.square(stddev) + jnp.float32(epsilon))
    if not keep_zero:
        return scale / stddev
    return jnp.where(stddev != 0, scale / jnp.where(stddev != 0, stddev, 1), 0)
