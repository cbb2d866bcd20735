"""A worker gives memory back once, when no more programs come."""

import pytest

from jdali._pipeline.sent_pipeline import QUIET_TASKS, Settling


class Worker:
    def __init__(self):
        self.programs, self.given_back = 0, 0
        self.settling = Settling(self.make, lambda: self.programs, self.give_back)

    def make(self, task):
        if task == "bad":
            raise ValueError(task)
        self.programs += task
        return -task

    def give_back(self):
        self.given_back += 1

    def quiet(self, tasks):
        for _ in range(tasks):
            assert self.settling(0) == 0


def test_once_after_some_tasks_without_a_program():
    worker = Worker()
    assert worker.settling(2) == -2
    worker.quiet(QUIET_TASKS - 1)
    assert worker.given_back == 0
    worker.quiet(1)
    assert worker.given_back == 1
    worker.quiet(5 * QUIET_TASKS)
    assert worker.given_back == 1


def test_again_after_a_later_program():
    worker = Worker()
    worker.settling(1)
    worker.quiet(QUIET_TASKS)
    worker.quiet(3)
    worker.settling(1)
    worker.quiet(QUIET_TASKS - 1)
    assert worker.given_back == 1
    worker.quiet(1)
    assert worker.given_back == 2


def test_a_task_that_fails_is_the_callers():
    worker = Worker()
    with pytest.raises(ValueError, match="bad"):
        worker.settling("bad")
