"""Flattens a jaxpr with the jaxprs that it calls, and groups its equations by level.

An equation's level is the length of the longest chain of random draws that its operands depend on. Draws of one level
do not depend on each other, so they can be compiled as one draw, see `threefry.together`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jdali._numerics.threefry import DRAW

if TYPE_CHECKING:
    from jax.extend import core

# Primitives that only call a jaxpr, with the name of the parameter that contains the jaxpr.
_CALLS = {
    "jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr",
    "remat2": "jaxpr", "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr", "custom_vmap_call": "call",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class StepValue:
    """An argument of the program or a result of a step.

    Attributes:
        level: length of the longest chain of draws that the value depends on.
    """

    number: int
    level: int


@dataclasses.dataclass(frozen=True)
class Step:
    """An equation whose operands are `StepValue`s or constants."""

    eqn: Any
    operands: Sequence[Any]
    results: Sequence[StepValue]


@dataclasses.dataclass(frozen=True)
class DrawLevel:
    """Holds the steps of one level. `others` run first, and need only random values of earlier levels; `draws` draw values."""

    others: list[Step] = dataclasses.field(default_factory=list)
    draws: list[Step] = dataclasses.field(default_factory=list)


class FlatProgram:
    """A jaxpr without nested calls, whose equations (steps) are grouped by levels.

    Args:
        closed: the jaxpr; its arguments become the `StepValue`s with the numbers 0, 1, ...
        platform: platform of the program; each `lax.platform_dependent` is replaced by its branch for this platform.

    Attributes:
        levels: the levels in order; the steps of a level are in the order of the jaxpr.
        results: `StepValue`s or constants.
    """

    def __init__(self, closed: core.ClosedJaxpr, platform: str):
        self._platform = platform
        self._count = 0
        self.levels = [DrawLevel()]
        arguments = [self._value(0) for _ in closed.jaxpr.invars]
        self.results: list[Any] = self._add(closed, arguments)

    def _value(self, level: int) -> StepValue:
        self._count += 1
        return StepValue(self._count - 1, level)

    def _add(self, closed: core.ClosedJaxpr, arguments: Sequence[object]) -> list[Any]:
        jaxpr = closed.jaxpr
        known: dict[Any, Any] = dict(zip(jaxpr.constvars, closed.consts, strict=True))
        known.update(zip(jaxpr.invars, arguments, strict=True))

        def read(atom: object) -> Any:
            return atom.val if hasattr(atom, "val") else known[atom]  # only literals have `val`

        for eqn in jaxpr.eqns:
            operands = [read(v) for v in eqn.invars]
            called = self._called(eqn, operands, type(closed))
            results = self._step(eqn, operands) if called is None else self._add(*called)
            known.update(zip(eqn.outvars, results, strict=True))
        return [read(v) for v in jaxpr.outvars]

    def _step(self, eqn: Any, operands: Sequence[Any]) -> list[StepValue]:
        level = max((o.level for o in operands if isinstance(o, StepValue)), default=0)
        draws = _is_draw(eqn)
        results = [self._value(level + draws) for _ in eqn.outvars]
        if draws and level + 1 == len(self.levels):
            self.levels.append(DrawLevel())
        steps = self.levels[level].draws if draws else self.levels[level].others
        steps.append(Step(eqn, operands, results))
        return results

    def _called(
        self, eqn: Any, operands: Sequence[Any], closed: type[core.ClosedJaxpr]
    ) -> tuple[core.ClosedJaxpr, Sequence[object]] | None:
        """Returns the jaxpr and arguments of an equation that only calls a jaxpr; None for other equations."""
        name, params = eqn.primitive.name, eqn.params
        if name in _CALLS and not _is_draw(eqn):
            inner = params[_CALLS[name]]
            return inner if isinstance(inner, closed) else closed(inner, ()), operands
        platforms = params.get("branches_platforms") if name == "cond" else None
        if platforms is None:
            return None
        mine = [i for i, names in enumerate(platforms) if names is None or self._platform in names]
        return params["branches"][mine[0]], operands[1:]


def _is_draw(eqn: Any) -> bool:
    return eqn.params.get("name") == DRAW
