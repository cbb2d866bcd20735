"""Samples that fail: who is to blame, what is listed, and what comes in their place."""

import numpy as np
import pytest
from support.nodes import sample_ids, source_node

from jdali import SampleError
from jdali._batches.provenance import Drawn, Provenance
from jdali.engine.failure import NodeFailure
from jdali.engine.recovery.blame import Blamed, blame, replace, to_be_listed, with_their_copies
from jdali.engine.tasks.feed import DrawnBatch
from jdali.engine.tasks.refill import Refills
from jdali.engine.tasks.sample_ids import SampleIds

NODE, ERROR = source_node(), SampleError("broken")


def drawn(count=4, *, refs=None, data=None):
    index = np.arange(10, 10 + count)
    return DrawnBatch(refs or {}, data or {}, np.zeros(count, np.uint32), index, np.ones(count, bool))


def failure(*samples):
    return NodeFailure(NODE, dict.fromkeys(samples, ERROR))


class TestBlame:
    def test_without_provenance_it_is_the_position_in_the_batch(self):
        branch = SampleIds(np.zeros(2, np.uint32), np.arange(2), np.array([3, 5]))
        assert blame(failure(1), branch, None) == {5: Blamed(ERROR)}

    def test_what_served_another_sample_well_is_not_to_blame(self):
        source = Drawn(str, np.arange(4))
        made_of = Provenance((source,), np.array([[0, 1], [1, 2]]), 2)
        assert blame(failure(0), sample_ids(2), made_of) == {0: Blamed(ERROR, [source])}

    def test_all_are_where_nothing_tells_them_apart(self):
        source = Drawn(str, np.arange(4))
        made_of = Provenance((source,), np.array([[0, 1], [0, 1]]), 2)
        assert set(blame(failure(0), sample_ids(2), made_of)) == {0, 1}
        assert set(blame(failure(0, 1), sample_ids(2), made_of)) == {0, 1}


def test_copies_of_a_bad_sample_are_bad():
    draw, why = drawn(6), Blamed(ERROR)
    draw.copied_from = {2: 0, 3: 0}
    draw.stand_ins = {1: 7, 4: 7, 5: 8}
    assert with_their_copies(draw, {2: why}) == dict.fromkeys([0, 2, 3], why)
    assert with_their_copies(draw, {1: why}) == dict.fromkeys([1, 4], why)


def test_repetitions_and_stand_ins_are_not_listed():
    refs = (np.array([0, 0, 1], np.uint32), np.array([5, 6, 0]), np.array([False, True, False]))
    source = Drawn(lambda i: f"file {i}", refs[1], NODE)
    draw = drawn(3, refs={NODE: refs})
    blamed = {i: Blamed(ERROR, [source]) for i in range(3)}
    listed = to_be_listed(draw, failure(0), blamed)
    assert [(s.path, s.epoch, s.index) for s in listed] == [("file 5", 0, 5), ("file 0", 1, 0)]
    assert {(s.operator, s.reason) for s in listed} == {("external_source", "broken")}
    draw.mask[0] = False
    assert [s.index for s in to_be_listed(draw, failure(0), blamed)] == [0]


def samples(values):
    return {NODE: [[np.array(v) for v in values]]}


def values(draw):
    return [[sample.item() for sample in output] for output in draw.data[NODE]]


class TestReplaceDataOfTheUser:
    def test_masked_ones_repeat_a_good_one(self):
        draw = drawn(data=samples("abcd"))
        assert replace(draw, {0: Blamed(ERROR), 2: Blamed(ERROR)}, Refills({}), "mask") == {0, 2}
        assert values(draw) == [["b", "b", "b", "d"]]
        assert draw.index.tolist() == [11, 11, 11, 13]
        assert draw.mask.tolist() == [False, True, False, True]
        assert draw.copied_from == {0: 1, 2: 1}

    def test_skipped_ones_make_the_batch_smaller(self):
        draw = drawn(data=samples("abcd"))
        assert replace(draw, {0: Blamed(ERROR), 2: Blamed(ERROR)}, Refills({}), "skip") == {0, 1, 2, 3}
        assert values(draw) == [["b", "d"]]
        assert draw.index.tolist() == [11, 13]
        assert len(draw.mask) == len(draw) == 2

    @pytest.mark.parametrize("on_error", ["mask", "skip"])
    def test_nothing_is_left_where_all_are_bad(self, on_error):
        draw = drawn(2, data=samples("ab"))
        replace(draw, {0: Blamed(ERROR), 1: Blamed(ERROR)}, Refills({}), on_error)
        assert len(draw) == 0
        assert values(draw) == [[]]
