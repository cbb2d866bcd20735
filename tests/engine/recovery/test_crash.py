"""Finding the sample that kills workers: by halving, with workers that die by chance, and errors that name it."""

import numpy as np
import pytest

from jdali._workers import TaskKilledError, WorkerDeath
from jdali.engine.recovery.crash import OPERATOR, batch_failure, crash_failure, killing_sample
from jdali.engine.tasks.batch_task import BatchTask, SourceData
from jdali.engine.tasks.sample_ids import SampleIds
from jdali.readers.order.epochs import SampleRefs

DEATH = TaskKilledError([WorkerDeath(1234, -11)])


def task(count):
    refs = SampleRefs(np.zeros(count, np.uint32), np.arange(count) + 100, np.zeros(count, bool))
    return BatchTask.of({"r": refs}, {})


class Workers:
    """Workers that samples of these indices kill."""

    def __init__(self, *deadly, chance=()):
        self.deadly, self.chance, self.tried = set(deadly), list(chance), []

    def __call__(self, half):
        indices = half.ids.index.tolist()
        self.tried.append(indices)
        by_chance = self.chance.pop(0) if self.chance else False
        return DEATH if by_chance or self.deadly.intersection(indices) else None


@pytest.mark.parametrize("count", [1, 2, 3, 8, 13])
def test_each_position_is_found(count):
    for position in range(count):
        workers = Workers(100 + position)
        assert killing_sample(task(count), workers) == (position, DEATH)
        # One try for each halving, and one more for the sample that is left.
        assert len(workers.tried) <= int(np.ceil(np.log2(count))) + 1


def test_of_several_the_first_is_found():
    assert killing_sample(task(8), Workers(102, 106)) == (2, DEATH)


def test_none_is_to_blame_if_workers_were_killed_for_another_reason():
    workers = Workers()
    assert killing_sample(task(8), workers) is None
    assert workers.tried == [[100, 101, 102, 103], [104, 105], [106], [107]]


def test_deaths_by_chance_blame_no_sample():
    # The first half, its first half and so on, but not the sample that is left.
    assert killing_sample(task(4), Workers(chance=[True, True, False])) is None


def test_an_empty_batch():
    assert killing_sample(task(0), Workers()) is None


class Reader:
    def source(self, index):
        return f"file {index}"


def test_the_failure_names_sample_file_signal_and_process():
    batch = task(4)
    failure = crash_failure(batch, 2, DEATH, {"r": Reader()})
    assert list(failure.blamed) == [2]
    assert [(d.source, d.name(int(d.index[2]))) for d in failure.blamed[2].drawn] == [("r", "file 102")]
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
    assert [drawn.source for drawn in failure.blamed[1].drawn] == ["s"]


def test_a_batch_that_kills_as_a_whole_blames_none():
    failure = batch_failure(DEATH)
    assert not failure.blamed
    assert "(SIGSEGV), working on one batch; none of its samples does that alone" in str(failure.user_error())
