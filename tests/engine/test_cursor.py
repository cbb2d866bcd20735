"""The sources of a pipeline as one stream: what a batch gets, states, ends, and sources that fail."""

import numpy as np
import pytest
from support.nodes import source_node
from support.numbers import NumberReader

from jdali import OperatorError
from jdali._sources import SourceFeed
from jdali.engine.cursor import TaskCursor
from jdali.engine.task import EpochShare
from jdali.graph import Graph


def feed_of(*sources, readers=()):
    graph = Graph()
    return TaskCursor(
        {source_node(graph, f"reader{i}"): reader for i, reader in enumerate(readers)},
        {source_node(graph, f"source{i}"): SourceFeed(source) for i, source in enumerate(sources)},
    )


def data(drawn):
    given = drawn.data.values()
    return [[sample.item() for sample in output] for one in given for output in one.outputs]


def index(drawn):
    return drawn.ids.index.tolist()


def test_samples_of_external_sources_are_counted():
    feed = feed_of([np.array([1, 2, 3]), np.array([4, 5])])
    first, second = feed.draw(3), feed.draw(3)
    assert data(first) == [[1, 2, 3]]
    assert (index(first), index(second)) == ([0, 1, 2], [3, 4])
    with pytest.raises(StopIteration):
        feed.draw(3)
    assert feed.state_at_end(0)["position"] == 5
    feed.reset()
    assert (feed.epoch, feed.iteration, feed.position) == (1, 0, 0)
    assert feed.state_at_end(1) is None


def test_the_first_reader_says_who_the_samples_are():
    feed = feed_of([np.array([7, 8])] * 9, readers=[NumberReader(3), NumberReader(5)])
    feed.draw(2)
    task = feed.draw(2)
    assert task.ids.index.tolist() == [2, 0]
    assert task.ids.epoch.tolist() == [0, 1]
    assert {name: refs.indices.tolist() for name, refs in task.refs.items()} == {
        "reader0": [2, 0], "reader1": [2, 3]
    }  # fmt: skip
    assert task.mask.all()


def test_a_state_brings_all_sources_back():
    feed = feed_of([np.array([i]) for i in range(6)], readers=[NumberReader(10)])
    feed.draw(1)
    state = feed.get_state()
    expected = [(data(d), index(d)) for d in (feed.draw(1), feed.draw(1))]
    assert expected == [([[1]], [1]), ([[2]], [2])]
    feed.set_state(state)
    assert [(data(d), index(d)) for d in (feed.draw(1), feed.draw(1))] == expected
    with pytest.raises(ValueError, match=r"of the sources \['reader0'\], there are \[\]"):
        feed_of([np.array([1])]).set_state(state)


def test_a_twin_has_a_position_of_its_own():
    feed = feed_of([np.array([i]) for i in range(6)], readers=[NumberReader(10)])
    feed.draw(1)
    twin = feed.twin()
    assert [data(twin.draw(1)) for _ in range(2)] == [[[1]], [[2]]]
    assert index(feed.draw(1)) == [1]


def test_skipped_batches_are_not_drawn():
    feed = feed_of(readers=[NumberReader(10)])
    feed.skip(2, 3)
    assert index(feed.draw(3)) == [6, 7, 8]
    assert (feed.iteration, feed.position) == (3, 9)


def test_the_rest_of_an_epoch_is_left_out():
    feed = feed_of([np.array([i]) for i in range(6)], readers=[NumberReader(10)])
    feed.draw(1)
    state = feed.get_state()
    feed.draw(1)
    feed.leave_epoch(state, 3, 1)
    draw = feed.draw(1)
    assert (data(draw), index(draw)) == ([[4]], [4])


def test_a_source_that_fails_lets_the_others_go_on():
    def fail(i):
        if i == 0:
            raise KeyError("no such file")
        return np.array([10 + i])

    feed = feed_of(fail, [np.array([i]) for i in range(6)], readers=[NumberReader(10)])
    with pytest.raises(OperatorError, match=r"(?s)external_source: .*no such file.*defined at file\.py:1"):
        feed.draw(1)
    draw = feed.draw(1)
    assert data(draw) == [[11], [1]]
    assert index(draw) == [1]


def test_batches_of_different_sizes_are_refused_by_name():
    feed = feed_of([np.array([1, 2])], [np.array([1, 2, 3])])
    with pytest.raises(OperatorError, match='"source1" returned a batch size 3 .* 2 returned by "source0"'):
        feed.draw(3)
    assert feed.iteration == 1


class Steps:
    """Epochs of one batch after another, as an iterator counts them."""

    def __init__(self):
        self.told = []

    def draw(self):
        self.told.append("batch")
        return EpochShare(0, len(self.told) - 1, None, (1,))

    def end(self):
        self.told.append("end")


def test_an_iterator_decides_on_each_batch_when_it_is_drawn():
    """Also on one that fails: its samples are gone."""

    def fail(i):
        if i == 1:
            raise KeyError("no such file")
        if i == 3:
            raise StopIteration
        return np.array([i])

    feed = feed_of(fail)
    assert feed.draw(1).share is None
    feed.epochs = steps = Steps()
    with pytest.raises(OperatorError):
        feed.draw(1)
    assert feed.draw(1).share == EpochShare(0, 1, None, (1,))
    with pytest.raises(StopIteration):
        feed.draw(1)
    assert steps.told == ["batch", "batch", "end"]
