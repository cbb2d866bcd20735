"""Finding the sample that ends workers: made one after another, with workers that die by chance, and errors that name it."""

import numpy as np
import pytest

from jdali._workers import TaskKilledError, WorkerDeath, answering_in
from jdali.engine.executors.elsewhere import OPERATOR, batch_failure, crash_failure, killing_sample, make_each
from jdali.engine.task import BatchTask, SampleIds, SourceData
from jdali.readers.order.epochs import SampleRefs

SEGV, KILL = -11, -9
DEATH = TaskKilledError([WorkerDeath(1234, SEGV)])


def task(count):
    refs = SampleRefs(np.zeros(count, np.uint32), np.arange(count) + 100, np.zeros(count, bool))
    return BatchTask.of({"r": refs}, {})


class Workers:
    """Workers that samples of these indices end, each in a way of its own: exit codes as of `subprocess`."""

    def __init__(self, **codes):
        self.codes, self.tried = {int(name[1:]): code for name, code in codes.items()}, []

    def __call__(self, some):
        indices = some.ids.index.tolist()
        self.tried.append(indices)
        for position, index in enumerate(indices):
            if (code := self.codes.get(index)) is not None:
                return TaskKilledError([WorkerDeath(1234, code, reached=position)])
        return None


@pytest.mark.parametrize("position", range(8))
def test_a_crash_is_found_with_one_death(position):
    workers = Workers(**{f"i{100 + position}": SEGV})
    found, error = killing_sample(task(8), workers)
    assert (found, error.deaths[0].exit_code) == (position, SEGV)
    assert workers.tried == [[*range(100, 108)]]


def test_of_several_the_first_is_found():
    assert killing_sample(task(8), Workers(i102=SEGV, i106=SEGV))[0] == 2


def test_a_sample_in_which_a_worker_was_killed_is_tried_once_more_alone():
    workers = Workers(i103=KILL)
    assert killing_sample(task(8), workers)[0] == 3
    assert workers.tried == [[*range(100, 108)], [103]]


def test_a_death_by_chance_blames_no_sample():
    class Once(Workers):
        def __call__(self, some):
            error = super().__call__(some)
            self.codes = {}
            return error

    workers = Once(i103=KILL)
    assert killing_sample(task(8), workers) is None
    assert workers.tried == [[*range(100, 108)], [103]]


def test_none_is_to_blame_if_workers_were_killed_for_another_reason():
    workers = Workers()
    assert killing_sample(task(8), workers) is None
    assert workers.tried == [[*range(100, 108)]]


def test_a_worker_that_is_gone_with_its_machine_blames_none():
    assert killing_sample(task(4), lambda some: TaskKilledError([WorkerDeath(1, None, "node")])) is None


def test_an_empty_batch():
    assert killing_sample(task(0), Workers()) is None


def test_each_sample_is_noted_before_it_is_made_alone():
    seen = []
    with answering_in(None, lambda reached: seen.append(("reached", reached))):
        make_each(
            task(2),
            [
                lambda one: seen.append(("host", one.ids.index.tolist())),
                lambda one: seen.append(("all", len(one))),
            ],
        )
    assert seen == [
        ("reached", 0), ("host", [100]), ("reached", 1), ("host", [101]),
        ("reached", 0), ("all", 1), ("reached", 1), ("all", 1),
    ]  # fmt: skip


class Reader:
    def source(self, index):
        return f"file {index}"


def test_the_failure_names_sample_file_signal_and_process():
    batch = task(4)
    failure = crash_failure(batch, 2, DEATH, {"r": Reader()})
    assert list(failure.blamed) == [2]
    assert (failure.blamed[2].sources, failure.blamed[2].files) == (["r"], ["file 102"])
    error = failure.user_error()
    assert str(error) == (
        "worker process 1234 was killed by signal 11 (SIGSEGV) while it worked on this sample\n"
        "  sample 2 of the batch\n  file file 102"
    )
    assert (error.operator, error.sample, error.source) == (OPERATOR, 2, "file 102")
    assert failure.user_error() is not error


def test_data_of_an_external_source_have_no_file():
    ids = SampleIds(np.zeros(2, np.uint32), np.arange(2), np.arange(2))
    data = {"s": SourceData(([np.zeros(1), np.ones(1)],), ("",))}
    failure = crash_failure(BatchTask(ids, np.ones(2, bool), {}, data), 1, DEATH, {"s": None})
    assert failure.user_error().source == ""
    assert (failure.blamed[1].sources, failure.blamed[1].files) == (["s"], [])


def test_a_batch_that_kills_as_a_whole_blames_none():
    failure = batch_failure(DEATH)
    assert not failure.blamed
    assert "(SIGSEGV), working on one batch; none of its samples does that alone" in str(failure.user_error())
