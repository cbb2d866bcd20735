"""Conditionals in a compiled function: every branch is computed for all samples, and each sample selects one result.

In a pipeline, the engine runs a branch only on the samples that take it (`_regroup.py`). The result of `Pipeline.function` has
one program for all samples, so `engine/function` replaces the operators of `_regroup.py` by the operators of this module.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._errors import TracedArgumentError, check_samples
from jdali._kernels.fit import fit
from jdali._operators.record import PerSample, Static, operator
from jdali.ops.flow._regroup import check_logical, check_predicate
from jdali.types import type_name


def setup_choose(selector: np.ndarray | BatchSpec, *parts: BatchSpec, by_truth: bool) -> BatchSpec:
    _check_alike(parts)
    sizes = np.stack([part.extents for part in parts])
    layout = next((part.layout for part in parts if part.layout), "")
    if isinstance(selector, BatchSpec):
        check_predicate(selector.ndim)
        if (sizes != sizes[0]).any():
            raise TracedArgumentError(
                "the branches give samples of different sizes, and which one a sample takes is not known"
            )
        return BatchSpec(sizes[0], parts[0].dtype, layout)
    check_predicate(selector.ndim - 1)
    chosen = (selector == 0).astype(np.int64) if by_truth else selector.astype(np.int64)
    outside = (chosen < 0) | (chosen >= len(parts))
    check_samples(
        outside,
        lambda i: f"choice of {len(parts)} cases: the index is {chosen[i]}, not 0 to {len(parts) - 1}",
    )
    return BatchSpec(sizes[chosen, np.arange(len(chosen))], parts[0].dtype, layout)


def _check_alike(parts: tuple[BatchSpec, ...]) -> None:
    first = parts[0]
    for part in parts[1:]:
        if part.dtype != first.dtype or part.ndim != first.ndim:
            raise TypeError(
                "the branches of a conditional must give one type and number of axes, got "
                f"{type_name(first.dtype)}, {first.ndim}-D, and {type_name(part.dtype)}, {part.ndim}-D"
            )


@operator(name="_conditional.choose", setup=setup_choose, setup_needs=lambda arguments: ())
def choose(
    selector: PerSample[int], /, *parts: Array, by_truth: Static[bool] = True, out_shape: tuple[int, ...]
) -> Array:
    """Selects one of the parts for each sample.

    Args:
        selector: scalar of any type.
        parts: results of the branches, with one type and number of axes.
        by_truth: True: the first of two parts if the selector is not 0, else the second; False: the selector is the
            index of the part.

    Returns: [*out_shape].
    """
    chosen = jnp.where(selector == 0, 1, 0) if by_truth else jnp.asarray(selector, jnp.int32)
    result = fit(parts[0], out_shape)
    for number, part in enumerate(parts[1:], 1):
        result = jnp.where(chosen == number, fit(part, out_shape), result)
    return result


def setup_logical(value: BatchSpec, *, expression_name: str, expression_side: str) -> BatchSpec:
    check_logical(value, expression_name, expression_side)
    return value.replace(dtype=np.dtype(np.bool_), layout="")


@operator(name="_conditional.logical", setup=setup_logical)
def logical(
    value: Array, /, *, expression_name: Static[str] = "and", expression_side: Static[str] = ""
) -> Array:
    """Converts an operand of `and` or `or` to a boolean; negates the operand of `not`.

    Args:
        value: scalar.
        expression_name: "and", "or" or "not".
        expression_side: "left" or "right", for messages.

    Returns: bool, scalar.
    """
    return value == 0 if expression_name == "not" else value != 0
