"""Adds a hint about `jax.vmap` to errors of functions that take one sample and got a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import jax
import numpy as np
from jax import Array

from jdali._operators.layout import RankError, make_adapter
from jdali._operators.record import ArgKind, DeviceOp, Operator

T = TypeVar("T")
_ONE_SAMPLE = "Functions of jdali.ops take one sample: map them over a batch with jax.vmap."


def with_advice(op: Operator, plan: Callable[..., T], inputs: Sequence[Any], args: Mapping[str, Any]) -> T:
    """Returns `plan(inputs, args)`; adds a hint about `jax.vmap` to an error if the arrays are a batch.

    A `RankError` always gets the hint. Any other error gets it only if all arrays, or all inputs, have the same number
    of rows, and the call succeeds for one row of each.
    """
    try:
        return plan(inputs, args)
    except RankError as error:
        raise RankError(f"{error}. {_ONE_SAMPLE}") from None
    except (TypeError, ValueError) as error:
        count = None if _ONE_SAMPLE in str(error) else _rows(op, plan, inputs, args)
        if count is not None:
            error.add_note(
                f"{op.name}: the call is right for each of the {count} rows of its arrays. {_ONE_SAMPLE}"
            )
        raise


def _rows(
    op: Operator, plan: Callable[..., object], inputs: Sequence[Any], args: Mapping[str, Any]
) -> int | None:
    """Returns the number of samples if the arrays of a failed call are a batch, else None."""
    arrays = {
        name: value
        for name, value in args.items()
        if name in op.args
        and op.args[name].kind is not ArgKind.STATIC
        and isinstance(value, (Array, np.ndarray))
    }
    for batched in (arrays, {}):  # the second attempt is for a batch of inputs with arguments for one sample
        rows = {np.shape(value)[:1] for value in (*inputs, *batched.values())} - {()}
        if len(rows) == 1 and _is_right(plan, inputs, args, batched):
            return int(rows.pop()[0])
    return None


def _is_right(
    plan: Callable[..., object], inputs: Sequence[Any], args: Mapping[str, Any], batched: Mapping[str, Any]
) -> bool:
    """Returns True if a call succeeds for the first row of the inputs and of the `batched` arguments."""

    def one_row() -> None:
        rows = [_first_row(i) for i in inputs]
        plan(rows, {**args, **{name: _first_row(value) for name, value in batched.items()}})

    try:
        jax.eval_shape(one_row)
    except Exception:  # the error has another cause
        return False
    return True


def _first_row(value: Any) -> Any:
    if not np.ndim(value):
        return value
    if isinstance(value, jax.core.Tracer):
        return value[0]
    with jax.ensure_compile_time_eval():  # inside jit, a concrete value would otherwise become a tracer
        return value[0]


def layouts_of(op: Operator, ndims: Sequence[int], layout: str | Sequence[str]) -> list[str]:
    """Returns the layout of each input. If one layout is given for all, inputs that it does not fit get ""."""
    shared = isinstance(layout, str)
    layouts = [layout] * len(ndims) if isinstance(layout, str) else list(layout)
    fits = [not name or len(name) == ndim for name, ndim in zip(layouts, ndims, strict=True)]
    if ndims and not (any(fits) if shared else all(fits)):
        wrong = fits.index(False)
        name, ndim = layouts[wrong], ndims[wrong]
        advice = f". {_ONE_SAMPLE}" if ndim == len(name) + 1 else ""
        raise ValueError(
            f'{op.name}: the layout "{name}" names {len(name)} axes, the input has {ndim}{advice}'
        )
    return [name if fit else "" for name, fit in zip(layouts, fits, strict=True)]


def refuse_shared_draws(op: Operator, inputs: Sequence[Any]) -> None:
    """Raises ValueError if an input without a layout may be a batch, because samples must not share random values."""
    if not isinstance(op, DeviceOp):
        return
    for i, value in enumerate(inputs):
        if not op.layouts or op.input(i).argument:
            continue
        ndim = np.ndim(value)
        if make_adapter(op.name, op.layouts, op.sequence, "", ndim).frames:
            frames = "F" + op.layouts[0]
            raise ValueError(
                f"{op.name}: an input of {ndim} axes without a layout may be a batch or a sequence, whose frames share what is "
                f'drawn: map the function over a batch with jax.vmap, with a key for each sample, or give layout="{frames}"'
            )
