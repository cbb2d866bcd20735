"""One set of tests for all workers, processes and a cluster of Ray: the bits, states and errors of one process."""

import os
import signal
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from support.broken_codec import broken_codec, careful_codec, write_files
from support.callbacks import Samples
from support.every_reader import MAKERS, made
from support.faults import until
from support.worker_kinds import on_ray, one_of, pids_of, workers_of
from support.worker_pipelines import BAD, BATCH, batch, light_pipeline, pipeline, write_pictures

import jdali
from jdali import fn
from jdali.iterator import DataIterator

pytestmark = pytest.mark.timeout(600)

STEPS = 9  # more than two epochs
NAMES = ["picture", "label", "uniform", "number"]
both_kinds = pytest.mark.parametrize("workers", [2, on_ray()], indirect=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_pictures(tmp_path_factory.mktemp("pictures") / "all")


@pytest.fixture(scope="module")
def bad_folder(tmp_path_factory):
    return write_pictures(tmp_path_factory.mktemp("bad") / "all", BAD)


@pytest.fixture(scope="module")
def batches(folder):
    """Batches of this process alone, and the state after each."""
    with closing(pipeline(folder, workers=0)) as pipe:
        return [(batch(pipe), pipe.get_state()) for _ in range(STEPS)]


@pytest.fixture(scope="module")
def light_batches(folder):
    """The same of the light pipeline."""
    with closing(light_pipeline(folder, workers=0)) as pipe:
        return [(batch(pipe), pipe.get_state()) for _ in range(STEPS)]


def run(pipe, steps):
    for _ in range(steps):
        pipe.run()


# --- the same bits ------------------------------------------------------------------------------
@both_kinds  # others have three workers, with a lighter pipeline
def test_the_same_batches_and_states_also_from_a_state(folder, batches, workers):
    with closing(pipeline(folder, workers=one_of(workers))) as pipe:
        assert [(batch(pipe), pipe.get_state()) for _ in range(STEPS)] == batches
        counts = workers_of(pipe).counts()
        pipe.set_state(batches[2][1])  # in mid-epoch
        assert [(batch(pipe), pipe.get_state()) for _ in range(3)] == batches[3:6]
    assert counts.made >= STEPS
    assert counts.deaths == 0


@pytest.mark.parametrize(("workers", "other"), [on_ray(1), (2, 1)], indirect=["workers"])
def test_a_state_of_one_kind_goes_to_another_and_back(folder, light_batches, workers, other):
    with (
        closing(light_pipeline(folder, workers=workers)) as first,
        closing(light_pipeline(folder, workers=other)) as second,
        closing(light_pipeline(folder, workers=0)) as third,
    ):
        run(first, 2)
        second.set_state(first.get_state())  # in mid-epoch
        assert [batch(second) for _ in range(3)] == [made for made, _ in light_batches[2:5]]
        first.set_state(second.get_state())  # while later ones are under way
        assert [(batch(first), first.get_state()) for _ in range(2)] == light_batches[5:7]
        third.set_state(first.get_state())
        assert batch(third) == light_batches[7][0]


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    """For each case the reader's name and its arguments."""
    found = {}
    for case in MAKERS:
        try:
            name, of = made(case, (folder := tmp_path_factory.mktemp("data") / "all"))
        except pytest.skip.Exception:  # an optional package is missing
            continue
        found[case] = name, of(str(folder))
    return found


def of_every_reader(readers, workers):
    """All readers of the table in one pipeline: what each of them gives."""

    @jdali.pipeline_def(batch_size=3, num_threads=1, seed=5, workers=workers)
    def define():
        outputs = []
        for name, args in readers.values():
            read = fn
            for part in name.split("."):
                read = getattr(read, part)
            given = read(**args, random_shuffle=True)
            if isinstance(given, dict):
                given = list(given.values())
            outputs += given if isinstance(given, (list, tuple)) else [given]
        return tuple(outputs)

    return define()


@pytest.fixture(scope="module")
def of_readers(readers):
    """Batches of all readers, made by this process alone, and the state after each."""
    assert len(readers) > 10
    with closing(of_every_reader(readers, 0)) as pipe:
        return [(batch(pipe), pipe.get_state()) for _ in range(5)]


@both_kinds
def test_every_reader_in_mid_epoch_and_from_a_state(readers, of_readers, workers):
    with closing(of_every_reader(readers, one_of(workers))) as pipe:
        assert [(batch(pipe), pipe.get_state()) for _ in range(5)] == of_readers
        pipe.set_state(of_readers[1][1])
        assert [(batch(pipe), pipe.get_state()) for _ in range(3)] == of_readers[2:]


@both_kinds
def test_an_iterator_and_its_states(folder, workers):
    def two_epochs(it):
        found, states = [], []
        for _ in range(2):
            for outputs in it:
                found.append({name: np.asarray(value).tolist() for name, value in outputs.items()})
                states.append(it.get_state())
            it.reset()
        return found, states

    def iterator(workers):
        pipe = light_pipeline(folder, workers=workers)
        return DataIterator(pipe, NAMES, ragged=("picture",), reader_name="pictures")

    with iterator(0) as it:
        here, states = two_epochs(it)
    with iterator(one_of(workers)) as it:
        assert two_epochs(it) == (here, states)
        it.set_state(states[1])
        later, _ = two_epochs(it)
    assert later[: len(here) - 2] == here[2:]


@pytest.mark.parametrize("workers", [on_ray()], indirect=True)  # test_workers.py has it with processes
def test_sources_of_all_places(workers):
    """One in processes of its own, one in the process of the test; the function runs in workers."""

    def define(workers):
        @jdali.pipeline_def(
            batch_size=BATCH, num_threads=1, seed=7, py_start_method="forkserver", workers=workers
        )
        def definition():
            numbers, others = fn.external_source(Samples(9), batch=False, parallel=True, num_outputs=2)
            mine = fn.external_source(source=lambda info: np.int64(info.idx_in_epoch), batch=False)
            return fn.python_function(numbers, mine, function=lambda a, b: a + b), others

        return definition()

    with closing(define(0)) as one, closing(define(one_of(workers))) as other:
        for _ in range(3):
            assert batch(other) == batch(one)


# --- samples that fail ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("workers", "on_error"),
    [(2, "skip"), on_ray("mask")],
    indirect=["workers"],
)
def test_bad_samples_are_replaced(bad_folder, on_error, workers):
    def run(workers):
        with closing(light_pipeline(bad_folder, workers=workers, on_error=on_error)) as pipe:
            return [batch(pipe) for _ in range(7)], pipe.errors, pipe.get_state()

    here, there = run(0), run(workers)
    assert there == here
    assert {Path(error.path).name for error in here[1]} == {f"{i:02}.png" for i in BAD}


@both_kinds
def test_the_error_names_operator_file_and_line(bad_folder, workers):
    def error(workers):
        with (
            closing(light_pipeline(bad_folder, workers=workers)) as pipe,
            pytest.raises(RuntimeError) as caught,
        ):
            run(pipe, 4)
        return caught.value

    here, there = error(0), error(one_of(workers))
    assert str(there) == str(here)
    assert "decoders.image" in str(there)
    assert type(there) is type(here)
    assert (there.operator, there.sample, there.source, there.where) == (
        here.operator, here.sample, here.source, here.where,
    )  # fmt: skip
    assert any("in a worker process" in note for note in there.__cause__.__notes__)


@both_kinds
def test_an_error_of_the_user_keeps_its_type(folder, workers):
    def broken(picture):
        raise KeyError("of the user")

    with (
        closing(light_pipeline(folder, broken, workers=one_of(workers))) as pipe,
        pytest.raises(KeyError, match="of the user") as caught,
    ):
        pipe.run()
    assert "in broken" in caught.value.__cause__.__notes__[0]


# --- samples that kill their worker -----------------------------------------------------------------
COUNT, DAMAGED = 9, 5
ENDS = {
    "SEGV": "was killed by signal 11 (SIGSEGV)",
    "KILL": "was killed by signal 9 (SIGKILL)",
    "EXIT": "ended with exit code 3",
}


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """Folders with a file that ends the process of the codec, by how it does so."""
    folders = tmp_path_factory.mktemp("damaged")
    return {end: write_files(folders / end, COUNT, {DAMAGED: end}) for end in ENDS}


def decoded(folder, codec, workers, on_error):
    """The numbers in the files, in order."""

    @jdali.pipeline_def(batch_size=2, num_threads=1, seed=7, on_error=on_error, workers=workers)
    def define():
        encoded, _ = fn.readers.file(file_root=folder, file_filters="*.number", name="reader")
        return fn.python_function(encoded, function=codec)

    return define()


def values(pipe, steps):
    return [pipe.run()[0].as_array().tolist() for _ in range(steps)]


@pytest.mark.parametrize(
    ("workers", "end"),
    [(1, "SEGV"), pytest.param(1, "KILL", marks=pytest.mark.exhaustive), on_ray("EXIT")],
    indirect=["workers"],
)
def test_a_codec_that_crashes_is_an_error_with_file_worker_and_signal(damaged, end, workers):
    with closing(decoded(damaged[end], broken_codec(), one_of(workers), "raise")) as pipe:
        assert values(pipe, 2) == [[0, 1], [2, 3]]
        with pytest.raises(RuntimeError) as caught:
            pipe.run()
        assert values(pipe, 2) == [[6, 7], [8, 0]]  # it goes on
    text = str(caught.value)
    assert f"{ENDS[end]} while it worked on this sample" in text
    assert "worker process " in text
    assert "sample 1 of the batch" in text
    assert f"file {damaged[end]}/0/{DAMAGED:02}.number" in text
    node = f" on node {os.uname().nodename} ("
    assert (node in text) == (not isinstance(workers, int))


@pytest.mark.parametrize(("workers", "on_error"), [(2, "skip"), on_ray("mask")], indirect=["workers"])
def test_a_codec_that_crashes_costs_one_sample(damaged, on_error, workers):
    with closing(decoded(damaged["SEGV"], careful_codec(), 0, on_error)) as pipe:
        expected, errors = values(pipe, 4), pipe.errors
    with closing(decoded(damaged["SEGV"], broken_codec(), workers, on_error)) as pipe:
        assert values(pipe, 4) == expected
        found = pipe.errors
    assert errors
    assert [(e.path, e.epoch, e.index) for e in found] == [(e.path, e.epoch, e.index) for e in errors]
    assert {e.operator for e in found} == {"worker process"}
    assert all(ENDS["SEGV"] in e.reason for e in found)


# --- names ------------------------------------------------------------------------------------------
@both_kinds
def test_relative_names_are_those_of_the_folder_where_it_was_built(
    folder, light_batches, workers, tmp_path, monkeypatch
):
    monkeypatch.chdir(Path(folder).parent)
    with closing(light_pipeline(Path(folder).name, workers=one_of(workers))) as pipe:
        found = [batch(pipe)[0]]
        monkeypatch.chdir(tmp_path)
        for pid in pids_of(pipe):  # others start in this folder
            os.kill(pid, signal.SIGKILL)
        found += [batch(pipe)[0] for _ in range(STEPS - 1)]
        assert workers_of(pipe).counts().deaths >= 1
    assert found == [made[0] for made, _ in light_batches]


# --- workers that are killed --------------------------------------------------------------------------
@both_kinds
@pytest.mark.exhaustive  # faults/test_worker_processes.py kills more of them
def test_workers_that_are_killed_lose_nothing(folder, light_batches, workers):
    with closing(light_pipeline(folder, workers=workers)) as pipe:
        found, killed = [], []
        for step in range(STEPS):
            found.append((batch(pipe), pipe.get_state()))
            if step in (1, 4):
                assert until(lambda: [pid for pid in pids_of(pipe) if pid not in killed])
                # The first one gets the next task, and what it works on is lost.
                killed.append(next(pid for pid in pids_of(pipe) if pid not in killed))
                os.kill(killed[-1], signal.SIGKILL)
        assert found == light_batches
        assert workers_of(pipe).counts().deaths >= 1
