"""Readers ahead of their positions: an epoch of ten numbers in batches of four, worked out by hand."""

import json

from engine.tasks.replacing import Epoch
from support.numbers import NumberReader

from jdali.engine.tasks.leads import Lead, Leads


def numbers(refs):
    return refs["source"].indices.tolist()


def test_all_that_comes_after_a_bad_sample_comes_earlier():
    epoch = Epoch(NumberReader(10))
    first, second = epoch.draw(), epoch.draw()  # both before it is known that a sample of the first is bad
    assert epoch.leads.settle(first.positions) is not None
    epoch.leads.move({"source": Lead(0, 1)})
    assert numbers(second.expected) == [4, 5, 6, 7]
    due = epoch.leads.settle(second.positions)
    assert numbers(due) == [5, 6, 7, 8]
    epoch.leads.note_good(due)
    assert json.loads(json.dumps(epoch.leads.get_state())) == {"source": [0, 1, 0, 5]}
    last = epoch.draw()
    due = epoch.leads.settle(last.positions)  # 9, the position that is left, and two of the next epoch
    assert numbers(due) == [9, 5, 0, 1]
    assert due["source"].padded.tolist() == [False, True, False, False]
    assert epoch.leads.get_state() == {}  # nothing is ahead in the next epoch


def test_without_leads_the_samples_are_those_of_the_positions():
    epoch = Epoch(NumberReader(10))
    drawn = epoch.draw()
    assert drawn.expected["source"] is drawn.positions.refs["source"]
    assert epoch.leads.settle(drawn.positions)["source"] is drawn.positions.refs["source"]


def test_the_good_sample_that_fills_an_epoch_is_expected_right():
    """Or the last batch of each epoch would be made again, only to repeat another sample."""
    epoch = Epoch(NumberReader(10))
    first = epoch.draw()
    epoch.leads.settle(first.positions)
    epoch.leads.move({"source": Lead(0, 3)})
    epoch.leads.note_good(first.expected)
    second, third = epoch.draw(), epoch.draw()
    assert numbers(second.expected) == [7, 8, 9, 0]
    assert numbers(third.expected) == [7, 7, 0, 1]  # drawn before the second one is settled
    epoch.leads.note_good(epoch.leads.settle(second.positions))
    assert numbers(epoch.leads.settle(third.positions)) == [7, 7, 0, 1]


def test_the_good_sample_of_the_batch_that_was_settled_last_is_expected():
    epoch = Epoch(NumberReader(8))
    first = epoch.draw()
    epoch.leads.settle(first.positions)
    epoch.leads.move({"source": Lead(0, 2)})
    epoch.leads.note_good({"source": first.expected["source"]})
    second = epoch.draw()
    assert numbers(second.expected) == [6, 7, 0, 0]
    assert numbers(epoch.leads.settle(second.positions)) == [6, 7, 0, 0]


def test_a_state_goes_on_where_it_was_and_a_twin_as_well():
    epoch, restored = Epoch(NumberReader(10)), Epoch(NumberReader(10))
    epoch.leads.settle(epoch.draw().positions)
    epoch.leads.move({"source": Lead(0, 2)})
    restored.draw()
    restored.leads.set_state(epoch.leads.get_state())
    twin = epoch.leads.twin()
    assert numbers(restored.draw().expected) == [6, 7, 8, 9]
    drawn = epoch.draw()
    assert numbers(drawn.expected) == [6, 7, 8, 9]
    assert numbers(twin.expect(drawn.positions)) == [6, 7, 8, 9]


def test_what_follows_ends_with_the_epoch():
    epoch = Epoch(NumberReader(10))
    positions = epoch.draw().positions
    assert positions.following("source", Lead(0, 0), 3).tolist() == [4, 5, 6]
    assert positions.following("source", Lead(0, 4), 3).tolist() == [8, 9]
    assert positions.following("source", Lead(0, 6), 3).tolist() == []


def test_readers_without_a_state_are_not_ahead():
    leads = Leads(["source", "other"])
    leads.set_state({"other": [2, 3, 2, 7]})
    assert leads.get_state() == {"other": [2, 3, 2, 7]}
    assert (leads["source"], leads["other"]) == (Lead(), Lead(2, 3, (2, 7)))
