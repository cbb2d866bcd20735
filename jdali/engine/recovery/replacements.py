"""Replacing the samples of one batch that failed, attempt by attempt."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from jdali.engine.recovery.blame import Blamed
from jdali.engine.recovery.refill import StandIns, show_next, take_next
from jdali.engine.tasks.batch_task import BatchTask
from jdali.engine.tasks.leads import Leads, Positions


@dataclasses.dataclass
class Replacements:
    """Samples that were put in the positions of bad ones so far, in one batch.

    With "skip" the reader's next sample takes the position. With "mask", and beside external sources, which cannot go on
    with it, the position is filled by a good sample of the batch, or, if it has none, by the reader's next one, or by any
    of the data set; that sample is also delivered where it belongs, so every good sample comes once an epoch with mask
    True.

    Attributes:
        positions: of the batch in the order of the readers.
        stand_ins: positions that have a sample from anywhere: which candidate of `StandIns`.
        shown: how many of the next samples were tried in positions of bad ones.
        copied_from: positions that have another one's sample: that one's position.
    """

    positions: Positions
    stand_ins: dict[int, int] = dataclasses.field(default_factory=dict)
    copied_from: dict[int, int] = dataclasses.field(default_factory=dict)
    shown: int = 0

    def with_their_copies(self, blamed: Mapping[int, Blamed]) -> dict[int, Blamed]:
        """Returns the blamed positions, and the others that repeat the same sample as padding."""
        found = dict(blamed)
        for position, why in blamed.items():
            first = self.copied_from.get(position, position)
            for other in (first, *(p for p, source in self.copied_from.items() if source == first)):
                found.setdefault(other, why)
            if position in self.stand_ins:
                number = self.stand_ins[position]
                found |= {p: why for p, n in self.stand_ins.items() if n == number and p not in found}
        return found

    def replace(
        self, task: BatchTask, blamed: Mapping[int, Blamed], leads: Leads, candidates: StandIns, on_error: str
    ) -> tuple[BatchTask, set[int]]:
        """Puts other samples in the positions of those that failed.

        Args:
            task: that failed.
            blamed: the samples that failed.
            leads: of the readers.
            candidates: where nothing else is left.
            on_error: "skip" or "mask".

        Returns: the next task, and the positions in which it has another sample.

        Raises:
            LookupError: there is no sample that can be read.
        """
        bad = np.array(sorted(blamed))
        good = np.setdiff1d(np.arange(len(task)), bad)
        good = good[np.argsort(~task.mask[good], kind="stable")]  # the batch's own samples first
        fed = not task.refs or any(d.source in task.data for why in blamed.values() for d in why.drawn)
        if fed and not len(good):  # an external source has nothing to refill from
            self.stand_ins.clear()
            self.copied_from.clear()
            return task.keeping(good), set(range(len(task)))
        for position in bad.tolist():
            self.copied_from.pop(position, None)
        to_fill = bad
        reads_on = on_error == "skip" and not task.data
        if reads_on:
            refs, to_fill = take_next(leads, self.positions, task.refs, bad)
            task = task.reading(refs)
        task = self._fill(task, to_fill, good, leads, candidates, on_error)
        return task if reads_on else task.masking(bad), set(bad.tolist())

    def _fill(
        self,
        task: BatchTask,
        bad: np.ndarray,
        good: np.ndarray,
        leads: Leads,
        candidates: StandIns,
        on_error: str,
    ) -> BatchTask:
        """Fills the positions that the reader's next samples do not take."""
        if len(good):
            return self._repeat(task, int(good[0]), bad)
        if on_error == "mask":
            refs = show_next(leads, self.positions, task.refs, bad, self.shown)
            if refs is not None:
                self.shown += len(bad)
                return task.reading(refs)
        if not len(bad):
            return task
        return task.reading(candidates.place(self.positions, task.refs, self.stand_ins, bad))

    def _repeat(self, task: BatchTask, good: int, bad: np.ndarray) -> BatchTask:
        """Repeats a good sample of the batch in some positions."""
        for position in bad.tolist():
            self.copied_from[position] = self.copied_from.get(good, good)
            self.stand_ins.pop(position, None)
        return task.repeating(good, bad) if len(bad) else task
