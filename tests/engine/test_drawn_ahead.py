"""Functions of external sources are called where DALI calls them: by whoever takes batches, some batches ahead."""

import gc
import importlib
import threading
import traceback
import weakref

import numpy as np
import pytest
from support import oracle
from support.faults import jdali_threads, until

import jdali
from jdali import fn
from jdali.iterator import DataIterator
from jdali.pipeline import Pipeline


class Calls:
    """A callback that notes who called it when."""

    def __init__(self, end=99):
        self.end, self.numbers, self.threads = end, [], set()

    def __call__(self, number):
        self.numbers.append(number)
        self.threads.add(threading.current_thread())
        if number >= self.end:
            raise StopIteration
        return [np.full((1,), number, np.int32)] * 2


def pipeline_of(source, package=jdali, **options):
    @package.pipeline_def(**{"batch_size": 2, "num_threads": 2, "device_id": None, **options})
    def pipeline():
        return package.fn.external_source(source=source)

    return pipeline()


def calls_of_runs(package, depth, runs=9):
    """The calls behind each run; after the end the pipeline is reset."""
    calls, counts = Calls(end=5), []
    pipe = pipeline_of(calls, package, prefetch_queue_depth=depth)
    pipe.build()
    for _ in range(runs):
        try:
            pipe.run()
        except StopIteration:
            pipe.reset()
        counts.append(list(calls.numbers))
    assert calls.threads == {threading.current_thread()}
    return counts


@pytest.mark.oracle
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_calls_are_those_of_dali(depth):
    dali = oracle.dali()
    importlib.import_module("nvidia.dali.fn")
    assert calls_of_runs(jdali, depth) == calls_of_runs(dali, depth)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_each_run_calls_for_one_batch_more(depth):
    """With `depth` batches ahead, that which is returned among them; nothing is called beyond the end (number 5)."""
    counts = [len(numbers) for numbers in calls_of_runs(jdali, depth, runs=6)]
    assert counts == [min(run + depth, 6) for run in range(6)]


def test_random_numbers_of_the_program_and_of_a_callback_do_not_mix():
    """`np.random` has one state: what a program and its callbacks take from it is the same in each run."""

    shared = np.random.mtrand  # what `np.random.seed` and the like work on

    def taken():
        shared.seed(7)
        pipe = pipeline_of(lambda: [shared.random(3)] * 2)
        rows = []
        for _ in range(20):
            rows.append(np.asarray(pipe.run()[0].at(0)))
            rows.append(shared.random(3))
        pipe.close()
        return np.array(rows)

    np.testing.assert_array_equal(taken(), taken())


def test_batches_are_made_in_the_background():
    """A function that gets the batch of the next run runs, though nobody asks for it yet."""
    seen = []

    @jdali.pipeline_def(batch_size=2, num_threads=2)
    def pipeline():
        return fn.python_function(fn.external_source(Calls()), function=lambda x: seen.append(int(x[0])) or x)

    pipe = pipeline()
    pipe.run()
    assert until(lambda: 1 in seen)
    pipe.close()


def setups_of_runs(package, depth, runs=9):
    """The calls of `iter_setup` behind each run; after the end the pipeline is reset."""

    class Fed(package.Pipeline):  # type: ignore[name-defined]
        def __init__(self):
            super().__init__(batch_size=2, num_threads=2, device_id=None, prefetch_queue_depth=depth)
            self.calls, self.threads = 0, set()

        def define_graph(self):
            self.node = package.fn.external_source()
            return self.node

        def iter_setup(self):
            self.calls += 1
            self.threads.add(threading.current_thread())
            if self.calls % 6 == 0:
                raise StopIteration
            self.feed_input(self.node, np.full((2, 1), self.calls, np.int32))

    pipe, rows = Fed(), []
    pipe.build()
    for _ in range(runs):
        try:
            rows.append((pipe.run()[0].as_array().ravel().tolist(), pipe.calls))
        except StopIteration:
            rows.append(("end", pipe.calls))
            pipe.reset()
    assert pipe.threads == {threading.current_thread()}
    return rows


@pytest.mark.oracle
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_iter_setup_is_called_as_by_dali(depth):
    dali = oracle.dali()
    importlib.import_module("nvidia.dali.fn")
    assert setups_of_runs(jdali, depth) == setups_of_runs(dali, depth)


def test_iter_setup_is_called_ahead():
    assert setups_of_runs(jdali, 2, runs=7) == [
        ([1, 1], 2), ([2, 2], 3), ([3, 3], 4), ([4, 4], 5), ([5, 5], 6), ("end", 6), ([7, 7], 8),
    ]  # fmt: skip


def test_an_error_in_iter_setup_comes_in_its_turn():
    class Fed(Pipeline):
        calls = 0

        def define_graph(self):
            return fn.external_source(name="x")

        def iter_setup(self):
            self.calls += 1
            if self.calls == 2:
                raise ZeroDivisionError("two is right out")
            self.feed_input("x", np.full((2, 1), self.calls, np.int32))

    pipe = Fed(batch_size=2, num_threads=1)
    assert int(pipe.run()[0].at(0)[0]) == 1
    with pytest.raises(ZeroDivisionError, match="right out"):
        pipe.run()
    assert int(pipe.run()[0].at(0)[0]) == 3
    pipe.close()


def test_iter_setup_may_be_a_static_method():
    class Fed(Pipeline):
        def define_graph(self):
            return fn.external_source(name="x")

        @staticmethod
        def iter_setup():
            pipe.feed_input("x", np.full((2, 1), 3, np.int32))

    pipe = Fed(batch_size=2, num_threads=1)
    assert int(pipe.run()[0].at(0)[0]) == 3
    pipe.close()


def test_a_pipeline_with_iter_setup_that_is_dropped_ends():
    before = jdali_threads()
    setups_of_runs(jdali, 2, runs=3)
    gc.collect()
    assert until(lambda: not jdali_threads() - before)


@pytest.mark.parametrize("prepare", [True, False])
def test_an_iterator_calls_in_the_thread_of_its_loop(prepare):
    calls = Calls()
    with DataIterator(pipeline_of(calls), ["x"], prepare_first_batch=prepare) as it:
        assert bool(calls.numbers) == prepare
        got = [int(next(it)["x"][0, 0]) for _ in range(4)]
    assert got == [0, 1, 2, 3]
    assert calls.threads == {threading.current_thread()}


def test_an_error_comes_in_place_of_its_batch():
    def source(number):
        if number == 2:
            raise ZeroDivisionError("two is right out")
        return np.full((2, 1), number, np.int32)

    pipe = pipeline_of(source)
    assert [int(pipe.run()[0].at(0)[0]) for _ in range(2)] == [0, 1]
    with pytest.raises(jdali.OperatorError, match="two is right out") as caught:
        pipe.run()
    assert "source" in [entry.name for entry in traceback.extract_tb(caught.value.__cause__.__traceback__)]
    assert [int(pipe.run()[0].at(0)[0]) for _ in range(2)] == [3, 4]
    pipe.close()


@pytest.mark.parametrize("error", [ZeroDivisionError, StopIteration])
def test_a_pipeline_that_is_dropped_before_an_error_was_taken_ends(error):
    def source(number):
        if number == 1:
            raise error
        return np.full((2, 1), number, np.int32)

    before = jdali_threads()

    def loop():
        pipe = pipeline_of(source)
        pipe.run()
        return weakref.ref(pipe)

    pipe = loop()
    gc.collect()
    assert pipe() is None
    assert until(lambda: not jdali_threads() - before)


def test_a_state_throws_away_what_was_drawn():
    calls = Calls()
    pipe = pipeline_of(calls, prefetch_queue_depth=3)
    state = pipe.get_state()
    pipe.run()
    pipe.set_state(state)
    assert [int(pipe.run()[0].at(0)[0]) for _ in range(3)] == [0, 1, 2]
    assert calls.numbers == [0, 1, 2, 0, 1, 2, 3, 4]
    pipe.close()


def test_what_was_scheduled_at_an_end_meets_the_end():
    pipe = pipeline_of(Calls(end=1))
    for _ in range(3):
        pipe.schedule_run()
    assert int(pipe.share_outputs()[0].at(0)[0]) == 0
    for _ in range(2):
        with pytest.raises(StopIteration):
            pipe.share_outputs()
    pipe.reset()
    assert int(pipe.run()[0].at(0)[0]) == 0
    pipe.close()


def test_one_pipeline_in_a_definition_of_its_own_begins_when_told():
    calls = Calls()
    pipe = Pipeline(batch_size=2, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.external_source(calls))
    pipe.begin()
    pipe.begin()
    assert calls.numbers == [0, 1]
    pipe.close()
