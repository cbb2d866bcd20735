"""What stands in the place of samples that cannot be read, so that epochs stay where they are.

The reader's next sample takes the place, and all samples after it come as much earlier. So at the end of
the epoch some places are left, and repetitions of a good sample fill them: an epoch has as many batches as
if all samples were good, the same in all processes, every good sample is in it once, and none of the next
epoch. The reader's own place counts places, not samples, and is the same with and without bad samples.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from jdali.graph._node import Node

# So many samples are tried in the place of bad ones before it is an error: all, if there are no more.
_CANDIDATES = 1024

Refs = tuple[np.ndarray, np.ndarray, np.ndarray]  # epochs, indices, whether it is a repetition


class Refills:
    """How far readers give samples ahead of their own place, in the epoch where each is."""

    def __init__(self, readers: Mapping[Node, Any]):
        self._readers = dict(readers)
        self._ahead = dict.fromkeys(self._readers, 0)
        self._epoch = dict.fromkeys(self._readers, 0)  # that `_ahead` is of
        self._good: dict[Node, tuple[int, int]] = {}  # epoch and index of a sample that could be read
        self._candidate = 0  # the first one, of those that may stand in for others, not known to be bad

    # --- state ------------------------------------------------------------------------------
    def get_state(self) -> dict[str, Any]:
        """For each reader that is ahead its epoch, by how much, and a good sample."""
        return {
            node.name: [self._epoch[node], ahead, *self._good.get(node, ())]
            for node, ahead in self._ahead.items() if ahead
        }  # fmt: skip

    def set_state(self, state: Mapping[str, Any]) -> None:
        for node in self._readers:
            self._epoch[node], self._ahead[node], *good = state.get(node.name, (0, 0))
            if good:
                self._good[node] = (good[0], good[1])

    def twin(self, readers: Mapping[Node, Any]) -> Refills:
        """The same for other cursors of the same readers."""
        twin = copy.copy(self)
        twin._readers = dict(readers)
        twin._ahead, twin._epoch, twin._good = dict(self._ahead), dict(self._epoch), dict(self._good)
        return twin

    # --- drawing ----------------------------------------------------------------------------
    def next_batch(self, node: Node, count: int) -> Refs:
        """The samples of the next `count` places of a reader."""
        refs: Refs = tuple(self._readers[node].next_batch(count))
        epochs, indices, padded = refs
        last = int(epochs[-1]) if count else self._epoch[node]
        if self._ahead[node]:
            mine = np.flatnonzero((epochs == self._epoch[node]) & ~padded)
            later = np.concatenate([indices[mine], self._following(node, self._ahead[node])])
            later = later[self._ahead[node] :]
            indices[mine[: len(later)]] = later
            missing = mine[len(later) :]
            epochs[missing], indices[missing] = self._good.get(node, (epochs[0], indices[0]))
            padded[missing] = True
        if last != self._epoch[node]:
            self._epoch[node], self._ahead[node] = last, 0
        return refs

    def replace(self, refs: Mapping[Node, Refs], bad: np.ndarray) -> np.ndarray:
        """Puts the next samples in the places `bad` of what was drawn.

        Returns: those of the places for which the epoch has no sample left, marked as repetitions.
        """
        left: set[int] = set()
        for node, (epochs, indices, padded) in refs.items():
            epoch = self._epoch[node]
            # A place of the last epoch, or a repetition, is none of this epoch's.
            own = bad[(epochs[bad] == epoch) & ~padded[bad]]
            ahead = self._ahead[node]
            fresh = self._following(node, ahead + len(own))[ahead:]
            self._ahead[node] += len(own)
            indices[own[: len(fresh)]] = fresh
            rest = np.setdiff1d(bad, own[: len(fresh)])
            padded[rest] = True
            left.update(rest.tolist())
        return np.array(sorted(left), np.int64)

    def show_following(self, refs: Mapping[Node, Refs], bad: np.ndarray, tried: int) -> bool:
        """Puts the epoch's next samples in places of what was drawn; they come again where they belong.

        Args:
            refs: what was drawn.
            bad: the places.
            tried: so many of the next samples were put there before.

        Returns: whether there are any more, of those that are worth a try.
        """
        end = min(tried + len(bad), _CANDIDATES)
        found = {
            node: self._following(node, self._ahead[node] + end)[self._ahead[node] + tried :] for node in refs
        }
        if not all(len(indices) for indices in found.values()):
            return False
        for node, (epochs, indices, _) in refs.items():
            epochs[bad], indices[bad] = self._epoch[node], np.resize(found[node], len(bad))
        return True

    def stand_in(self, refs: Mapping[Node, Refs], stand_ins: dict[int, int], bad: np.ndarray) -> None:
        """Puts samples of the data set in places of what was drawn; no reader goes on.

        It is the first that can be read of up to `_CANDIDATES`, spread over the data set: which one does not
        depend on what came before, so it is the same after a state was restored.

        Args:
            refs: what was drawn.
            stand_ins: by place, which candidate was put there before; changed.
            bad: the places.

        Raises:
            LookupError: no candidate can be read.
        """
        failed = [stand_ins[place] for place in bad.tolist() if place in stand_ins]
        self._candidate = max([self._candidate, *(number + 1 for number in failed)])
        count = min(max(self._readers[node].size for node in refs), _CANDIDATES)
        if self._candidate >= count:
            raise LookupError
        stand_ins.update(dict.fromkeys(bad.tolist(), self._candidate))
        for node, (_, indices, _) in refs.items():
            indices[bad] = self._candidate * self._readers[node].size // count

    def note_good(self, refs: Mapping[Node, Refs]) -> None:
        """Takes note of a batch that could be made."""
        for node, (epochs, indices, _) in refs.items():
            if len(indices):
                self._good[node] = (int(epochs[0]), int(indices[0]))

    def _following(self, node: Node, count: int) -> np.ndarray:
        """Indices of the next samples after the reader's place, as far as they are of the same epoch."""
        epochs, indices, padded = self._readers[node].cursor().next_batch(count)
        of_epoch: np.ndarray = indices[(epochs == self._epoch[node]) & ~padded]
        return of_epoch
