"""Threads that do tasks: many that are waited for together, in order, left out, cancelled."""

import contextlib
import gc
import threading
import weakref
from concurrent.futures import CancelledError

import pytest

from jdali._threads.worker_threads import WorkerThreads


@pytest.fixture
def pool():
    threads = WorkerThreads(2, "test")
    yield threads
    threads.shutdown(cancel_futures=True)


class Wrong(Exception):
    pass


def fail_if(bad):
    def call(number):
        if number in bad:
            raise Wrong(number)
        return 2 * number

    return call


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_results_are_in_the_order_of_the_arguments(pool, count):
    assert pool.run_all(lambda n: 10 * n, range(count)) == [10 * n for n in range(count)]


def test_the_first_that_fails_is_raised(pool):
    for _ in range(50):  # whichever thread comes first
        with pytest.raises(Wrong, match="2"):
            pool.run_all(fail_if({2, 3, 6}), range(8))


def test_it_returns_when_all_that_began_are_over(pool):
    begun, go_on, over = threading.Event(), threading.Event(), []

    def call(number):
        if number == 0:
            assert begun.wait(10)
            threading.Timer(0.05, go_on.set).start()
            raise Wrong
        begun.set()
        assert go_on.wait(10)
        over.append(number)

    with pytest.raises(Wrong):
        pool.run_all(call, range(2))
    assert over == [1]


def test_calls_behind_one_that_failed_are_left_out():
    made = []
    one = WorkerThreads(1, "test")

    def call(number):
        made.append(number)
        if number == 1:
            raise Wrong

    with pytest.raises(Wrong):
        one.run_all(call, range(5))
    one.shutdown()
    assert made == [0, 1]


def test_a_lower_order_goes_first():
    one, made, blocked, go_on = WorkerThreads(1, "test"), [], threading.Event(), threading.Event()

    def block():
        blocked.set()
        assert go_on.wait(10)

    one.submit(block)
    assert blocked.wait(10)
    waiting = [
        threading.Thread(target=one.run_all, args=(made.append, [(order, 0), (order, 1)], order))
        for order in (2, 1)
    ]
    for thread in waiting:
        thread.start()
    while len(one._tasks._heap) < 4:
        pass
    go_on.set()
    for thread in waiting:
        thread.join()
    one.shutdown()
    assert made == [(1, 0), (1, 1), (2, 0), (2, 1)]


def test_who_waits_for_what_is_cancelled_is_told():
    one, blocked, go_on, outcome = WorkerThreads(1, "test"), threading.Event(), threading.Event(), []

    def call(number):
        blocked.set()
        assert go_on.wait(10)

    def wait():
        try:
            one.run_all(call, range(3))
        except CancelledError as error:
            outcome.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert blocked.wait(10)
    one.shutdown(wait=False, cancel_futures=True)
    assert not outcome  # the one that has begun is not over
    go_on.set()
    waiting.join()
    assert len(outcome) == 1
    with pytest.raises(RuntimeError, match="the pipeline is closed"):
        one.run_all(call, range(1))


@pytest.mark.parametrize("bad", [set(), {1}])
def test_nothing_is_kept(pool, bad):
    """No cycles: what was worked on goes with the last reference, not with the garbage collector."""

    class Data:
        pass

    data = Data()
    alive = weakref.ref(data)

    def call(number, data=data):
        return fail_if(bad)(number)

    gc.disable()
    try:
        with contextlib.suppress(Wrong):
            pool.run_all(call, range(3))
        pool.run_all(int, range(2))  # no thread still holds its last task
        del call, data
        assert alive() is None
    finally:
        gc.enable()
