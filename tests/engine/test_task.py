"""Tasks: they never change, survive a pickle, and make the same bits in another process."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from engine.identities import sample_ids
from support import task_worker, worker_pipelines

from jdali._sources import as_samples
from jdali.engine.task import BatchTask, SourceData
from jdali.readers.order.epochs import SampleRefs

TESTS = Path(task_worker.__file__).parents[1]


def refs(*indices):
    return SampleRefs(np.zeros(len(indices), np.uint32), np.array(indices), np.zeros(len(indices), bool))


def task():
    outputs = [np.array([i]) for i in range(3)], [np.array([[-i]]) for i in range(3)]
    return BatchTask.of(
        {"one": refs(5, 6, 7), "two": refs(0, 1, 2)}, {"fed": SourceData(outputs, ("", "HW"))}
    )


def arrays(one):
    return [
        one.mask,
        one.ids.epoch,
        one.ids.index,
        one.ids.position,
        *(a for r in one.refs.values() for a in r if a is not None),
    ]


def fed(one):
    return [[sample.item() for sample in output] for output in one.data["fed"].outputs]


def test_the_first_reader_identifies_the_samples():
    one = task()
    assert one.ids.index.tolist() == [5, 6, 7]
    assert one.ids.position.tolist() == [0, 1, 2]
    assert not one.padded.any()
    other = one.reading({"one": refs(5, 9, 7), "two": refs(0, 1, 4)})
    assert other.ids.index.tolist() == [5, 9, 7]


def test_other_tasks_leave_a_task_as_it_was():
    one = task()
    repeated = one.repeating(2, np.array([0]))
    assert [refs.indices.tolist() for refs in repeated.refs.values()] == [[7, 6, 7], [2, 1, 2]]
    assert (repeated.ids.index.tolist(), fed(repeated)) == ([7, 6, 7], [[2, 1, 2], [-2, -1, -2]])
    assert one.masking(np.array([1])).mask.tolist() == [True, False, True]
    fewer = one.keeping(np.array([0, 2]))
    assert [refs.indices.tolist() for refs in fewer.refs.values()] == [[5, 7], [0, 2]]
    assert (fewer.ids.position.tolist(), fed(fewer)) == ([0, 1], [[0, 2], [0, -2]])
    assert (one.ids.index.tolist(), fed(one)) == ([5, 6, 7], [[0, 1, 2], [0, -1, -2]])
    assert one.mask.all()


def test_its_arrays_cannot_be_written_to_also_after_a_pickle():
    for one in (task(), pickle.loads(pickle.dumps(task()))):
        for array in arrays(one):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1


def test_a_pickle_keeps_everything():
    one = task()
    again = pickle.loads(pickle.dumps(one))
    for mine, other in zip(arrays(one), arrays(again), strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)
    assert fed(again) == fed(one)
    assert again.data["fed"].layouts == ("", "HW")


def test_a_pickle_keeps_identities_that_are_not_those_of_a_reader():
    for one in (
        task().masking(np.array([1])),
        task().keeping(np.array([0, 2])),
        task().repeating(2, np.array([0])),
    ):
        again = pickle.loads(pickle.dumps(one))
        for mine, other in zip(arrays(one), arrays(again), strict=True):
            np.testing.assert_array_equal(mine, other)


def test_a_pickle_is_small_and_holds_no_graph():
    one = BatchTask.of({"one": refs(*range(256))}, {})
    assert len(pickle.dumps(one)) < 4_000  # 13 bytes a sample, and names
    assert b"graph" not in pickle.dumps(one)


def test_data_on_a_device_survive_a_pickle():
    given = as_samples(jnp.arange(6.0).reshape(3, 2))
    one = BatchTask(sample_ids(3), np.ones(3, bool), {}, {"fed": SourceData((given,), ("",))})
    (output,) = pickle.loads(pickle.dumps(one)).data["fed"].outputs
    values = output.as_cpu().to_samples() if hasattr(output, "as_cpu") else output
    assert [sample.tolist() for sample in values] == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.cases(1)
@pytest.mark.parametrize("on_error", ["skip", "mask"])
def test_another_process_makes_the_same_bits_of_the_tasks(on_error, tmp_path):
    """Also of those in which stand-ins take the positions of bad samples."""
    worker_pipelines.write_pictures(tmp_path / "data", task_worker.BAD)
    drawn, made = [], []
    with task_worker.build(tmp_path / "data", on_error) as pipe:
        engine = task_worker.engine_of(pipe)
        for _ in range(5):  # into the second epoch
            drawn.append(engine.draw())
            made.append(engine.make(drawn[-1]))
        expected = [task_worker.samples(result.outputs) for result in made]
    assert sum(len(result.skipped) > 0 for result in made) >= 2
    tasks, results = tmp_path / "tasks", tmp_path / "results"
    tasks.write_bytes(pickle.dumps(drawn))
    subprocess.run(
        [sys.executable, "-m", "support.task_worker", tmp_path / "data", on_error, tasks, results],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}, check=True, timeout=200,
    )  # fmt: skip
    found = pickle.loads(results.read_bytes())
    for mine, theirs in zip(expected, found, strict=True):
        for output, other in zip(mine, theirs, strict=True):
            for sample, again in zip(output, other, strict=True):
                assert sample.dtype == again.dtype
                np.testing.assert_array_equal(sample, again)
