"""The loop around `make`: each way through its states, with results that are made up here."""

import functools

import numpy as np
import pytest
from support.nodes import source_node
from support.numbers import NumberReader

from jdali import OperatorError, SampleError
from jdali._batches.provenance import Drawn
from jdali._sources import SourceFeed
from jdali.engine.recovery.batch_result import AttemptFailure, BatchResult
from jdali.engine.recovery.blame import Blamed
from jdali.engine.recovery.memo import Memo
from jdali.engine.recovery.recovery import Recovery
from jdali.engine.recovery.refill import MOST_TRIED
from jdali.engine.tasks.feed import Feed
from jdali.graph import Graph


class Maker:
    """Makes batches of a reader called "source", of which some numbers are bad."""

    def __init__(self, *bad, of_code=False):
        self.bad, self.of_code = bad, of_code
        self.made = []

    def __call__(self, task, memo=None):
        refs = task.refs["source"]
        self.made.append(refs.indices.tolist())
        drawn = Drawn("number {}".format, refs.indices, "source")
        failed = np.flatnonzero(np.isin(refs.indices, self.bad)).tolist()
        if not failed:
            return BatchResult(task, (), memo=memo)
        cause = SampleError("bad")
        blamed = {} if self.of_code else {i: Blamed(cause, [drawn]) for i in failed}
        user_error = functools.partial(OperatorError, "decoder: bad")
        return BatchResult(task, (), 0, AttemptFailure("decoder", cause, user_error, blamed), memo)


def feed_of(size):
    return Feed({source_node(): NumberReader(size)}, {})


def settle(recovery, maker, drawn=None):
    drawn = drawn or recovery.feed.draw(3)
    return recovery.settle(drawn, maker(drawn.task), maker)


def numbers(settled):
    return settled.result.task.refs["source"].indices.tolist()


def test_a_good_batch_is_made_once():
    recovery, maker = Recovery(feed_of(9), "skip"), Maker()
    settled = settle(recovery, maker)
    assert (numbers(settled), settled.lost, maker.made) == ([0, 1, 2], None, [[0, 1, 2]])
    assert settled.state["position"] == 3
    assert recovery.errors == []


def test_failed_samples_are_replaced_up_to_good_ones():
    recovery, maker = Recovery(feed_of(9), "skip"), Maker(1, 3)
    settled = settle(recovery, maker)
    assert maker.made == [[0, 1, 2], [0, 3, 2], [0, 4, 2]]
    assert settled.state["ahead"] == {"source": [0, 2, 0, 0]}
    assert [(e.path, e.index, e.operator, e.reason) for e in recovery.errors] == [
        ("number 1", 1, "decoder", "bad"), ("number 3", 3, "decoder", "bad")
    ]  # fmt: skip


def test_a_batch_drawn_with_samples_that_another_took_is_corrected():
    recovery, maker = Recovery(feed_of(9), "skip"), Maker(1)
    first, second = recovery.feed.draw(3), recovery.feed.draw(3)
    early = maker(second.task)
    settle(recovery, maker, first)
    assert numbers(recovery.settle(second, early, maker)) == [4, 5, 6]
    assert maker.made == [[3, 4, 5], [0, 1, 2], [0, 3, 2], [4, 5, 6]]
    assert second.task.refs["source"].indices.tolist() == [3, 4, 5]  # as it was drawn


def test_the_end_of_an_epoch_with_bad_samples_is_made_once():
    """The good sample that fills it is the one that was expected when the batch was drawn."""
    recovery, maker = Recovery(feed_of(8), "skip"), Maker(1)
    settle(recovery, maker)
    second, third = recovery.feed.draw(3), recovery.feed.draw(3)
    results = [maker(drawn.task) for drawn in (second, third)]
    assert [numbers(recovery.settle(d, r, maker)) for d, r in zip((second, third), results, strict=True)] == [
        [4, 5, 6], [7, 4, 0]
    ]  # fmt: skip
    assert maker.made == [[0, 1, 2], [0, 3, 2], [4, 5, 6], [7, 4, 0]]


def test_what_is_still_right_is_remembered_and_what_is_not_forgotten():
    recovery, memo, drawn = Recovery(feed_of(9), "mask"), Memo(), None
    maker = Maker(1)
    drawn = recovery.feed.draw(3)
    memo.samples = {(5, position): "made" for position in range(3)}
    settled = recovery.settle(drawn, maker(drawn.task, memo), maker)
    assert settled.result.memo is memo
    assert set(memo.samples) == {(5, 0), (5, 2)}
    assert settled.result.task.mask.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("on_error", "maker"),
    [("raise", Maker(1)), ("skip", Maker(1, of_code=True)), ("mask", Maker(*range(9)))],
    ids=["raise", "an error of the code", "nothing can be read"],
)
def test_errors_that_nothing_replaces_are_raised(on_error, maker):
    with pytest.raises(OperatorError, match="decoder: bad") as caught:
        settle(Recovery(feed_of(9), on_error), maker)
    assert isinstance(caught.value.__cause__, SampleError)


class TestLost:
    """Batches of an external source, whose samples are all bad."""

    def recovery(self):
        source = SourceFeed(lambda: np.zeros(256))
        return Recovery(Feed({}, {source_node(Graph(), "fed"): source}), "skip")

    def make(self, task, memo=None):
        drawn = Drawn(lambda i: "", np.arange(len(task)), "fed")
        blamed = {i: Blamed(SampleError("bad"), [drawn]) for i in range(len(task))}
        failure = AttemptFailure(
            "decoder", SampleError("bad"), functools.partial(OperatorError, "bad"), blamed
        )
        return BatchResult(task, (), 0, failure)

    def settle(self, recovery):
        drawn = recovery.feed.draw(256)
        return recovery.settle(drawn, self.make(drawn.task), self.make)

    def test_they_have_no_samples_and_an_error_follows_many(self):
        recovery = self.recovery()
        for _ in range(2):  # it begins anew behind the error
            for _ in range(MOST_TRIED // 256 - 1):
                settled = self.settle(recovery)
                assert len(settled.result.task) == 0
                assert str(settled.lost) == "bad"
            with pytest.raises(OperatorError, match="bad"):
                self.settle(recovery)


def test_a_twin_settles_other_batches():
    recovery, maker = Recovery(feed_of(9), "skip"), Maker(1)
    settle(recovery, maker)
    twin = recovery.twin()
    assert numbers(settle(twin, maker)) == [4, 5, 6]
    assert twin.errors == []
    assert numbers(settle(recovery, maker)) == [4, 5, 6]
