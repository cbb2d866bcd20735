"""Finds the samples that take the positions of bad ones.

`Replacements` calls these functions for one batch at a time, the one that was settled last:

* `take_next` ("skip"): the reader's next samples; the reader is ahead by as many from then on, see `tasks.leads`.
* `show_next` ("mask"): the same samples, but the reader stays where it is, and they come again where they belong.
* `StandIns`: where the epoch has no sample left, some sample of the data set that can be read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from jdali.engine.tasks.leads import Leads, Positions
from jdali.readers.order.epochs import SampleRefs

# At most this many samples are tried in place of bad ones before it is an error: all, if there are no more.
MOST_TRIED = 1024


def take_next(
    leads: Leads, positions: Positions, refs: Mapping[str, SampleRefs], bad: np.ndarray
) -> tuple[dict[str, SampleRefs], np.ndarray]:
    """Takes the next samples of the epoch for some positions of a batch, and moves the leads.

    Args:
        leads: of the readers.
        positions: of the batch.
        refs: its samples.
        bad: positions.

    Returns: the samples with these, and those of the positions for which the epoch has no sample left, marked as
    repetitions.
    """
    left: set[int] = set()
    found, moved = {}, {}
    for reader, (epochs, indices, padded) in refs.items():
        lead = leads[reader]
        indices, padded = indices.copy(), padded.copy()
        # A position of the last epoch, or a repetition, is none of this epoch's.
        own = bad[(epochs[bad] == lead.epoch) & ~padded[bad]]
        fresh = positions.following(reader, lead, len(own))
        moved[reader] = dataclasses.replace(lead, ahead=lead.ahead + len(own))
        indices[own[: len(fresh)]] = fresh
        rest = np.setdiff1d(bad, own[: len(fresh)])
        padded[rest] = True
        left.update(rest.tolist())
        found[reader] = SampleRefs(epochs, indices, padded)
    leads.move(moved)
    return found, np.array(sorted(left), np.int64)


def show_next(
    leads: Leads, positions: Positions, refs: Mapping[str, SampleRefs], bad: np.ndarray, tried: int
) -> dict[str, SampleRefs] | None:
    """Shows the epoch's next samples in some positions of a batch; they come again where they belong.

    Args:
        leads: of the readers.
        positions: of the batch.
        refs: its samples.
        bad: the positions.
        tried: how many of the next samples were shown in this batch before.

    Returns: the samples with these; None: there are no more of those that are worth a try.
    """
    end = min(tried + len(bad), MOST_TRIED)
    following = {reader: positions.following(reader, leads[reader], end)[tried:] for reader in refs}
    if not all(len(indices) for indices in following.values()):
        return None
    found = {}
    for reader, (epochs, indices, padded) in refs.items():
        epochs, indices = epochs.copy(), indices.copy()
        epochs[bad], indices[bad] = leads[reader].epoch, np.resize(following[reader], len(bad))
        found[reader] = SampleRefs(epochs, indices, padded)
    return found


class StandIns:
    """Candidates of a data set that stand in for samples that nothing else replaces; no reader goes on for them.

    The first one that can be read of up to `MOST_TRIED`, spread over the data set, stands in: which one that is does
    not depend on what came before, so it is the same after a state was restored.
    """

    def __init__(self, first: int = 0):
        self._first = first  # the first candidate that is not known to be bad

    def twin(self) -> StandIns:
        """The same for other batches."""
        return StandIns(self._first)

    def place(
        self, positions: Positions, refs: Mapping[str, SampleRefs], placed: dict[int, int], bad: np.ndarray
    ) -> dict[str, SampleRefs]:
        """Puts the next candidate in some positions of a batch.

        Args:
            positions: of the batch.
            refs: its samples.
            placed: by position which candidate was put there before, and failed; changed.
            bad: the positions.

        Returns: the samples with the candidate.

        Raises:
            LookupError: no candidate can be read.
        """
        failed = [placed[position] for position in bad.tolist() if position in placed]
        self._first = max([self._first, *(number + 1 for number in failed)])
        sizes = {reader: positions.after[reader].size for reader in refs}
        count = min(max(sizes.values()), MOST_TRIED)
        if self._first >= count:
            raise LookupError
        placed.update(dict.fromkeys(bad.tolist(), self._first))
        found = {}
        for reader, (epochs, indices, padded) in refs.items():
            indices = indices.copy()
            indices[bad] = self._first * sizes[reader] // count
            found[reader] = SampleRefs(epochs, indices, padded)
        return found
