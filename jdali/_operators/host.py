"""Operators that run on the host and see one sample."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

from jdali._operators.base import Given, Operator, Outputs, Setup

OutputLayouts: TypeAlias = "Callable[[Given], tuple[str, ...]]"


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class HostOp(Operator):
    """A function of NumPy arrays, called for one sample after another in the thread pool.

    The key of a random one is None: its `setup` has all of them.

    Attributes:
        effects: it may do more than give its outputs: it runs also if nobody uses them, and on the samples in
            their order, never on two at once.
        output_layouts: without `setup`: the layout of each output ("" for none), as a function of the static
            arguments; None: no output has a layout.
        work: what its time goes into: "decoding", "user code", or "" for anything else; for reports of times.
    """

    effects: bool = False
    output_layouts: OutputLayouts | None = None
    work: str = ""

    @property
    def has_effects(self) -> bool:
        return self.effects

    @property
    def shown_work(self) -> str:
        return self.work


def host_operator(
    *,
    name: str | None = None,
    setup: Setup | None = None,
    outputs: Outputs = 1,
    output_per_optional: bool = False,
    devices: tuple[str, ...] = ("cpu", "gpu"),
    effects: bool = False,
    output_layouts: OutputLayouts | None = None,
    work: str = "",
    source: str = "",
) -> Callable[[Callable[..., Any]], HostOp]:
    """Makes a `HostOp` of a function of one sample, and registers it; the options are its fields."""

    def decorate(run: Callable[..., Any]) -> HostOp:
        return HostOp.of(
            run, name, setup=setup, outputs=outputs, output_per_optional=output_per_optional, devices=devices,
            effects=effects, output_layouts=output_layouts, work=work, source=source,
        )  # fmt: skip

    return decorate
