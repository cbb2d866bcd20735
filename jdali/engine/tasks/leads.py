"""Leads: how far readers are ahead of their own positions, because samples failed and later ones took their positions.

`Feed` draws each batch with the samples that are to be expected (`expect`). `recovery.Recovery` asks, batch by batch
and in the same order, which samples it must have (`settle`), moves the leads where samples fail (`move`, by way of
`recovery.refill`), and says which samples are good (`note_good`).

All samples behind a bad one come a position earlier. So at the end of the epoch some positions are left, and repetitions
of a good sample fill them: an epoch has as many batches as if all samples were good, the same in all processes, every
good sample is in it once, and none of the next epoch. The reader's own position counts positions, not samples, and is
the same with and without bad samples.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from jdali.readers.base import Cursor
from jdali.readers.order.epochs import SampleRefs


@dataclasses.dataclass(frozen=True)
class Lead:
    """Distance of a reader ahead of its own position.

    Attributes:
        epoch: where it is ahead.
        ahead: by how many samples.
        good: epoch and index of a sample that could be read; (): none is known.
    """

    epoch: int = 0
    ahead: int = 0
    good: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Positions:
    """The positions in the order of the readers that a batch has, whatever samples come to be there.

    Attributes:
        refs: by the name of each reader the samples of these positions if all samples are good.
        after: by the name of each reader a cursor behind them.
    """

    refs: Mapping[str, SampleRefs] = dataclasses.field(default_factory=dict)
    after: Mapping[str, Cursor] = dataclasses.field(default_factory=dict)

    def following(self, reader: str, lead: Lead, count: int) -> np.ndarray:
        """Returns the indices of the epoch's next samples of a reader that is ahead; fewer at the end of the epoch."""
        epochs, indices, padded = self.after[reader].cursor().next_batch(lead.ahead + count)
        of_epoch: np.ndarray = indices[(epochs == lead.epoch) & ~padded]
        return of_epoch[lead.ahead :]


class Leads:
    """Leads of all readers, by name.

    Batches are drawn before it is known whether samples of those before them fail. So each is drawn with the
    samples that are to be expected, and settled later, in the same order, with those that it must have.

    Args:
        readers: their names.
    """

    def __init__(self, readers: Iterable[str]):
        # Leads behind the last batch that was settled, and those to be expected behind the last that was drawn.
        # Both are replaced and never changed, for one thread settles while another draws.
        self._settled: Mapping[str, Lead] = dict.fromkeys(readers, Lead())
        self._expected: Mapping[str, Lead] = self._settled

    def __getitem__(self, reader: str) -> Lead:
        """The lead of a reader behind the last batch that was settled."""
        return self._settled[reader]

    # --- state ------------------------------------------------------------------------------
    def get_state(self) -> dict[str, Any]:
        """For each reader that is ahead its epoch, by how much, and a good sample."""
        return {
            reader: [lead.epoch, lead.ahead, *lead.good]
            for reader, lead in self._settled.items() if lead.ahead
        }  # fmt: skip

    def set_state(self, state: Mapping[str, Any]) -> None:
        leads = {}
        for reader in self._settled:
            epoch, ahead, *good = state.get(reader, (0, 0))
            leads[reader] = Lead(epoch, ahead, tuple(good))
        self._settled = self._expected = leads

    def twin(self) -> Leads:
        """The same for other positions of the same readers."""
        twin = Leads(())
        twin._settled = twin._expected = self._settled
        return twin

    # --- drawing ----------------------------------------------------------------------------
    def expect(self, positions: Positions) -> Mapping[str, SampleRefs]:
        """Returns the samples that the next positions will have, unless a batch before them fails."""
        refs, behind = _led(positions, self._expected)
        # The first sample of this batch is the good one that later batches repeat, if it can be made, see `note_good`.
        # Otherwise a batch at the end of an epoch would be expected with another repetition, and made again for it.
        self._expected = _with_good(behind, refs) if any(lead.ahead for lead in behind.values()) else behind
        return refs

    # --- settling ---------------------------------------------------------------------------
    def settle(self, positions: Positions) -> Mapping[str, SampleRefs]:
        """Returns the samples that a batch must have, once all before it are settled."""
        refs, self._settled = _led(positions, self._settled)
        return refs

    def move(self, leads: Mapping[str, Lead]) -> None:
        """Replaces the leads behind the batch that was settled last.

        What was drawn since then was drawn with other leads: `settle` finds that out.
        """
        self._settled = self._expected = leads

    def note_good(self, refs: Mapping[str, SampleRefs]) -> None:
        """Takes note of the samples of a batch that could be made: the one that was settled last."""
        nothing_drawn_since = self._expected is self._settled
        self._settled = _with_good(self._settled, refs)
        if nothing_drawn_since:
            self._expected = self._settled


def _led(
    positions: Positions, leads: Mapping[str, Lead]
) -> tuple[Mapping[str, SampleRefs], Mapping[str, Lead]]:
    """Returns the samples at some positions by these leads, and the leads behind them."""
    found, behind = {}, leads
    for reader, refs in positions.refs.items():
        lead = leads[reader]
        found[reader] = _ahead(positions, reader, lead) if lead.ahead else refs
        last = int(refs.epochs[-1]) if len(refs.epochs) else lead.epoch
        if last != lead.epoch:
            behind = {**behind, reader: dataclasses.replace(lead, epoch=last, ahead=0)}
    return found, behind


def _ahead(positions: Positions, reader: str, lead: Lead) -> SampleRefs:
    """Returns the samples at the positions of a reader that is ahead."""
    epochs, indices, padded = (values.copy() for values in positions.refs[reader])
    mine = np.flatnonzero((epochs == lead.epoch) & ~padded)
    later = np.concatenate([indices[mine], positions.following(reader, Lead(lead.epoch), lead.ahead)])
    later = later[lead.ahead :]
    indices[mine[: len(later)]] = later
    missing = mine[len(later) :]
    epochs[missing], indices[missing] = lead.good or (epochs[0], indices[0])
    padded[missing] = True
    return SampleRefs(epochs, indices, padded)


def _with_good(leads: Mapping[str, Lead], refs: Mapping[str, SampleRefs]) -> Mapping[str, Lead]:
    """Returns leads that know the first sample of a batch as a good one."""
    good = {
        reader: (int(epochs[0]), int(indices[0]))
        for reader, (epochs, indices, _) in refs.items() if len(indices)
    }  # fmt: skip
    return {
        reader: dataclasses.replace(lead, good=good[reader]) if reader in good else lead
        for reader, lead in leads.items()
    }
