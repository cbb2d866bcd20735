"""Replacing samples: an epoch of ten numbers in batches of four, worked out by hand."""

import json

import numpy as np
import pytest
from support.nodes import source_node
from support.numbers import NumberReader

from jdali.engine.tasks.refill import Positions, Refills


class Epoch:
    """A reader of ten numbers with its refills; draws as `Feed` does."""

    def __init__(self):
        self.node, self.reader = source_node(), NumberReader(10)
        self.refills = Refills({self.node: self.reader})

    def draw(self, count=4):
        positions = Positions({self.node: self.reader.next_batch(count)}, {self.node: self.reader.cursor()})
        return positions, self.refills.expect(positions)

    def settle(self, drawn):
        return self.refills.settle(*drawn)

    def indices(self, drawn):
        return drawn[1][self.node][1].tolist()

    def padded(self, drawn):
        return drawn[1][self.node][2].tolist()


def test_all_that_comes_after_a_bad_sample_comes_earlier():
    epoch = Epoch()
    first, second = epoch.draw(), epoch.draw()  # both before it is known that 1 is bad
    assert epoch.settle(first) == set()
    assert epoch.refills.replace(*first, np.array([1])).tolist() == []
    assert epoch.indices(first) == [0, 4, 2, 3]
    assert epoch.settle(second) == {0, 1, 2, 3}
    assert epoch.indices(second) == [5, 6, 7, 8]
    epoch.refills.note_good(second[1])
    assert json.loads(json.dumps(epoch.refills.get_state())) == {"source": [0, 1, 0, 5]}
    last = epoch.draw()  # 9, the position that is left, and two of the next epoch
    epoch.settle(last)  # which good sample is repeated may have been expected otherwise
    assert epoch.indices(last) == [9, 5, 0, 1]
    assert epoch.padded(last) == [False, True, False, False]
    assert epoch.refills.get_state() == {}  # nothing is ahead in the next epoch


def test_positions_for_which_the_epoch_has_no_sample_are_repetitions():
    epoch = Epoch()
    for _ in range(2):
        epoch.settle(epoch.draw())
    last = epoch.draw(2)
    epoch.settle(last)
    assert epoch.refills.replace(*last, np.array([0, 1])).tolist() == [0, 1]
    assert epoch.padded(last) == [True, True]


def test_what_follows_is_shown_and_comes_again():
    epoch = Epoch()
    drawn = epoch.draw()
    epoch.settle(drawn)
    shown = []
    bad, tried = np.array([0, 2]), 0
    while epoch.refills.show_following(*drawn, bad, tried):
        shown.append(epoch.indices(drawn))
        tried += len(bad)
    assert shown == [[4, 1, 5, 3], [6, 1, 7, 3], [8, 1, 9, 3]]
    assert epoch.indices(epoch.draw()) == [4, 5, 6, 7]


def test_stand_ins_are_tried_one_after_another():
    epoch = Epoch()
    drawn, stand_ins = epoch.draw(), {}
    for candidate in range(10):
        epoch.refills.stand_in(drawn[1], stand_ins, np.array([1, 3]))
        assert epoch.indices(drawn) == [0, candidate, 2, candidate]
        assert stand_ins == {1: candidate, 3: candidate}
    with pytest.raises(LookupError):
        epoch.refills.stand_in(drawn[1], stand_ins, np.array([1, 3]))


def test_a_state_goes_on_where_it_was_and_a_twin_as_well():
    epoch, restored = Epoch(), Epoch()
    first = epoch.draw()
    epoch.settle(first)
    epoch.refills.replace(*first, np.array([0, 1]))
    restored.draw()
    restored.refills.set_state(epoch.refills.get_state())
    twin = epoch.refills.twin({epoch.node: epoch.reader.cursor()})
    assert restored.indices(restored.draw()) == [6, 7, 8, 9]
    drawn = epoch.draw()
    assert epoch.indices(drawn) == [6, 7, 8, 9]
    assert twin.expect(drawn[0])[epoch.node][1].tolist() == [6, 7, 8, 9]
