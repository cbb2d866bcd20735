"""Levels of a stream of batches: counted in their order, settled, saved and restored."""

import json

import numpy as np

from jdali.engine.shapes.buckets import Group
from jdali.engine.shapes.levels import Levels, StageLevel


def group(*shape, samples=1):
    return Group(shape, np.arange(samples))


def test_counting_makes_a_new_level():
    level = StageLevel()
    counted = level.counted([group(3, 4, samples=2), group(5, 6)]).counted([group(5, 6)])
    assert (level.seen, counted.seen) == ({}, {(3, 4): 2, (5, 6): 2})
    assert not counted.is_full(2)
    assert counted.is_full(1)
    assert not StageLevel(0, counted.seen, patience=2.0).is_full(1)


def test_a_batch_has_the_levels_of_the_last_one_that_came_to_the_stage_and_settles_its_own():
    levels = Levels()
    first, second = levels.batch(), levels.batch()
    first.note("a", StageLevel(3))
    assert second.of("a").number == 3
    second.note("a", StageLevel(5))
    assert first.of("a").number == 3  # its own
    assert levels.of("a").number == 0
    first.settle()
    assert (levels.get_state(), first.get_state()) == ({"a": 3}, {"a": 3})
    second.settle()
    assert levels.get_state() == {"a": 5}


def test_a_batch_that_is_made_again_counts_nothing():
    levels = Levels()
    before, batch, after = levels.batch(), levels.batch(), levels.batch()
    before.note("late", StageLevel(1))
    before.settle()
    batch.note("early", StageLevel(2))
    after.note("early", StageLevel(7))
    after.note("late", StageLevel(7))
    again = batch.again()
    assert (again.of("early").number, again.of("late").number) == (2, 1)
    again.note("late", StageLevel(9))
    assert levels.batch().of("late").number == 7
    again.settle()
    assert levels.get_state() == {"early": 2, "late": 1}


def test_states_hold_levels_above_0_and_restore_them():
    levels = Levels()
    batch = levels.batch()
    batch.note("a", StageLevel(4, {(1,): 1}))
    batch.note("b", StageLevel(0, {(2,): 1}))
    batch.settle()
    state = json.loads(json.dumps(levels.get_state()))
    assert state == {"a": 4}
    other = Levels()
    other.set_state(state)
    assert (other.of("a"), other.of("b"), other.get_state()) == (StageLevel(4), StageLevel(), state)
    other.set_state({})  # of a version without levels
    assert other.of("a").number == other.batch().of("a").number == 0


def test_a_stream_that_goes_back_keeps_what_it_counted_at_levels_that_stay():
    levels = Levels()
    batch = levels.batch()
    batch.note("a", StageLevel(4, {(1,): 1}))
    batch.note("b", StageLevel(2, {(2,): 1}))
    batch.settle()
    levels.set_state({"a": 4}, same_stream=True)
    assert (levels.of("a").seen, levels.of("b")) == ({(1,): 1}, StageLevel())


def test_a_twin_begins_with_the_levels_of_its_pipeline_and_goes_its_own_way():
    levels = Levels()
    batch = levels.batch()
    batch.note("a", StageLevel(4))
    batch.settle()
    twin = levels.copy()
    noted = twin.batch()
    assert noted.of("a").number == 4
    noted.note("a", StageLevel(6))
    noted.settle()
    assert (twin.get_state(), levels.get_state()) == ({"a": 6}, {"a": 4})
