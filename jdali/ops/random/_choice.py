from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec
from jdali._errors import check_samples
from jdali._kernels.fit import fit
from jdali._kernels.random_output import output_shape
from jdali._numerics.platform import one_program
from jdali._numerics.random import element_index, element_uniform
from jdali._numerics.rounding import varying_like
from jdali._operators.record import PerSample, extents_of, is_traced, operator, padded


def setup(
    a: BatchSpec,
    *shape_like: BatchSpec,
    p: Any,
    shape: np.ndarray | None,
    constants: Mapping[str, Any],
) -> BatchSpec:
    if a.ndim == 0 and a.dtype.kind not in "iu":
        raise TypeError(
            f"random.choice: Data type {a.dtype} is not supported for 0D inputs. It must be an integer type"
        )
    counts = _counts(a, constants)
    if counts is not None:
        _check_number(counts, p)
    if p is not None and not is_traced(p):
        _check_probabilities(p)
    like = shape_like[0] if shape_like else None
    outer = output_shape("random.choice", like, shape, a.batch_size)
    layout = {0: a.layout[1:], 1: a.layout}.get(outer.shape[1], "")
    return BatchSpec(np.concatenate([outer, a.extents[:, 1:]], axis=1), a.dtype, layout)


def _counts(a: BatchSpec, constants: Mapping[str, Any]) -> np.ndarray | None:
    """Returns the number of elements to choose from, [N]; None if `a` is a scalar whose value is not known yet."""
    if a.ndim > 0:
        return a.extents[:, 0]
    return np.full(a.batch_size, int(constants["a"])) if "a" in constants else None


def _check_number(counts: np.ndarray, p: Any) -> None:
    check_samples(
        counts <= 0,
        lambda i: (
            f"random.choice: Expected positive number of elements for sampling, got: {counts[i]} for sample: {i}."
        ),
    )
    if p is None:
        return
    numbers = (p.extents if is_traced(p) else extents_of(p)).prod(axis=1)
    check_samples(
        numbers != counts,
        lambda i: (
            f'random.choice: Argument "p" expected shape {counts[i]} but got {numbers[i]} values, which can\'t be '
            "interpreted as the expected shape: a probability for each element"
        ),
        argument="p",
    )


def _check_probabilities(probabilities: np.ndarray) -> None:
    count = len(probabilities)
    if not count:
        return
    # Zeros that were added as padding affect neither check.
    p = (padded(probabilities) if probabilities.dtype == object else probabilities).reshape(count, -1)
    check_samples(
        (p < 0) | (p > 1),
        lambda i, k: (
            f"random.choice: Probabilities must be in range [0, 1], but got: {p[i, k]:g} for sample: {i} at index {k}."
        ),
        argument="p",
    )
    sums = p.sum(axis=1, dtype=np.float64)
    check_samples(
        np.abs(sums - 1) >= 1e-4,  # DALI's tolerance, choice.h:133
        lambda i: f"random.choice: Sum of probabilities must be 1.0, but got {sums[i]:g} for sample: {i}.",
        argument="p",
    )


@operator(
    setup=setup,
    name="random.choice",
    setup_needs=lambda arguments: ("shape", "p"),
    devices=("cpu",),
    source="operators/random/choice.h",
)
def choice(
    key: Array,
    a: Array,
    shape_like: Array | None = None,
    /,
    *,
    p: PerSample[tuple[float, ...] | list[float] | None] = None,
    _p_extent: PerSample[Array | None] = None,
    shape: PerSample[tuple[int, ...] | None] = None,
    extent: tuple[Array, ...],
    out_extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Draws elements of an array, with replacement.

    Args:
        a: [n, ...], the elements; or an integer n, for the elements 0 to n-1.
        shape_like: tensor whose shape the output takes.
        p: [n], probability of each element, with sum 1; None: equal probabilities. n may differ by sample.
        shape: shape of the output; None: the shape of `shape_like`, or one element.

    Returns: [*shape, ...], the type of `a`.

    Parity: DALI raises if n is not positive, or differs from the number of probabilities. jdali does not check a
        scalar `a` that is computed in the pipeline: with `p`, the scalar has no effect, and n is the number of
        probabilities; without `p`, the result is 0 if the scalar is below 1.

    Example: value = fn.random.choice(5)
    """
    rank = len(out_shape) - max(a.ndim - 1, 0)
    shape_drawn = out_shape[:rank]
    if p is None:
        count = jnp.maximum(a, 1) if a.ndim == 0 else extent[0][0]
        index = element_index(key, out_extent, shape_drawn, count.astype(jnp.uint32))
    else:
        chances = jnp.asarray(p, jnp.float32).reshape(-1)
        count = jnp.asarray(chances.size if _p_extent is None else _p_extent[0], jnp.uint32)
        ends = _running_sums(chances)
        drawn = element_uniform(key, out_extent, shape_drawn) * ends[-1]
        index = jnp.sum(drawn[..., None] >= ends, axis=-1, dtype=jnp.uint32)
        index = jnp.minimum(index, count - 1)
    if a.ndim == 0:
        return index.astype(a.dtype)
    return fit(jnp.take(a, index.astype(jnp.int32), axis=0, mode="clip"), out_shape)


@one_program()
def _running_sums(chances: Array) -> Array:
    """Computes the running sums of float32 [n], adding one element after the other."""
    start = varying_like(jnp.zeros((), jnp.float32), chances)
    sums: Array = lax.scan(lambda total, one: (total + one,) * 2, start, chances)[1]
    return sums
