"""Batches made by workers, here by workers that this process only pretends to have."""

import errno
from concurrent.futures import Future

import numpy as np
import pytest

from jdali._workers import MadeTask, TaskKilledError, WorkerDeath
from jdali.engine.executors.elsewhere import MadeElsewhere, SentAnswer, send_values
from jdali.engine.task import BatchTask, SampleIds, SourceData
from jdali.graph import Border, ExecutionPlan, Graph
from jdali.tensors import TensorList

COUNT = 4


class Workers:
    """Workers that return the data of the source; samples of these values kill them."""

    count, in_flight = 3, 7

    def __init__(self, *deadly, deaths=0, lack=None):
        self.deadly, self.deaths, self.tasks, self.searches = set(deadly), deaths, [], []
        self.lack = lack

    def submit(self, sent, order=0, *, patience=2):
        future = Future()
        samples = sent.task.data["s"].outputs[0]
        values = [int(sample[0]) for sample in samples]
        self.tasks.append((values, order, patience, sent.seed))
        self.searches.append(sent.is_search)
        if self.lack is not None:
            future.set_exception(self.lack)
        elif self.deaths or self.deadly.intersection(values):
            self.deaths = max(self.deaths - patience, 0)
            found = [i for i, value in enumerate(values) if value in self.deadly] if sent.is_search else []
            death = WorkerDeath(1, -9, reached=found[0] if found else None)
            future.set_exception(TaskKilledError([death] * patience))
        else:
            batch = TensorList.from_samples(samples, "", "cpu")
            future.set_result(MadeTask(SentAnswer(send_values([batch]), 2, 0.125), 0.25, 0.125, 100))
        return future


@pytest.fixture
def border():
    value = Graph().add_batch(None, "cpu")
    return Border(ExecutionPlan((), (value,), (), ()), ExecutionPlan((), (value,), (), ()))


def task(samples=None):
    samples = [np.float32([i]) for i in range(COUNT)] if samples is None else samples
    ids = SampleIds(np.zeros(COUNT, np.uint32), np.arange(COUNT), np.arange(COUNT))
    return BatchTask(ids, np.ones(COUNT, bool), {}, {"s": SourceData((samples,), ("",))})


def test_values_of_the_border(border):
    workers = Workers()
    elsewhere = MadeElsewhere(border, workers, {})
    made = elsewhere.make(task(), 7, 5)
    ((value, batch),) = made.items()
    assert value is border.elsewhere.outputs[0]
    assert batch.as_array().tolist() == [[0], [1], [2], [3]]
    assert workers.tasks == [([0, 1, 2, 3], 5, 2, 7)]
    assert elsewhere.workers.in_flight == 7
    spent = elsewhere.timer.spent()
    assert (spent.count, spent.busy, spent.cpu, elsewhere.nbytes) == (1, 0.25, 0.125, 100)
    assert (elsewhere.programs, spent.inner["compiling"]) == (2, 0.125)


def test_a_sample_that_kills_workers_is_blamed(border):
    workers = Workers(2)
    failure = MadeElsewhere(border, workers, {}).make(task(), 7, 0)
    assert list(failure.blamed) == [2]
    # The whole batch in two workers; then sample after sample, and the one that is found once more, in one worker each.
    assert [(values, patience) for values, _, patience, _ in workers.tasks] == [
        ([0, 1, 2, 3], 2), ([0, 1, 2, 3], 1), ([2], 1),
    ]  # fmt: skip
    assert workers.searches == [False, True, True]


@pytest.mark.parametrize("refuses", [False, True], ids=["its result", "the task"])
def test_what_the_machine_lacks_is_an_error_of_the_batch(border, refuses, monkeypatch):
    lack = OSError(errno.EMFILE, "Too many open files")
    if refuses:
        monkeypatch.setattr(Workers, "submit", lambda *_, **__: (_ for _ in ()).throw(lack))
    failure = MadeElsewhere(border, Workers(lack=lack), {}).make(task(), 7, 0)
    assert not failure.blamed
    assert failure.cause is lack
    error = failure.user_error()
    assert isinstance(error, OSError)
    assert (error.errno, str(error)) == (
        errno.EMFILE,
        "worker process: OSError: [Errno 24] Too many open files",
    )


def test_workers_that_die_for_another_reason_cost_nothing_but_time(border):
    workers = Workers(deaths=2)
    made = MadeElsewhere(border, workers, {}).make(task(), 7, 0)
    assert len(made) == 1
    assert [len(values) for values, *_ in workers.tasks] == [4, 4, 4]
    assert workers.searches == [False, True, False]


def test_a_batch_that_kills_workers_only_as_a_whole_is_given_up(border):
    class Whole(Workers):
        def submit(self, sent, order=0, *, patience=2):
            self.deaths = 0 if sent.is_search else patience
            return super().submit(sent, order, patience=patience)

    workers = Whole()
    failure = MadeElsewhere(border, workers, {}).make(task(), 7, 0)
    assert not failure.blamed
    assert "none of its samples does that alone" in str(failure.user_error())
    assert workers.searches == [False, True] * 3


def test_data_on_a_device_are_brought_to_host_memory(border):
    batch = TensorList.from_samples([np.float32([i]) for i in range(COUNT)], "", "gpu")
    made = MadeElsewhere(border, Workers(), {}).make(task(batch), 7, 0)
    assert next(iter(made.values())).as_array().tolist() == [[0], [1], [2], [3]]
