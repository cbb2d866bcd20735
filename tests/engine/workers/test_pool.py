"""Host operators: cheap ones are worked on in one thread, expensive ones by the pool."""

import threading
import time

import pytest

from jdali.engine.steps.stage import NodeFailure
from jdali.engine.workers.pool import Cost, Pool
from jdali.graph.node import WHOLE_BATCH, Node
from jdali.ops.image import _flip

NODE = Node(0, _flip.flip, "flip", "cpu", (), {}, None, WHOLE_BATCH, "here:1")


@pytest.fixture
def pool():
    pool = Pool(2)
    yield pool
    pool.close()


def calls(pool, function, count, cost):
    """Results, and the names of the threads that made them."""
    threads = []

    def noted(i):
        threads.append(threading.current_thread())
        return function(i)

    return pool.map(None, noted, count, cost), threads


def test_cheap_calls_stay_in_this_thread(pool, monkeypatch):
    for name in ("CHEAP_SECONDS", "TRIVIAL_SECONDS"):  # however busy the machine is
        monkeypatch.setattr(Cost, name, 10.0)
    cost = Cost()
    for _ in range(3):
        results, threads = calls(pool, lambda i: i * i, 20, cost)
        assert results == [i * i for i in range(20)]
    assert set(threads) == {threading.current_thread()}


def test_expensive_calls_go_to_the_pool_after_the_first(pool, monkeypatch):
    # What the pool takes depends on how busy the machine is.
    monkeypatch.setattr(Cost, "note_pool", lambda *_: None)
    cost, here = Cost(), threading.current_thread()
    tried = 0
    for batch in range(20):
        results, threads = calls(pool, lambda i: time.sleep(0.002) or i, 6, cost)
        assert results == list(range(6))
        assert threads.count(here) in (0, 1)
        tried += threads.count(here)
        if batch == 0:
            assert threads.count(here) == 1
    assert tried == 5  # batches 0, 2, 5, 10 and 19: each time it waits twice as long


def test_what_takes_less_time_is_done(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("jdali.engine.workers.pool.time.perf_counter", lambda: now[0])

    def batch(cost, here, pooled):
        """How many of 10 samples are worked on here, if one takes so long here and so long in the pool."""

        def call(_):
            now[0] += here

        done = cost.work_here(call, [1] * 10)
        cost.note_pool((10 - done) * pooled, 10 - done)
        return done

    # The pool is slower: it is tried less and less often.
    cost = Cost()
    done = [batch(cost, 300e-6, 900e-6) for _ in range(80)]
    assert 0 < done[0] < 10  # nothing is known of the pool yet
    assert set(done[1:]) == {0, 10}
    assert 3 <= done.count(0) <= 8
    # The pool is quicker, though calls are not expensive.
    cost = Cost()
    done = [batch(cost, 120e-6, 30e-6) for _ in range(100)]
    assert sum(count == 0 for count in done) > 85
    # What takes long goes there, though the pool seems to be slow: others may keep the machine busy just now.
    cost = Cost()
    assert max(batch(cost, 2e-3, 5e-3) for _ in range(100)) == 1
    # What takes nearly no time never goes there.
    cost = Cost()
    assert [batch(cost, 20e-6, 1e-6) for _ in range(50)] == [10] * 50


def test_failures_of_either_kind_name_their_samples(pool):
    def fails(i):
        if i % 3 == 1:
            raise ValueError(f"sample {i}")
        return i

    for cost in (Cost(), None):
        with pytest.raises(NodeFailure) as caught:
            pool.map(NODE, fails, 8, cost)
        assert list(caught.value.failures) == [1, 4, 7]
        assert "sample 1" in str(caught.value)
