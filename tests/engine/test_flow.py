"""Several batches on their way at once: what overlaps, what comes in which order, and what is kept."""

import dataclasses
import gc
import threading
import time
import weakref

import numpy as np
import pytest
from support.faults import PATIENCE, batches, in_thread, until
from support.numbers import NumberReader, numbers

import jdali
from jdali import fn
from jdali._errors import SampleError
from jdali._operators.record import REGISTRY
from jdali.engine.workers import Pool
from jdali.graph import call_operator

# As a decoder: samples are worked on in any order, several at a time.
DECODER = dataclasses.replace(REGISTRY["python_function"], name="decoder", effects=False)


def decoding(size, batch_size, work, **options):
    """Numbers that go through `work`, one by one on the host, and then through a compiled stage that adds 1."""
    pipe = jdali.Pipeline(batch_size=batch_size, num_threads=2, seed=1, **options)
    with pipe:
        value = numbers(NumberReader(size))
        pipe.set_outputs(call_operator(DECODER, (value,), {"function": work}, device="cpu") + 1)
    return pipe


class Slow:
    """Keeps one number waiting until others were begun."""

    def __init__(self, number, until_begun):
        self.number, self.until_begun = number, until_begun
        self.begun, self.opened = [], threading.Event()

    def __call__(self, value):
        number = int(value[0])
        self.begun.append(number)
        if number == self.until_begun:
            self.opened.set()
        if number == self.number:
            assert self.opened.wait(PATIENCE), "the next batch was not begun"
        return value


@pytest.mark.parametrize("on_error", ["raise", "skip", "mask"])
def test_the_next_batch_is_begun_while_the_slowest_sample_is_worked_on(on_error):
    """Else this would not come to an end: number 3 waits for number 4, which is of the next batch."""
    work = Slow(3, 4)
    with decoding(8, 4, work, on_error=on_error) as pipe:
        assert [pipe.run()[0].as_array().ravel().tolist() for _ in range(2)] == [[1, 2, 3, 4], [5, 6, 7, 8]]


@pytest.mark.parametrize("on_error", ["skip", "mask"])
def test_batches_that_were_begun_have_the_samples_that_they_must_have(on_error):
    """Number 2 turns out to be bad when the batches after it are made already."""
    made = []

    def work(value):
        number = int(value[0])
        made.append(number)
        if number == 2:
            assert until(lambda: {6, 7} <= set(made)), "nothing was begun meanwhile"
            raise SampleError("bad")
        return value

    def rows(**options):
        with decoding(10, 4, work, on_error=on_error, **options) as pipe:
            got = []
            for _ in range(5):
                result = pipe.run_result()
                got.append((result.outputs[0].as_array().ravel().tolist(), result.mask.tolist()))
            return got, [error.index for error in pipe.errors]

    ahead = rows()
    made += [6, 7]  # one by one nothing is begun
    alone = rows(exec_async=False, exec_pipelined=False)
    assert ahead == alone
    assert ahead[0][0] == ([1, 2, 4, 4], [True, True, False, True])


def test_errors_are_listed_with_the_batch_that_they_are_of():
    def work(value):
        if int(value[0]) in (1, 5):
            raise SampleError("bad")
        return value

    with decoding(8, 2, work, on_error="mask") as pipe:
        seen = []
        for _ in range(4):
            pipe.run()
            seen.append([error.index for error in pipe.errors])
    assert seen == [[1], [1], [1, 5], [1, 5]]


def test_no_more_batches_are_made_than_fit():
    """Nobody takes any: `prefetch_queue_depth` of them wait, and one more is made."""
    read = []
    pipe = jdali.Pipeline(batch_size=2, num_threads=1, seed=1, prefetch_queue_depth=3)
    with pipe:
        pipe.set_outputs(numbers(NumberReader(100, delay=read.append)) + 1)
    with pipe:
        assert pipe.run()[0].as_array().ravel().tolist() == [1, 2]
        assert until(lambda: len(read) == 10)
        assert not until(lambda: len(read) > 10, 0.3)


def test_values_are_let_go_of_after_their_last_use():
    """What the host made is gone when the last step that reads it is done, not when the batch is."""
    alive, at_the_end = [], []

    def large(value):
        result = np.zeros((1000,), np.float32)
        alive.append(weakref.ref(result))
        return result

    def small(value):
        return value[:1].copy()

    def last(value):
        gc.collect()
        at_the_end.append(sum(ref() is not None for ref in alive))
        return value

    pipe = jdali.Pipeline(batch_size=3, num_threads=1, seed=1, exec_async=False, exec_pipelined=False)
    with pipe:
        value = fn.python_function(fn.external_source(source=batches(1, 3)), function=large)
        value = fn.python_function(value, function=small)
        pipe.set_outputs(fn.python_function(value, function=last))
    with pipe:
        pipe.run()
    assert at_the_end == [0, 0, 0]


def test_the_older_batch_goes_first():
    pool, gate, done = Pool(1), threading.Event(), []
    try:
        running = pool._workers.submit(gate.wait, PATIENCE)
        assert until(running.running)
        waiting = []
        for order in (7, 3):
            waiting.append(
                in_thread(
                    lambda order=order: pool.at(order).run_all(done.append, [f"{order}.0", f"{order}.1"])
                )
            )
            assert until(lambda: len(pool._workers._tasks._heap) == 2 * len(waiting))
        gate.set()
        for ended in waiting:
            ended()
        assert done == ["3.0", "3.1", "7.0", "7.1"]
    finally:
        pool.close()


def test_of_threads_that_ask_for_the_first_batch_one_builds():
    before = set(threading.enumerate())  # pipelines of other tests may still end
    together = threading.Barrier(3)
    pipe = jdali.Pipeline(batch_size=1, num_threads=1, seed=1)
    with pipe:
        pipe.set_outputs(numbers(NumberReader(30)))

    def ask():
        together.wait(PATIENCE)
        return int(pipe.run()[0].at(0)[0])

    with pipe:
        assert sorted(result() for result in [in_thread(ask) for _ in range(3)]) == [0, 1, 2]
        assert [t.name for t in set(threading.enumerate()) - before].count("jdali-keeper") == 1


def test_who_waits_for_a_batch_that_another_thread_makes_sleeps(monkeypatch):
    """Without prefetching the thread that schedules a batch makes it, as long as that takes."""
    begun, go_on, looks = threading.Event(), threading.Event(), []

    def work(value):
        begun.set()
        assert go_on.wait(PATIENCE)
        return value

    pipe = jdali.Pipeline(batch_size=1, num_threads=1, seed=1, prefetch_queue_depth=1, exec_pipelined=False)
    with pipe:
        pipe.set_outputs(fn.python_function(np.uint8([7]), function=work))
    with pipe:
        pipe.build()
        changed = pipe.internals().window._flight.changed
        wait_for = changed.wait_for
        monkeypatch.setattr(changed, "wait_for", lambda condition: (looks.append(1), wait_for(condition))[1])
        scheduled = in_thread(pipe.schedule_run)
        assert begun.wait(PATIENCE)
        taken = in_thread(pipe.run)
        time.sleep(0.2)  # enough to look thousands of times
        go_on.set()
        scheduled()
        assert int(taken()[0].at(0)[0]) == 7
    assert len(looks) < 10
