"""Replaces samples that cannot be read, so that epochs begin and end where they would.

The reader's next sample takes the place, and all samples after it come as much earlier. So at the end of
the epoch some positions are left, and repetitions of a good sample fill them: an epoch has as many batches as
if all samples were good, the same in all processes, every good sample is in it once, and none of the next
epoch. The reader's own position counts positions, not samples, and is the same with and without bad samples.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from jdali.graph.node import Node

# At most this many samples are tried in place of bad ones before it is an error: all, if there are no more.
MOST_TRIED = 1024

Refs = tuple[np.ndarray, np.ndarray, np.ndarray]  # epochs, indices, whether it is a repetition


@dataclasses.dataclass(frozen=True)
class Lead:
    """Distance of a reader ahead of its own position.

    Attributes:
        epoch: where it does.
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
        refs: of each reader the samples of these positions if all samples are good.
        after: a cursor of each reader that is behind them.
    """

    refs: Mapping[Node, Refs] = dataclasses.field(default_factory=dict)
    after: Mapping[Node, Any] = dataclasses.field(default_factory=dict)


class Refills:
    """Distances of all readers ahead of their own positions.

    Batches are drawn before it is known whether samples of those before them fail. So each is drawn with the
    samples that are to be expected, and settled later, in the same order, with those that it must have.
    """

    def __init__(self, readers: Mapping[Node, Any]):
        self._readers = dict(readers)
        # Leads behind the last batch that was settled, and those to be expected behind the last that was drawn.
        # Both are replaced and never changed, for one thread settles while another draws.
        self._settled: Mapping[Node, Lead] = {node: Lead() for node in self._readers}
        self._expected: Mapping[Node, Lead] = self._settled
        self._candidate = 0  # the first one, of those that may stand in for others, not known to be bad

    # --- state ------------------------------------------------------------------------------
    def get_state(self) -> dict[str, Any]:
        """For each reader that is ahead its epoch, by how much, and a good sample."""
        return {
            node.name: [lead.epoch, lead.ahead, *lead.good]
            for node, lead in self._settled.items() if lead.ahead
        }  # fmt: skip

    def set_state(self, state: Mapping[str, Any]) -> None:
        leads = {}
        for node in self._readers:
            epoch, ahead, *good = state.get(node.name, (0, 0))
            leads[node] = Lead(epoch, ahead, tuple(good))
        self._settled = self._expected = leads

    def twin(self, readers: Mapping[Node, Any]) -> Refills:
        """The same for other cursors of the same readers."""
        twin = Refills(readers)
        twin._settled = twin._expected = self._settled
        twin._candidate = self._candidate
        return twin

    # --- drawing ----------------------------------------------------------------------------
    def expect(self, positions: Positions) -> dict[Node, Refs]:
        """The samples that the next positions will have, unless a batch before them fails."""
        refs, self._expected = self._lead(positions, self._expected)
        return refs

    def settle(self, positions: Positions, refs: Mapping[Node, Refs]) -> set[int]:
        """Puts the samples in a batch that it must have, for all before it are settled.

        Args:
            positions: of the batch.
            refs: the samples that were expected; changed.

        Returns: the positions in which another sample was expected.
        """
        settled, self._settled = self._lead(positions, self._settled)
        changed: set[int] = set()
        for node, right in settled.items():
            different = np.zeros(len(right[0]), bool)
            for have, must in zip(refs[node], right, strict=True):
                different |= have != must
                have[:] = must
            changed.update(np.flatnonzero(different).tolist())
        return changed

    def _lead(
        self, positions: Positions, leads: Mapping[Node, Lead]
    ) -> tuple[dict[Node, Refs], Mapping[Node, Lead]]:
        """The samples at some positions by these leads, and the leads behind them."""
        found: dict[Node, Refs] = {}
        behind = dict(leads)
        for node, (epochs, indices, padded) in positions.refs.items():
            lead = leads[node]
            epochs, indices, padded = epochs.copy(), indices.copy(), padded.copy()
            if lead.ahead:
                mine = np.flatnonzero((epochs == lead.epoch) & ~padded)
                later = np.concatenate(
                    [indices[mine], self._following(node, positions, lead.epoch, lead.ahead)]
                )
                later = later[lead.ahead :]
                indices[mine[: len(later)]] = later
                missing = mine[len(later) :]
                epochs[missing], indices[missing] = lead.good or (epochs[0], indices[0])
                padded[missing] = True
            found[node] = (epochs, indices, padded)
            last = int(positions.refs[node][0][-1]) if len(epochs) else lead.epoch
            if last != lead.epoch:
                behind[node] = dataclasses.replace(lead, epoch=last, ahead=0)
        return found, behind

    # --- replacing --------------------------------------------------------------------------
    def replace(self, positions: Positions, refs: Mapping[Node, Refs], bad: np.ndarray) -> np.ndarray:
        """Puts the next samples in the positions `bad` of the batch that was settled last.

        Args:
            positions: of the batch.
            refs: its samples; changed.
            bad: positions.

        Returns: those of the positions for which the epoch has no sample left, marked as repetitions.
        """
        left: set[int] = set()
        leads = dict(self._settled)
        for node, (epochs, indices, padded) in refs.items():
            lead = leads[node]
            # A position of the last epoch, or a repetition, is none of this epoch's.
            own = bad[(epochs[bad] == lead.epoch) & ~padded[bad]]
            fresh = self._following(node, positions, lead.epoch, lead.ahead + len(own))[lead.ahead :]
            leads[node] = dataclasses.replace(lead, ahead=lead.ahead + len(own))
            indices[own[: len(fresh)]] = fresh
            rest = np.setdiff1d(bad, own[: len(fresh)])
            padded[rest] = True
            left.update(rest.tolist())
        # What was drawn since then was drawn with other leads: `settle` finds that out.
        self._settled = self._expected = leads
        return np.array(sorted(left), np.int64)

    def show_following(
        self, positions: Positions, refs: Mapping[Node, Refs], bad: np.ndarray, tried: int
    ) -> bool:
        """Puts the epoch's next samples in positions of a batch; they come again where they belong.

        Args:
            positions: of the batch.
            refs: its samples; changed.
            bad: the positions.
            tried: how many of the next samples were put there before.

        Returns: whether there are any more, of those that are worth a try.
        """
        end = min(tried + len(bad), MOST_TRIED)
        found = {}
        for node in refs:
            lead = self._settled[node]
            following = self._following(node, positions, lead.epoch, lead.ahead + end)
            found[node] = following[lead.ahead + tried :]
        if not all(len(indices) for indices in found.values()):
            return False
        for node, (epochs, indices, _) in refs.items():
            epochs[bad], indices[bad] = self._settled[node].epoch, np.resize(found[node], len(bad))
        return True

    def stand_in(self, refs: Mapping[Node, Refs], stand_ins: dict[int, int], bad: np.ndarray) -> None:
        """Puts samples of the data set in positions of what was drawn; no reader goes on.

        It is the first that can be read of up to `MOST_TRIED`, spread over the data set: which one does not
        depend on what came before, so it is the same after a state was restored.

        Args:
            refs: what was drawn.
            stand_ins: by position, which candidate was put there before; changed.
            bad: the positions.

        Raises:
            LookupError: no candidate can be read.
        """
        failed = [stand_ins[position] for position in bad.tolist() if position in stand_ins]
        self._candidate = max([self._candidate, *(number + 1 for number in failed)])
        count = min(max(self._readers[node].size for node in refs), MOST_TRIED)
        if self._candidate >= count:
            raise LookupError
        stand_ins.update(dict.fromkeys(bad.tolist(), self._candidate))
        for node, (_, indices, _) in refs.items():
            indices[bad] = self._candidate * self._readers[node].size // count

    def note_good(self, refs: Mapping[Node, Refs]) -> None:
        """Takes note of a batch that could be made."""
        self._settled = {
            node: dataclasses.replace(lead, good=(int(refs[node][0][0]), int(refs[node][1][0])))
            if node in refs and len(refs[node][1])
            else lead
            for node, lead in self._settled.items()
        }

    def _following(self, node: Node, positions: Positions, epoch: int, count: int) -> np.ndarray:
        """Indices of the next samples behind the positions of a batch, as far as they are of this epoch."""
        epochs, indices, padded = positions.after[node].cursor().next_batch(count)
        of_epoch: np.ndarray = indices[(epochs == epoch) & ~padded]
        return of_epoch
