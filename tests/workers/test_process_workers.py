"""Workers that are processes: definitions by value, with the operators of jdali and of third parties."""

import os
from contextlib import closing

import numpy as np
import pytest
from support.faults import PATIENCE, until

from jdali._operators.record import REGISTRY
from jdali._workers.batch_workers import ProcessWorkers
from jdali._workers.jobs import PoolClosedError
from jdali.graph import reduced_operator


@pytest.fixture
def workers():
    with closing(ProcessWorkers(1, 1 << 20, reduced_operator)) as made:
        yield made


def result(future):
    return future.result(timeout=PATIENCE).result


def test_they_make_tasks_on_the_cpu_alone(workers):
    flip = REGISTRY["flip"]

    def start():
        import jax

        platforms = os.environ["JAX_PLATFORMS"], jax.default_backend()

        def make(task):
            from jdali._operators.record import REGISTRY

            return 2 * task, platforms, flip is REGISTRY["flip"]

        return make

    workers.start(start)
    doubled, platforms, is_registered = result(workers.submit(np.arange(1000)))
    np.testing.assert_array_equal(doubled, 2 * np.arange(1000))
    assert platforms == ("cpu", "cpu")
    assert is_registered  # an operator goes by its name
    counts = workers.counts()
    assert (counts.ready, counts.made, counts.deaths) == (1, 1, 0)
    assert counts.leased >= doubled.nbytes
    (pid,) = workers.pids()
    assert pid != os.getpid()


def test_their_number_changes(workers):
    workers.start(lambda: lambda task: task)
    workers.resize(2)
    assert workers.count == 2
    assert until(lambda: workers.counts().ready == 2)


def test_what_is_not_made_when_they_are_closed_raises(workers):
    workers.start(lambda: lambda task: task)
    workers.interrupt()
    workers.close()
    with pytest.raises(PoolClosedError):
        result(workers.submit(1))


def test_they_may_be_closed_before_they_are_started(workers):
    workers.interrupt()
    workers.close()
