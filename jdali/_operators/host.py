"""Operators that run on the host and see one sample."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeAlias

from jdali._operators.base import Operator, decorator
from jdali._operators.offers import IsEnough
from jdali._operators.options import Arguments, OptionalInputOptions

OutputLayouts: TypeAlias = "Callable[[Arguments], tuple[str, ...]]"


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class HostOptions(OptionalInputOptions):
    """Options of `host_operator`.

    Attributes:
        is_enough: True if these first bytes of the sample are all that it looks at, whatever follows: a reader may leave
            the rest unread, and its memory as it was. None: it looks at all of them.
        effects: it may do more than return its outputs: it runs also if nobody uses them, and on the samples in
            their order, never on two at once.
        output_layouts: without `setup`: the layout of each output ("" for none), as a function of the static
            arguments; None: no output has a layout.
        work: for reports of times: "decoding", "user code", or "" for any other work.
    """

    is_enough: IsEnough | None = None
    effects: bool = False
    output_layouts: OutputLayouts | None = None
    work: str = ""


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class HostOp(Operator, HostOptions):
    """A function of NumPy arrays, called for one sample after another in the thread pool.

    The key of a random one is None: its `setup` has all of them.
    """

    @property
    def has_effects(self) -> bool:
        return self.effects

    @property
    def shown_work(self) -> str:
        return self.work


host_operator = decorator(
    "host_operator",
    HostOp,
    HostOptions,
    "Makes a `HostOp` of a function of one sample, and registers it.",
)
