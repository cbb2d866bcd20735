"""External sources with `parallel=True`: the same batches as without, whatever happens to the workers."""

import contextlib
import errno
import functools
import gc
import os
import signal
import traceback
import weakref

import jax.numpy as jnp
import numpy as np
import pytest
from support.callbacks import (
    Bad,
    Dies,
    Growing,
    Hangs,
    Numbered,
    Samples,
    batch_with_info,
    batches,
    whole_batch,
)
from support.faults import descriptors_left, in_thread, jdali_threads, until

import jdali
from jdali import OperatorError, fn, tensors

SOURCES = {
    "samples": (Samples(10), {"batch": False, "num_outputs": 2}),
    "batches": (whole_batch, {}),
    "batches with BatchInfo": (batch_with_info, {"batch_info": True}),
    "generator function": (batches, {}),
    "generator function again and again": (batches, {"cycle": "quiet"}),
    "raising at its end": (batches, {"cycle": "raise"}),
    "iterable of samples": (Numbered(), {"batch": False}),
    "list": ([np.int32([[1], [2]]), np.int32([[3], [4]])], {}),
}


def make(source, *, parallel, batch_size=4, seed=None, **options):
    pipe = jdali.Pipeline(
        batch_size=batch_size, num_threads=1, seed=seed, py_num_workers=2, py_start_method="forkserver"
    )
    with pipe:
        outputs = fn.external_source(source, parallel=parallel, **options)
        pipe.set_outputs(*(outputs if isinstance(outputs, list) else [outputs]))
    return pipe


def taken(pipe, count):
    """Batches as lists, the ends of epochs as None; it goes on after them."""
    found = []
    for _ in range(count):
        try:
            found.append([[sample.tolist() for sample in map(np.asarray, out)] for out in pipe.run()])
        except StopIteration:
            found.append(None)
            pipe.reset()
    return found


@pytest.fixture
def closing():
    """Makes pipelines that are closed at the end of the test."""
    made = []

    def get(*args, **options):
        made.append(make(*args, **options))
        return made[-1]

    yield get
    for pipe in made:
        pipe.close()


@pytest.mark.parametrize("name", SOURCES)
def test_the_same_batches_as_in_the_process_itself(closing, name):
    source, options = SOURCES[name]
    expected = taken(closing(source, parallel=False, **options), 8)
    assert taken(closing(source, parallel=True, prefetch_queue_depth=3, **options), 8) == expected


@pytest.mark.parametrize(
    "make", [jnp.asarray, tensors.TensorGPU, tensors.TensorCPU], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("batch", [True, False], ids=["batches", "samples"])
def test_arrays_of_other_kinds(closing, make, batch):
    """Arrays and tensors of JAX, which stay in the worker."""

    def source(info):
        value = np.full((2, 3), info if batch else info.idx_in_epoch, np.float32)
        return [make(value)] if batch else make(value)

    (found,) = closing(source, parallel=True, batch=batch).run()
    assert [sample.tolist() for sample in map(np.asarray, found)] == [
        [[i] * 3] * 2 for i in range(1 if batch else 4)
    ]


@pytest.mark.parametrize("name", ["samples", "generator function", "list"])
def test_state(closing, name):
    """It counts what was taken, not what the workers made ahead, and serves a source in the process as well."""
    source, options = SOURCES[name]
    parallel = closing(source, parallel=True, **options)
    taken(parallel, 1)
    state, expected = parallel.get_state(), taken(parallel, 3)
    for other in (True, False):
        pipe = closing(source, parallel=other, **options)
        pipe.set_state(state)
        assert taken(pipe, 3) == expected
    parallel.set_state(state)
    assert taken(parallel, 3) == expected


def test_batches_are_asked_for_in_advance(closing, tmp_path):
    """Those that the depth allows, while nobody takes them."""
    note = functools.partial(_note, str(tmp_path))
    pipe = closing(note, parallel=True, prefetch_queue_depth=3)
    pipe.run()
    assert until(lambda: len(os.listdir(tmp_path)) >= 4)


def test_shared_memory_has_the_room_that_was_asked_for(closing):
    hinted = closing(
        Samples(10), batch=False, num_outputs=2, parallel=True, bytes_per_sample_hint=(1 << 20, 10)
    )
    assert hinted.external_source_shm_statistics() == {"capacities": [], "per_sample_capacities": []}
    hinted.run()
    found = hinted.external_source_shm_statistics()
    assert set(found["per_sample_capacities"]) == {(1 << 20) + 10}
    assert len(found["capacities"]) == len(found["per_sample_capacities"]) > 0
    inside = closing(Samples(10), batch=False, num_outputs=2, parallel=False)
    inside.run()
    assert inside.external_source_shm_statistics()["capacities"] == []


def _note(folder, number):
    open(os.path.join(folder, str(number)), "w").close()
    return np.int32([[number]])


def test_an_exception_of_a_callback_names_the_operator_and_shows_the_workers_traceback(closing):
    pipe = closing(Bad(), parallel=True, batch=False)
    with pytest.raises(KeyError, match="sample two") as caught:
        pipe.run()
    assert isinstance(caught.value, jdali.OperatorError)
    text = "".join(traceback.format_exception(caught.value))
    assert "callbacks.py" in text
    assert 'raise KeyError("sample two")' in text


def test_a_worker_that_dies_is_an_error_and_no_hang(closing):
    pipe = closing(Dies(), parallel=True)
    assert pipe.run()[0].as_array().tolist() == [[0]]
    with pytest.raises(RuntimeError, match=r"worker process \d+ ended with exit code 7"):
        pipe.run()
    with pytest.raises(RuntimeError, match=r"worker process \d+ ended with exit code 7"):
        pipe.run()


def test_without_a_descriptor_for_the_memory_of_a_batch_it_is_an_error_and_no_hang(closing):
    pipe = closing(Growing(), parallel=True, batch=False, prefetch_queue_depth=1)
    pipe.build()
    with (
        descriptors_left(0),
        pytest.raises(OperatorError, match="external_source: .*Too many open files") as caught,
    ):
        taken(pipe, 6)  # some of them were made before
    assert caught.value.errno == errno.EMFILE
    for _ in range(4):  # the next batches may have been asked for meanwhile
        with contextlib.suppress(OSError):
            sizes = [len(pipe.run()[0].at(0))]
            break
    sizes += [len(pipe.run()[0].at(0)) for _ in range(2)]
    assert sizes == [sizes[0] << i for i in range(3)]


def test_close_ends_a_callback_that_hangs(closing, tmp_path):
    before = jdali_threads()
    pipe = closing(Hangs(str(tmp_path / "begun")), parallel=True)
    waiting = in_thread(pipe.run)
    assert until((tmp_path / "begun").exists)
    pipe.close()
    with pytest.raises(RuntimeError):
        waiting()
    assert until(lambda: jdali_threads() <= before)


def test_a_pipeline_that_is_dropped_after_its_end_leaves_no_process():
    """At once, not when the garbage collector looks for cycles."""
    pipe = make(batches, parallel=True)
    taken(pipe, 1)
    pids = pipe.internals().callback_workers.pids()
    pool = weakref.ref(pipe)
    gc.disable()
    try:
        with contextlib.suppress(StopIteration):
            while True:
                pipe.run()
        assert all(os.path.exists(f"/proc/{pid}") for pid in pids)
        del pipe
        assert until(lambda: pool() is None)
        assert until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids))
    finally:
        gc.enable()


def test_random_numbers_of_callbacks_follow_the_pipelines_seed(closing):
    def draws():
        while True:
            yield np.random.random(4)  # noqa: NPY002

    def first(seed):
        return closing(draws, parallel=True, seed=seed).run()[0].as_array()

    one, again, other = first(3), first(3), first(4)
    np.testing.assert_array_equal(one, again)
    assert not np.isin(other, one).any()


def test_a_worker_that_dies_while_it_has_nothing_to_do(closing):
    pipe = closing(whole_batch, parallel=True)
    pipe.start_py_workers()
    os.kill(pipe.internals().callback_workers.pids()[0], signal.SIGKILL)
    assert until(lambda: "closed" in repr(pipe.internals().callback_workers))
    with pytest.raises(RuntimeError, match=r"worker process \d+ was killed by signal 9, though"):
        pipe.run()


def test_each_pipeline_has_its_own_workers(closing):
    node = fn.external_source(whole_batch, parallel=True)
    pipes = []
    for _ in range(2):
        pipe = jdali.Pipeline(batch_size=4, num_threads=1, py_start_method="forkserver")
        pipe.set_outputs(node)
        pipes.append(pipe)
    first, second = (taken(pipe, 3) for pipe in pipes)
    assert first == second
    for pipe in pipes:
        pipe.close()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: fn.external_source(parallel=True), TypeError, "parallel=True needs a source"),
        (lambda: fn.external_source(lambda: 1, parallel=True), TypeError, "must accept exactly one argument"),
        (
            lambda: fn.external_source(whole_batch, parallel=True, prefetch_queue_depth=0),
            ValueError,
            "``prefetch_queue_depth`` must be a positive integer, got 0",
        ),
    ],
)
def test_what_cannot_be_parallel(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_what_cannot_be_pickled(closing):
    pipe = closing((number for number in range(2)), parallel=True)
    with pytest.raises(TypeError, match=r"cannot pickle 'generator' object\na callback that runs in"):
        pipe.build()


def test_workers_may_be_started_before_the_pipeline_is_built(closing):
    pipe = closing(whole_batch, parallel=True)
    pipe.start_py_workers()
    workers = pipe.internals().callback_workers
    assert pipe.py_start_method == "forkserver"
    taken(pipe, 1)
    assert pipe.internals().callback_workers is workers


def test_a_pipeline_without_parallel_sources_starts_no_process(closing):
    pipe = closing(whole_batch, parallel=False)
    pipe.start_py_workers()
    assert pipe.internals().callback_workers is None


def test_a_generator_is_not_gone_through_to_say_that_it_cannot_be_replayed():
    """In the process itself; workers have a copy of the list."""
    given = []

    def numbers():
        for number in range(6):
            given.append(number)
            yield np.int32([[number]])

    with jdali.Pipeline(batch_size=1, num_threads=1, py_num_workers=1, py_start_method="forkserver") as pipe:
        pipe.set_outputs(fn.external_source(source=numbers, parallel=True))
    assert [int(np.asarray(pipe.run()[0][0])[0]) for _ in range(2)] == [0, 1]
    with pytest.raises(RuntimeError, match="gives each item once"):
        pipe.internals().engine.cursor.twin()
    assert not given
    pipe.close()
