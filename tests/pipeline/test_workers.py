"""Batches made by worker processes: the same bits as without, in the same order, with the same states and errors."""

import dataclasses
import gc
import os
import signal
import threading
from contextlib import closing
from pathlib import Path

import jax
import numpy as np
import pytest
from support.accelerator import accelerator  # noqa: F401
from support.callbacks import Samples
from support.faults import until
from support.worker_kinds import workers_of
from support.worker_pipelines import BATCH, batch, light_pipeline, write_pictures

import jdali
from jdali import fn, types
from jdali.iterator import DataIterator

STEPS = 9  # more than two epochs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_pictures(tmp_path_factory.mktemp("pictures") / "all")


def run(pipe, steps):
    for _ in range(steps):
        pipe.run()


@pytest.fixture(scope="module")
def batches(folder):
    """Batches of this process alone, and the state after each."""
    with closing(light_pipeline(folder, workers=0)) as pipe:
        return [(batch(pipe), pipe.get_state()) for _ in range(STEPS)]


# --- the same bits ------------------------------------------------------------------------------
def test_a_state_brings_its_seed_to_the_workers(folder):
    with (
        closing(light_pipeline(folder, seed=None)) as one,
        closing(light_pipeline(folder, seed=None, workers=1)) as other,
    ):
        assert one.seed != other.seed
        other.set_state(one.get_state())
        assert [batch(other) for _ in range(3)] == [batch(one) for _ in range(3)]


def test_a_batch_and_a_sample_again(folder):
    with closing(light_pipeline(folder)) as one, closing(light_pipeline(folder, workers=1)) as other:
        names = ["picture", "label", "uniform", "number"]
        with (
            DataIterator(one, names, ragged=("picture",)) as a,
            DataIterator(other, names, ragged=("picture",)) as b,
        ):
            for _ in range(3):
                next(a), next(b)
            for name, value in a.batch_at(1).items():
                np.testing.assert_array_equal(b.batch_at(1)[name], value)


def test_the_plan_of_a_closed_pipeline_has_no_shared_memory():
    @jdali.pipeline_def(batch_size=2, num_threads=1, workers=1)
    def define():
        return fn.external_source(source=lambda _: [np.zeros(1 << 20, np.uint8)] * 2) + np.uint8(1)

    pipe = define()
    outputs = [pipe.run() for _ in range(3)]
    pipe.close()
    del outputs
    gc.collect()
    assert "shared memory: 0.0 MiB leased to batches, 0.0 MiB kept for others" in str(pipe.plan())


# --- programs ---------------------------------------------------------------------------------
def test_programs_of_workers_are_compiled_by_warming_up_and_counted(tmp_path):
    for number in range(30):  # the second size comes after many batches of the first
        np.save(tmp_path / f"{number:02}.npy", np.zeros((8 if number < 15 else 64, 4, 3), np.uint8))

    @jdali.pipeline_def(batch_size=1, num_threads=1)
    def define():
        return fn.flip(fn.readers.numpy(file_root=str(tmp_path)))

    with closing(define()) as alone, closing(define(workers=1)) as pipe:
        expected = alone.warmup(progress=False)
        assert pipe.warmup(progress=False) == expected == 2
        assert pipe.executor_statistics()["programs"] == pipe.times().programs == 2
        assert "1 thread in each worker, 2 programs compiled" in str(pipe.plan())
        for _ in range(30):
            pipe.run()
        assert pipe.times().programs == 2


# --- what is sent -----------------------------------------------------------------------------------
def test_an_object_that_cannot_be_sent_is_named_with_the_line(folder):
    lock = threading.Lock()

    def locked(picture):
        with lock:
            return picture

    with closing(light_pipeline(folder, locked, workers=1)) as pipe, pytest.raises(TypeError) as caught:
        pipe.run()
    text = str(caught.value)
    assert "python_function: function <function" in text
    assert "locked" in text
    assert "cannot be sent to worker processes: cannot pickle '_thread.lock' object" in text
    assert f"defined at {light_pipeline.__code__.co_filename}:" in text


def test_workers_have_the_options_of_storage_and_jax():
    @jdali.pipeline_def(batch_size=1, num_threads=1, workers=1)
    def define():
        def options(_):
            config = jax.config
            return np.array([jdali.storage.options().retries, config.jax_debug_nans, os.getpid()])

        return fn.python_function(
            fn.external_source(source=lambda: np.zeros((1, 2), np.float32)), function=options
        )

    before = jdali.storage.configure(retries=11)
    try:
        with closing(define()) as pipe, jax.debug_nans(True):
            retries, has_debug_nans, pid = pipe.run()[0].as_array()[0].tolist()
    finally:
        jdali.storage.configure(retries=before.retries)
    assert (retries, has_debug_nans) == (11, 1)
    assert pid != os.getpid()


def test_workers_have_the_options_of_fsspec(monkeypatch):
    fsspec = pytest.importorskip("fsspec")

    @jdali.pipeline_def(batch_size=1, num_threads=1, workers=1)
    def define():
        def timeout(_):
            from fsspec.config import conf

            return np.array([conf["http"]["timeout"], os.getpid()])

        return fn.python_function(
            fn.external_source(source=lambda: np.zeros((1, 2), np.float32)), function=timeout
        )

    monkeypatch.setitem(fsspec.config.conf, "http", {"timeout": 17})
    with closing(define()) as pipe:
        timeout, pid = pipe.run()[0].as_array()[0].tolist()
    assert timeout == 17
    assert pid != os.getpid()
    monkeypatch.setitem(fsspec.config.conf, "http", {"lock": threading.Lock()})
    with (
        closing(define()) as pipe,
        pytest.raises(
            TypeError, match=r"^fsspec\.config\.conf\['http'\] cannot be sent to worker processes: "
        ),
    ):
        pipe.run()


def test_a_worker_has_no_files_in_the_memory_of_this_process():
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.pipe("/sent/a.bin", b"abc")

    @jdali.pipeline_def(batch_size=1, num_threads=1, workers=1)
    def define():
        return fn.readers.file(files=["memory://sent/a.bin"])[0]

    try:
        with (
            closing(define()) as pipe,
            pytest.raises(jdali.OperatorError, match="in the memory of this process"),
        ):
            pipe.run()
    finally:
        memory.rm("/sent", recursive=True)


def test_a_worker_that_starts_later_has_the_data_set_of_the_others(tmp_path):
    """The names are those that this process has found, and are not looked for again."""
    folder = write_pictures(tmp_path / "all")
    with closing(light_pipeline(folder, workers=0)) as pipe:
        expected = [batch(pipe) for _ in range(6)]
    with closing(light_pipeline(folder, workers=1)) as pipe:
        found = [batch(pipe)]
        (Path(folder) / "0" / "00a.png").write_bytes((Path(folder) / "0" / "00.png").read_bytes())
        os.kill(workers_of(pipe).pids()[0], signal.SIGKILL)
        found += [batch(pipe) for _ in range(5)]
        assert found == expected


def test_a_data_set_that_was_changed_is_an_error(tmp_path):
    """Of a reader that looks for its files in each worker."""
    for number in range(4):
        np.save(tmp_path / f"{number}.npy", np.full(3, number))

    @jdali.pipeline_def(batch_size=2, num_threads=1, seed=1, workers=1)
    def define():
        return fn.readers.numpy(file_root=str(tmp_path))

    with closing(define()) as pipe:
        pipe.run()
        np.save(tmp_path / "4.npy", np.zeros(3))
        os.kill(workers_of(pipe).pids()[0], signal.SIGKILL)
        with pytest.raises(RuntimeError, match="finds another data set: 5 samples, not 4"):
            run(pipe, 12)


# --- options ------------------------------------------------------------------------------------------
def test_the_environment_says_how_many(folder, monkeypatch):
    monkeypatch.setenv("JDALI_WORKERS", "2")
    assert light_pipeline(folder).workers == 2
    assert light_pipeline(folder, workers=0).workers == 0
    monkeypatch.setenv("JDALI_WORKERS", "some")
    with pytest.raises(ValueError, match="JDALI_WORKERS must be a number of processes, not 'some'"):
        light_pipeline(folder)


@pytest.mark.parametrize("workers", [-1, 1.5, True, "2"])
def test_a_wrong_number_is_refused(folder, workers):
    with pytest.raises(ValueError, match="workers must be a number of processes"):
        light_pipeline(folder, workers=workers)


def test_threads_are_shared_by_the_workers(monkeypatch):
    monkeypatch.setattr("jdali._pipeline.config.cpu_count", lambda: 8)
    assert jdali.Pipeline(batch_size=1, workers=4).num_threads == 2
    assert jdali.Pipeline(batch_size=1, workers=20).num_threads == 1
    assert jdali.Pipeline(batch_size=1, workers=4, num_threads=3).num_threads == 3


# --- an accelerator -----------------------------------------------------------------------------------
def test_stages_of_the_accelerator_run_here(folder, accelerator):  # noqa: F811
    @jdali.pipeline_def(batch_size=BATCH, num_threads=1, seed=7)
    def define():
        encoded, label = fn.readers.file(file_root=folder, random_shuffle=True)
        picture = fn.resize(fn.decoders.image(encoded), size=(8, 8), interp_type=types.INTERP_NN)
        angle = fn.random.uniform(range=(-40.0, 40.0))
        turned = fn.rotate(picture.gpu(), angle=angle, keep_size=True, interp_type=types.INTERP_NN)
        return turned, picture, label.gpu()

    with closing(define()) as one, closing(define(workers=2)) as other:
        for _ in range(4):
            assert batch(other) == batch(one)
        outputs = other.run()
        assert outputs[0].as_tensor().__jax_array__().devices() == {accelerator}


# --- sources of the user ------------------------------------------------------------------------------
def test_sources_and_functions_in_processes_of_their_own():
    """`parallel=True` beside workers: the source runs in its own processes, the function in the workers."""

    def define(**options):
        @jdali.pipeline_def(batch_size=BATCH, num_threads=1, seed=7, py_start_method="forkserver", **options)
        def definition():
            samples = fn.external_source(Samples(9), batch=False, parallel=True, num_outputs=2)
            doubles = [fn.python_function(s, function=lambda x: 2 * x, parallel=True) for s in samples]
            return tuple(doubles)

        return definition()

    with closing(define()) as one, closing(define(workers=1)) as other:
        for _ in range(3):
            assert batch(other) == batch(one)


@pytest.mark.cases(1)
@pytest.mark.parametrize("exec_async", [True, False])
def test_fed_data_travel_with_their_tasks(exec_async):
    @jdali.pipeline_def(batch_size=BATCH, num_threads=1, seed=7, workers=1, exec_async=exec_async)
    def define():
        return fn.external_source(name="in", layout="X") * 2

    with closing(define()) as pipe:
        for step in range(4):
            given = [np.arange(step + i, dtype=np.float32) for i in range(1, BATCH + 1)]
            pipe.feed_input("in", given)
            (output,) = pipe.run()
            assert output.layout() == "X"
            for found, sample in zip(output.as_cpu().to_samples(), given, strict=True):
                np.testing.assert_array_equal(found, 2 * sample)


def test_the_end_of_a_source():
    def three():
        for i in range(3):
            yield np.full(BATCH, i, np.int32)

    @jdali.pipeline_def(batch_size=BATCH, num_threads=1, seed=7, workers=2)
    def define():
        return fn.external_source(source=three, cycle="raise")

    with closing(define()) as pipe:
        for _ in range(2):
            assert [pipe.run()[0].as_array()[0] for _ in range(3)] == [0, 1, 2]
            with pytest.raises(StopIteration):
                pipe.run()
            pipe.reset()


# --- plan and report ------------------------------------------------------------------------------------
def test_the_plan_shows_the_border(folder):
    with closing(light_pipeline(folder, workers=1)) as pipe:
        run(pipe, 2)
        text = pipe.plan()
    assert "1 worker, 1 ready" in text
    assert "in workers: readers.file" in text
    assert "border: the steps above run in workers, 0 below it in this process: none is left" in text


def test_the_plan_says_what_stays_here_and_why(folder, accelerator):  # noqa: F811
    @jdali.pipeline_def(batch_size=BATCH, num_threads=1, seed=7, workers=1)
    def define():
        encoded, _ = fn.readers.file(file_root=folder)
        return fn.resize(fn.decoders.image(encoded), size=(8, 8)).gpu() + 1

    with closing(define()) as pipe:
        run(pipe, 1)
        text = pipe.plan()
    assert " below it in this process: they work on the accelerator" in text
    border, after = text.index("border:"), text.index("[level", text.index("border:"))
    assert "in workers: decoders.image" in text[:border]
    assert "add" in text[after:]


def test_the_report_counts_workers(folder):
    names = ["picture", "label", "uniform", "number"]
    with DataIterator(
        light_pipeline(folder, workers=1), names, ragged=("picture",), reader_name="pictures"
    ) as it:
        for _ in it:
            pass
        report = it.report()
    (part,) = [part for part in report.parts if part.kind == "workers"]
    assert "readers.file" in part.name
    assert part.busy > 0
    assert (report.workers, report.worker_deaths) == (1, 0)
    assert report.worker_bytes > 0
    assert "(1 worker " in str(report)


# --- another number of them -----------------------------------------------------------------------------
def test_workers_join_and_leave_without_a_change_of_the_batches(folder, batches):
    with closing(light_pipeline(folder, workers=1)) as pipe:
        found = []
        for count in (1, 3, 3, 1, 2, 2, 1, 1, 1):
            pipe.resize_workers(count)
            found.append((batch(pipe), pipe.get_state()))
            assert workers_of(pipe).count == count
        assert found == batches
        assert until(lambda: len(workers_of(pipe).pids()) == 1)
        assert workers_of(pipe).counts().deaths == 0


def test_the_number_follows_the_waiting_time(folder, batches, monkeypatch):
    """Every window has the loop wait: the bounds, and the batches, hold."""
    monkeypatch.setattr("jdali.engine.executors.scaling.WINDOW_BATCHES", 2)
    monkeypatch.setattr(
        "jdali.engine.executors.scaling.next_scaling",
        lambda now, rate, waited, busy, least, most: dataclasses.replace(now, count=min(now.count + 1, most)),
    )
    with closing(light_pipeline(folder, max_workers=2)) as pipe:
        assert workers_of(pipe).count == 1
        found = []
        while len(found) < len(batches):
            found.append((batch(pipe), pipe.get_state()))
            # Nothing is decided until all are ready.
            assert until(lambda: workers_of(pipe).counts().ready == workers_of(pipe).count)
        assert found == batches
        assert workers_of(pipe).count == 2


@pytest.mark.parametrize("count", [0, -1, 1.5, True])
def test_a_wrong_new_number_is_refused(folder, count):
    with closing(light_pipeline(folder)) as pipe, pytest.raises(ValueError, match="count must be at least 1"):
        pipe.resize_workers(count)


def test_a_pipeline_without_workers_gets_none_later(folder):
    with (
        closing(light_pipeline(folder, workers=0)) as pipe,
        pytest.raises(RuntimeError, match="this process makes the batches"),
    ):
        pipe.resize_workers(2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_workers": 2}, "min_workers is 2, and there is no max_workers"),
        ({"max_workers": 0}, "must be 1 or more, in this order: 1, 1, 0"),
        ({"workers": 5, "max_workers": 4}, "in this order: 1, 5, 4"),
        ({"workers": 0, "max_workers": 4}, "in this order: 1, 0, 4"),
        ({"min_workers": 3, "max_workers": 2}, "in this order: 3, 3, 2"),
    ],
)
def test_bounds_that_contradict_each_other_are_refused(folder, options, message):
    with pytest.raises(ValueError, match=message):
        light_pipeline(folder, **options)
