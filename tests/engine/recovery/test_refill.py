"""Samples that take the positions of bad ones: an epoch of ten numbers in batches of four, worked out by hand."""

import numpy as np
import pytest
from engine.tasks.replacing import Epoch
from support.numbers import NumberReader

from jdali.engine.recovery.refill import MOST_TRIED, StandIns, show_next, take_next
from jdali.engine.tasks.leads import Lead


def numbers(refs):
    return refs["source"].indices.tolist()


@pytest.fixture
def epoch():
    return Epoch(NumberReader(10))


def settled(epoch, count=4):
    drawn = epoch.draw(count)
    return drawn.positions, epoch.leads.settle(drawn.positions)


def test_the_next_samples_are_taken_and_the_reader_is_ahead(epoch):
    positions, refs = settled(epoch)
    found, left = take_next(epoch.leads, positions, refs, np.array([1]))
    assert numbers(found) == [0, 4, 2, 3]
    assert left.tolist() == []
    assert numbers(refs) == [0, 1, 2, 3]  # as they were
    assert epoch.leads["source"] == Lead(0, 1)
    again, _ = take_next(epoch.leads, positions, found, np.array([1, 3]))
    assert numbers(again) == [0, 5, 2, 6]
    assert numbers(epoch.draw().expected) == [7, 8, 9, 7]  # a repetition fills the epoch


def test_positions_for_which_the_epoch_has_no_sample_are_repetitions(epoch):
    for _ in range(2):
        settled(epoch)
    positions, refs = settled(epoch, 2)
    found, left = take_next(epoch.leads, positions, refs, np.array([0, 1]))
    assert left.tolist() == [0, 1]
    assert found["source"].padded.tolist() == [True, True]


def test_what_follows_is_shown_and_comes_again(epoch):
    positions, refs = settled(epoch)
    shown = []
    bad, tried = np.array([0, 2]), 0
    while (found := show_next(epoch.leads, positions, refs, bad, tried)) is not None:
        shown.append(numbers(found))
        tried += len(bad)
    assert shown == [[4, 1, 5, 3], [6, 1, 7, 3], [8, 1, 9, 3]]
    assert numbers(epoch.draw().expected) == [4, 5, 6, 7]


def test_stand_ins_are_tried_one_after_another(epoch):
    positions, refs = settled(epoch)
    candidates, placed, bad = StandIns(), {}, np.array([1, 3])
    for candidate in range(10):
        assert numbers(candidates.place(positions, refs, placed, bad)) == [0, candidate, 2, candidate]
        assert placed == {1: candidate, 3: candidate}
    with pytest.raises(LookupError):
        candidates.place(positions, refs, placed, bad)
    with pytest.raises(LookupError):  # nor in another batch
        candidates.twin().place(positions, refs, {}, bad)


def test_stand_ins_are_spread_over_a_large_data_set():
    epoch = Epoch(NumberReader(4 * MOST_TRIED))
    positions, refs = settled(epoch)
    candidates, placed = StandIns(), {}
    tried = [numbers(candidates.place(positions, refs, placed, np.array([0])))[0] for _ in range(3)]
    assert tried == [0, 4, 8]
