"""Times of phases: what overlaps counts once, tasks of a pool count for the lap that hands them out."""

from collections import Counter

import pytest

from jdali._threads.timing import PhaseTimer, Spent, inner, timed
from jdali._threads.worker_threads import WorkerThreads


def test_batches_that_overlap_count_from_the_end_of_the_one_before():
    timer = PhaseTimer("host", "x")
    timer.count(2, 1.0, 5.0, 4.0, 3.0, [("read", 1.0)])
    timer.count(1, 3.0, 6.0, 2.0, 1.0, [("read", 0.5), ("decode", 0.25)])  # only 5.0 to 6.0 is new
    timer.count(1, 2.0, 4.0, 1.0, 1.0, [])  # all of it was before the latest end
    assert timer.spent() == Spent(4 - 1, 4, 5.0, 7.0, 5.0, Counter(read=1.5, decode=0.25))


def test_spent_is_a_copy():
    timer = PhaseTimer("host", "x")
    before = timer.spent()
    timer.count(1, 0.0, 1.0, 1.0, 1.0, [("read", 1.0)])
    assert before == Spent()
    assert timer.spent() - before == timer.spent()
    assert (timer.spent() + timer.spent()).inner["read"] == 2.0


def test_names_count_for_the_lap_of_this_thread_and_outer_laps_come_back():
    outer, nested = PhaseTimer("host", "outer"), PhaseTimer("host", "nested")
    with outer.lap():
        with nested.lap(), inner("a"):
            pass
        with inner("b"):
            pass
    with inner("of nobody"):
        pass
    assert set(nested.spent().inner) == {"a"}
    assert set(outer.spent().inner) == {"b"}


def test_tasks_of_a_pool_count_for_the_lap_that_hands_them_out():
    timer, pool = PhaseTimer("host", "x"), WorkerThreads(2)

    def work(i):
        with inner("work"):
            return i * i

    try:
        with timer.lap():
            assert pool.run_all(timed(work), range(3)) == [0, 1, 4]
        assert pool.run_all(timed(work), range(3)) == [0, 1, 4]  # outside of a lap: counted nowhere
    finally:
        pool.shutdown()
    assert (timer.spent().count, timer.spent().tasks) == (1, 3)
    assert set(timer.spent().inner) == {"work"}


def test_a_lap_that_raises_is_counted():
    timer = PhaseTimer("host", "x")
    with pytest.raises(ZeroDivisionError), timer.lap():
        raise ZeroDivisionError
    assert timer.spent().count == 1
