"""Operators that are compiled and see many samples."""

from __future__ import annotations

import dataclasses

from jdali._operators.base import decorator
from jdali._operators.compiled import CompiledOp, CompiledOptions
from jdali._operators.options import Arguments


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DeviceBatchOptions(CompiledOptions):
    """Options of `batch_operator`.

    Attributes:
        pastes: the argument that says which samples of the batch are pasted into each sample of the output;
            None: none are.
    """

    pastes: str | None = None


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DeviceBatchOp(CompiledOp, DeviceBatchOptions):
    """A pure function of arrays with a leading batch axis: inputs, extents and per-sample arguments.

    Of an argument that is the same for all samples, that axis is 1. Only a number that is the same for all stays a
    number. Rows must not depend on each other, except where `whole_batch` says so: then `run` gets the whole
    batch in one call, with samples of extent 0 in rows that are not used.
    """

    @property
    def chosen_samples(self) -> str | None:
        return self.pastes

    def mixes_samples(self, arguments: Arguments) -> bool:
        return self.depends_on_batch(arguments)


batch_operator = decorator(
    "batch_operator",
    DeviceBatchOp,
    DeviceBatchOptions,
    "Makes a `DeviceBatchOp` of a pure function of many samples, and registers it.",
)
