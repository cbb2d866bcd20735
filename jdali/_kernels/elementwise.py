"""Arithmetic expressions: result types, broadcasting, layouts.

`elementwise` turns a function of arrays of equal type into an operator. Samples broadcast as in NumPy, by their true sizes.
Operands with equal sizes, and operands with one element, need no `where` on the device.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec, Plan, size_text
from jdali._errors import check_samples
from jdali._kernels.fit import fit
from jdali._kernels.promotion import Kind, promote
from jdali._operators.record import Operator, Static, operator

_Expanded = tuple[tuple[bool, ...], ...]
_ExpandedArgument = Static[_Expanded | None]
Check = Callable[[str, Sequence[BatchSpec], Mapping[str, Any]], None]


def elementwise(
    name: str,
    kind: Kind,
    *,
    common_operands: bool = True,
    check: Check | None = None,
) -> Callable[[Callable[..., Array]], Operator]:
    """Makes the operator `math.<name>` from a function of one to three arrays.

    Args:
        kind: rule for the type of the result, see `promote`.
        common_operands: True: operands are converted to the type of the result before the call; False: operands are passed
            unchanged.
        check: `check(name, specs, constants)` raises for operands that are not allowed; for `constants` see `operator`.
    """
    full_name = f"math.{name}"

    def decorate(function: Callable[..., Array]) -> Operator:
        def run(
            *operands: Array,
            extent: Array | tuple[Array, ...],
            out_shape: tuple[int, ...],
            _expanded: _Expanded,
        ) -> Array:
            dtype = promote(kind, *(x.dtype for x in operands))
            if common_operands:
                operands = tuple(x.astype(dtype) for x in operands)
            extents = extent if isinstance(extent, tuple) else (extent,)
            aligned = map(functools.partial(_align, shape=out_shape), operands, extents, _expanded)
            return jnp.broadcast_to(function(*aligned), out_shape).astype(dtype)

        run.__module__, run.__qualname__, run.__name__ = function.__module__, name, name
        run.__doc__ = _with_returns(function, kind)
        signature = _signature(function)
        run.__signature__ = signature  # type: ignore[attr-defined]
        run.__annotations__ = {
            p.name: p.annotation for p in signature.parameters.values() if p.annotation is not p.empty
        }
        setup = functools.partial(_setup, full_name, kind)
        if check is not None:
            setup = functools.partial(_checked_setup, full_name, kind, check)
        return operator(setup=setup, name=full_name, source="operators/math/expressions/arithmetic.h")(run)

    return decorate


def _with_returns(function: Callable[..., Array], kind: Kind) -> str:
    """Returns the docstring of `function`, with the result's shape and type added if they are missing."""
    doc = inspect.getdoc(function) or ""
    if "Returns:" in doc:
        return doc
    if len(inspect.signature(function).parameters) == 1:
        real = "shape of the input; its type if that is floating, else float32."
        returned = real if kind == "real" else "shape and type of the input."
    else:
        dtypes = {"comparison": "bool", "real": "in the promoted floating type"}
        returned = f"the broadcast shape, {dtypes.get(kind, 'in the promoted type')}."
    first, *rest = doc.split("\n\n")
    return "\n\n".join([first, f"Returns: {returned}", *rest])


def _signature(function: Callable[..., Array]) -> inspect.Signature:
    """Makes the signature of `run`: the operands of `function`, positional only, then the parameters that the engine passes."""
    parameters = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY, annotation=Array)
        for name in inspect.signature(function).parameters
    ]
    named = inspect.Parameter.KEYWORD_ONLY
    parameters += [inspect.Parameter(name, named) for name in ("extent", "out_shape")]
    parameters.append(inspect.Parameter("_expanded", named, default=None, annotation=_ExpandedArgument))
    return inspect.Signature(parameters, return_annotation=Array)


def _setup(name: str, kind: Kind, *operands: BatchSpec) -> Plan:
    try:
        dtype = promote(kind, *(spec.dtype for spec in operands), name=name.removeprefix("math."))
        layout = _layout(operands)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None
    ndim = max(spec.ndim for spec in operands)
    sizes = [np.pad(s.extents, ((0, 0), (ndim - s.ndim, 0)), constant_values=1) for s in operands]
    out = functools.reduce(lambda a, b: np.where(a == 1, b, a), sizes)

    def text(i: int, axis: int) -> str:
        back = ndim - axis  # distance from the end, 1 for the last axis
        shapes = [
            f"{size_text(spec.extents[i])} (d={spec.ndim - back}, belonging to sample_idx={i})"
            for spec in operands
            if spec.ndim >= back and spec.extents[i, -back] != 1
        ]
        lines = [
            f"{name}: Can't broadcast shapes:",
            *shapes,
            "Aligned at the last axis, sizes must be equal or 1",
        ]
        return "\n".join(lines)

    for size in sizes:
        check_samples((size != out) & (size != 1), text)
    expanded = tuple(
        tuple(map(bool, (size != out).any(axis=0)[ndim - spec.ndim :]))
        for size, spec in zip(sizes, operands, strict=True)
    )
    return Plan((BatchSpec(out, dtype, layout),), static={"_expanded": expanded})


def _checked_setup(
    name: str, kind: Kind, check: Check, *operands: BatchSpec, constants: Mapping[str, object]
) -> Plan:
    check(name, operands, constants)
    return _setup(name, kind, *operands)


def _layout(operands: Sequence[BatchSpec]) -> str:
    """Returns the longest layout, or "" if this layout does not name all axes. Other layouts must be suffixes of it."""
    named = sorted({spec.layout for spec in operands}, key=len)
    for shorter, longer in itertools.pairwise(named):
        if not longer.endswith(shorter):
            raise ValueError(
                f"Layouts of subexpressions do not match. They must be equal or one must be a suffix of the other. Got "
                f"{shorter} and {longer}."
            )
    return named[-1] if len(named[-1]) == max(spec.ndim for spec in operands) else ""


def _align(value: Array, extent: Array, expanded: Sequence[bool], *, shape: tuple[int, ...]) -> Array:
    """Reshapes `value` so that it broadcasts to `shape`: the result's axes have size 1 or the size in `shape`.

    Args:
        value: one padded sample.
        extent: true size of the sample.
        expanded: bool for each axis, True if there is a sample in which the axis has size 1 and is broadcast.
        shape: padded shape of the result.
    """
    lead = len(shape) - value.ndim
    target = [1 if have == 1 else size for have, size in zip(value.shape, shape[lead:], strict=True)]
    value = fit(value, target)
    for axis, (size, broadcasts) in enumerate(zip(target, expanded, strict=True)):
        if broadcasts and size > 1:
            # XLA fuses this `where` with the arithmetic. It would not fuse a gather at min(i, extent - 1).
            first = lax.slice_in_dim(value, 0, 1, axis=axis)
            value = jnp.where(extent[axis] == 1, first, value)
    return value.reshape((1,) * lead + value.shape)
