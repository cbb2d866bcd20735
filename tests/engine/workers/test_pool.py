"""Host operators: cheap ones are worked on in one thread, expensive ones by the pool."""

import threading
import time

import pytest

from jdali.engine.workers import Pool, ThreadPolicy


@pytest.fixture
def pool():
    pool = Pool(2)
    yield pool
    pool.close()


def calls(pool, function, count, policy):
    """Results, and the names of the threads that made them."""
    threads = []

    def noted(i):
        threads.append(threading.current_thread())
        return function(i)

    return pool.attempt(noted, count, policy)[0], threads


def test_cheap_calls_stay_in_this_thread(pool, monkeypatch):
    for name in ("CHEAP_SECONDS", "TRIVIAL_SECONDS"):  # however busy the machine is
        monkeypatch.setattr(ThreadPolicy, name, 10.0)
    policy = ThreadPolicy()
    for _ in range(3):
        results, threads = calls(pool, lambda i: i * i, 20, policy)
        assert results == [i * i for i in range(20)]
    assert set(threads) == {threading.current_thread()}


def test_expensive_calls_go_to_the_pool_after_the_first(pool, monkeypatch):
    # What the pool takes depends on how busy the machine is.
    monkeypatch.setattr(ThreadPolicy, "note_pool", lambda *_: None)
    policy, here = ThreadPolicy(), threading.current_thread()
    tried = 0
    for batch in range(20):
        results, threads = calls(pool, lambda i: time.sleep(0.002) or i, 6, policy)
        assert results == list(range(6))
        assert threads.count(here) in (0, 1)
        tried += threads.count(here)
        if batch == 0:
            assert threads.count(here) == 1
    assert tried == 5  # batches 0, 2, 5, 10 and 19: each time it waits twice as long


def test_a_pool_that_is_here_takes_no_thread():
    pool, names = Pool(2), []
    try:
        here = pool.here()

        def name(i):
            names.append(threading.current_thread())
            return 2 * i

        assert here.run_all(name, range(3)) == [0, 2, 4]
        assert set(names) == {threading.current_thread()}
        assert (here.threads, pool.threads) == (1, 2)
        assert pool.run_all(lambda _: threading.current_thread(), [0]) != [threading.current_thread()]
        with pytest.raises(ZeroDivisionError):
            here.run_all(lambda n: 1 // n, [0])
    finally:
        pool.close()


def test_failures_of_either_kind_name_their_samples(pool):
    def fails(i):
        if i % 3 == 1:
            raise ValueError(f"sample {i}")
        return i

    for policy in (ThreadPolicy(), None):
        results, failures = pool.attempt(fails, 8, policy)
        assert [i for i, result in enumerate(results) if result is None] == list(failures) == [1, 4, 7]
        assert "sample 1" in str(failures[1])
