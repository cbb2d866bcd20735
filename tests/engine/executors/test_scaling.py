"""The number of workers follows the waiting time: the decision, a pure function, and what it is made from."""

from concurrent.futures import Future

import pytest

from jdali._threads import PhaseTimer
from jdali._workers import WorkerCounts
from jdali.engine.executors.scaling import WINDOW_BATCHES, Scaling, WorkerScaler, next_scaling


def follow(most_rate, wanted, rate_each, *, least=1, most=8, windows=60, count=1):
    """Numbers of workers over some windows of 100 batches.

    Args:
        most_rate: batches a second that the machine makes at most.
        wanted: batches a second that the loop takes if it never waits.
        rate_each: batches a second of one worker.
    """
    now, counts = Scaling(count), []
    for _ in range(windows):
        made = min(now.count * rate_each, most_rate)
        rate = min(made, wanted)
        seconds = 100 / rate
        waited = seconds - 100 / wanted if rate < wanted else 0.0
        busy = seconds * now.count * (rate / (now.count * rate_each))
        now = next_scaling(now, rate, waited / seconds, busy / seconds, least, most)
        counts.append(now.count)
    return counts


def test_it_grows_until_the_loop_does_not_wait_and_rests_there():
    counts = follow(most_rate=1000, wanted=45, rate_each=10)
    assert counts[:5] == [2, 3, 4, 5, 5]
    assert set(counts[5:]) == {5}


def test_it_shrinks_to_what_is_enough_one_at_a_time():
    counts = follow(most_rate=1000, wanted=15, rate_each=10, count=6)
    assert counts[:3] == [6, 6, 5]  # three windows in a row
    assert sorted(counts, reverse=True) == counts
    assert counts[-1] == 2  # of which one would be busy all the time


def test_more_workers_than_the_machine_has_cores_go_again():
    counts = follow(most_rate=20, wanted=1000, rate_each=10)
    assert max(counts) == 3
    # It rests at two, and tries three again after a pause.
    assert counts.count(2) > 5 * counts.count(3)


def test_the_bounds_hold():
    assert set(follow(most_rate=1000, wanted=500, rate_each=10, most=4)[3:]) == {4}
    assert min(follow(most_rate=1000, wanted=1, rate_each=10, least=2, count=4)) == 2


@pytest.mark.parametrize("waited", [0.02, 0.04])
def test_between_the_limits_nothing_changes(waited):
    assert next_scaling(Scaling(3, quiet=2), 10.0, waited, 0.1, 1, 8) == Scaling(3)


class Workers:
    """As `BatchWorkers`; makes nothing."""

    def __init__(self):
        self.count = self.ready = 1

    def counts(self):
        return WorkerCounts(self.ready, 0, 0, 0, 0)

    def submit(self, task, order=0, *, patience=2):
        return Future()


class Elsewhere:
    def __init__(self):
        self.workers, self.timer = Workers(), PhaseTimer("workers", "")


@pytest.fixture
def scaled():
    elsewhere, resized, now = Elsewhere(), [], [0.0]

    def resize(count):
        elsewhere.workers.count = count
        resized.append(count)

    scaler = WorkerScaler(elsewhere, resize, 1, 4, clock=lambda: now[0])

    def window(waited):
        """One in which each batch takes a second, and the loop waits for this part of it."""
        for _ in range(WINDOW_BATCHES):
            now[0] += 1.0
            scaler.note_wait(waited)
            scaler.note_batch()

    return elsewhere.workers, resized, window


def test_waiting_adds_a_worker_and_nothing_is_decided_until_it_is_ready(scaled):
    workers, resized, window = scaled
    window(0.5)
    assert resized == [2]
    window(0.9)  # it is being started
    assert resized == [2]
    workers.ready = 2
    window(0.5)  # and did not help
    assert resized == [2, 1]


def test_a_number_that_the_user_sets_is_where_it_goes_on(scaled):
    workers, resized, window = scaled
    workers.count = workers.ready = 3
    window(0.5)
    assert resized == []
    window(0.5)
    assert resized == [4]
