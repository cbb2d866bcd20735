"""Operators that are compiled and see many samples."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from jdali._operators.base import Given, Outputs, Setup, WholeBatch
from jdali._operators.compiled import USUAL_NANOSECONDS, CompiledOp, FreePadding, SetupNeeds
from jdali._operators.offers import Offer


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DeviceBatchOp(CompiledOp):
    """A pure function of arrays with a leading batch axis: inputs, extents and per-sample arguments.

    Of an argument that is the same for all samples, that axis is 1. Only a number that is the same for all stays a
    number. Rows must not depend on each other, except where `whole_batch` says so: then `run` gets the whole
    batch in one call, with samples of extent 0 in rows that are not used.

    Attributes:
        pastes: see `chosen_samples`.
    """

    pastes: str | None = None

    @property
    def chosen_samples(self) -> str | None:
        return self.pastes

    def mixes_samples(self, given: Given) -> bool:
        return self.depends_on_batch(given)


def batch_operator(
    *,
    name: str | None = None,
    setup: Setup | None = None,
    setup_needs: SetupNeeds | None = None,
    outputs: Outputs = 1,
    output_per_optional: bool = False,
    devices: tuple[str, ...] = ("cpu", "gpu"),
    free_padding: FreePadding = "none",
    whole_batch: WholeBatch | None = None,
    nanoseconds: float = USUAL_NANOSECONDS,
    wide_vectors: bool = False,
    uses: tuple[type[Offer], ...] = (),
    source: str = "",
    pastes: str | None = None,
) -> Callable[[Callable[..., Any]], DeviceBatchOp]:
    """Makes a `DeviceBatchOp` of a pure function of many samples, and registers it; the options are its fields."""

    def decorate(run: Callable[..., Any]) -> DeviceBatchOp:
        return DeviceBatchOp.of(
            run, name, setup=setup, setup_needs=setup_needs, outputs=outputs,
            output_per_optional=output_per_optional, devices=devices, free_padding=free_padding,
            whole_batch=whole_batch, nanoseconds=nanoseconds, wide_vectors=wide_vectors,
            uses=uses, source=source, pastes=pastes,
        )  # fmt: skip

    return decorate
