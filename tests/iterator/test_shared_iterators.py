"""One iterator, or one pipeline, in several threads: each batch once, and states set in the middle of it."""

import contextlib
import threading
from itertools import chain

import numpy as np
import pytest
from support.faults import PATIENCE, in_thread, until
from support.numbers import NumberReader, numbers, pipeline

import jdali
from jdali import fn
from jdali.iterator import DataIterator
from jdali.plugin.jax import DALIGenericIterator
from jdali.plugin.jax.clu import DALIGenericPeekableIterator

pytestmark = pytest.mark.timeout(180)
SIZE, THREADS = 64, 4


def grain_iterator(*args, **options):
    plugin = pytest.importorskip("jdali.plugin.grain", reason="Grain is not installed", exc_type=ImportError)
    return plugin.DatasetIterator(DataIterator(*args, **options))


def torch_iterator(*args, **options):
    plugin = pytest.importorskip(
        "jdali.plugin.pytorch", reason="PyTorch is not installed", exc_type=ImportError
    )
    return plugin.DALIGenericIterator(*args, **options)


KINDS = {
    "DataIterator": DataIterator,
    "plugin.jax": DALIGenericIterator,
    "clu": DALIGenericPeekableIterator,
    "grain": grain_iterator,
    "pytorch": torch_iterator,
}


def value(batch):
    (of_pipeline,) = batch if isinstance(batch, list) else [batch]
    return int(of_pipeline["x"][0, 0])


def together(work):
    """What `work` returns in each of several threads that begin at the same moment."""
    barrier = threading.Barrier(THREADS)

    def begin():
        barrier.wait(PATIENCE)
        return work()

    return [result() for result in [in_thread(begin) for _ in range(THREADS)]]


def all_of(it):
    got = []
    while True:
        try:
            got.append(value(next(it)))
        except StopIteration:
            return got


@pytest.mark.cases(4)
@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_each_batch_goes_to_one_thread_and_the_end_to_all(kind, ahead):
    """Two epochs; the threads that come too late for a batch get no batch of the next epoch."""
    it = KINDS[kind](pipeline(SIZE, 1, pipeline_args={"exec_async": ahead}), ["x"], reader_name="Reader")
    own = getattr(it, "_own", it)
    for _ in range(2):
        assert sorted(chain.from_iterable(together(lambda: all_of(it)))) == list(range(SIZE))
        own.reset()
    assert value(next(it)) == 0
    it.close()


def test_looking_ahead_in_several_threads_loses_nothing():
    with DALIGenericPeekableIterator(pipeline(SIZE, 1), ["x"], reader_name="Reader") as it:

        def look_and_take():
            got = []
            while True:
                try:
                    it.peek()
                    got.append(value(next(it)))
                except StopIteration:
                    return got

        assert sorted(chain.from_iterable(together(look_and_take))) == list(range(SIZE))


@pytest.mark.parametrize("ahead", [True, False])
def test_runs_of_a_pipeline(ahead):
    def iter_numbers():
        for i in range(SIZE):
            yield np.full((1,), i, np.int32)

    pipe = jdali.Pipeline(batch_size=1, num_threads=2, seed=1, exec_async=ahead)
    with pipe:
        pipe.set_outputs(fn.external_source(iter_numbers, cycle="raise"))

    def work():
        return [int(outputs[0].at(0)) for outputs in pipe]

    for _ in range(2):
        assert sorted(chain.from_iterable(together(work))) == list(range(SIZE))
        with pytest.raises(StopIteration):
            pipe.run()
        pipe.reset()
    pipe.close()


def test_the_state_is_that_after_the_last_batch_that_any_thread_took():
    """However the threads take turns: what comes after the state is what none of them had."""
    with DataIterator(pipeline(SIZE, 1), ["x"], reader_name="Reader") as it:
        for _ in range(5):
            start = it.get_state()
            taken = together(lambda: [value(next(it)) for _ in range(4)])
            state, expected = it.get_state(), value(next(it))
            assert expected == max(chain.from_iterable(taken)) + 1
            it.set_state(state)
            assert value(next(it)) == expected
            it.set_state(start)


class Gate:
    """A function of a number, or a source of numbers; number `at` is not there before the gate is opened."""

    def __init__(self, at):
        self.at, self.opened, self.reached = at, threading.Event(), threading.Event()

    def __call__(self, number):
        if number == self.at and not self.opened.is_set():
            self.reached.set()
            assert self.opened.wait(PATIENCE)
        return np.full((1, 1), number, np.int32)


def gated(at, *, in_source=False):
    """A pipeline of the numbers 0, 1, 2, ..., and the gate that number `at` must pass: in a reader, or in the source."""
    gate = Gate(at)
    pipe = jdali.Pipeline(batch_size=1, num_threads=1, seed=1, prefetch_queue_depth=1)
    with pipe:
        if in_source:
            pipe.set_outputs(fn.external_source(gate))
        else:
            pipe.set_outputs(numbers(NumberReader(SIZE, delay=gate)))
    return gate, pipe


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_is_set_while_another_thread_waits(kind):
    """The thread that waits for batch 3 gets batch 1: `set_state` went back there."""
    gate, pipe = gated(3)
    it = KINDS[kind](pipe, ["x"], size=SIZE)
    next(it)
    state = it.get_state()
    assert [value(next(it)) for _ in range(2)] == [1, 2]
    assert gate.reached.wait(PATIENCE)
    waiting = in_thread(lambda: value(next(it)))
    own, begun = getattr(it, "_own", it), threading.Event()
    set_state = own._stream.set_state

    def told(state):
        begun.set()
        set_state(state)

    own._stream.set_state = told
    setting = in_thread(lambda: it.set_state(state))
    assert begun.wait(PATIENCE)
    gate.opened.set()  # it waits for the source to return: user's code is not killed
    setting()
    assert waiting() == 1
    assert [value(next(it)) for _ in range(3)] == [2, 3, 4]
    it.close()


def test_a_pipelines_state_is_set_while_another_thread_waits():
    gate, pipe = gated(3)
    pipe.run()
    state = pipe.get_state()
    assert [int(pipe.run()[0].at(0)[0]) for _ in range(2)] == [1, 2]
    assert gate.reached.wait(PATIENCE)
    waiting = in_thread(lambda: int(pipe.run()[0].at(0)[0]))
    begun, set_state = threading.Event(), pipe.internals().window.set_state

    def told(state):
        begun.set()
        set_state(state)

    pipe.internals().window.set_state = told
    setting = in_thread(lambda: pipe.set_state(state))
    assert begun.wait(PATIENCE)
    gate.opened.set()
    setting()
    assert waiting() == 1
    assert int(pipe.run()[0].at(0)[0]) == 2
    pipe.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_is_set_while_another_thread_is_in_the_source(kind):
    """That thread gets the batch that it asked for or, if the state is set before, the first one behind it."""
    gate, pipe = gated(3, in_source=True)
    it = KINDS[kind](pipe, ["x"], size=SIZE)
    next(it)
    state = it.get_state()
    assert [value(next(it)) for _ in range(2)] == [1, 2]
    waiting = in_thread(lambda: value(next(it)))
    assert gate.reached.wait(PATIENCE)
    setting = in_thread(lambda: it.set_state(state))
    gate.opened.set()
    setting()
    got = waiting()
    assert got in (1, 3)
    assert [value(next(it)) for _ in range(2)] == ([1, 2] if got == 3 else [2, 3])
    it.close()


def test_states_set_again_and_again_while_threads_take_batches():
    """After each `set_state`, and before the next, every thread's batches are those after the state."""
    with DataIterator(pipeline(SIZE, 1), ["x"], reader_name="Reader") as it:
        [next(it) for _ in range(10)]
        state = it.get_state()
        for _ in range(10):
            it.set_state(state)
            got = together(lambda: [value(next(it)) for _ in range(5)])
            assert sorted(chain.from_iterable(got)) == list(range(10, 30))
        stop = threading.Event()

        def take():
            while not stop.is_set():
                assert value(next(it)) >= 10

        taking = [in_thread(take) for _ in range(THREADS)]
        for _ in range(20):
            it.set_state(state)
        it.set_state(state)
        stop.set()
        # The epoch may be over before a thread comes to know that it should stop.
        for done in taking:
            with contextlib.suppress(StopIteration):
                done()


@pytest.mark.parametrize("kind", KINDS)
def test_closing_ends_all_waits_with_a_clear_error(kind):
    gate, pipe = gated(1)
    it = KINDS[kind](pipe, ["x"], size=SIZE)
    next(it)
    waiting = [in_thread(lambda: next(it)) for _ in range(THREADS)]
    assert gate.reached.wait(PATIENCE)
    closed = in_thread(it.close)
    for wait in waiting:
        with pytest.raises((RuntimeError, ValueError), match="closed"):
            wait()
    gate.opened.set()
    closed()


def test_closing_while_a_thread_is_in_the_source():
    """It and those behind it are told when the source returns."""
    gate, pipe = gated(1, in_source=True)
    it = DataIterator(pipe, ["x"], size=SIZE)
    next(it)
    waiting = [in_thread(lambda: next(it)) for _ in range(THREADS)]
    assert gate.reached.wait(PATIENCE)
    closed = in_thread(it.close)
    assert until(lambda: pipe.internals().window.stopped)
    gate.opened.set()
    for wait in waiting:
        with pytest.raises(RuntimeError, match="closed"):
            wait()
    closed()


def test_the_reset_in_one_thread_is_the_next_epoch_of_all():
    with DataIterator(pipeline(8, 1), ["x"], reader_name="Reader") as it:
        barrier = threading.Barrier(THREADS)

        def epochs():
            got = []
            for _ in range(3):
                got.append(all_of(it))
                if barrier.wait(PATIENCE) == 0:
                    it.reset()
                barrier.wait(PATIENCE)
            return got

        results = [result() for result in [in_thread(epochs) for _ in range(THREADS)]]
        for epoch in range(3):
            assert sorted(chain.from_iterable(of_thread[epoch] for of_thread in results)) == list(range(8))


def test_fed_pipelines():
    """A pipeline that is fed makes its batches in the threads that ask."""
    pipe = jdali.Pipeline(batch_size=1, num_threads=1, seed=1)
    with pipe:
        pipe.set_outputs(fn.external_source(name="fed"))
    for i in range(16):
        pipe.feed_input("fed", np.full((1, 1), i, np.int32))
    with DataIterator(pipe, ["x"], size=SIZE) as it:
        got = together(lambda: [value(next(it)) for _ in range(4)])
        assert sorted(chain.from_iterable(got)) == list(range(16))
