"""Locks are taken in the order of their ranks.

A thread that holds a lock waits only for locks of a higher rank. Finalizers run in any thread, under any lock: they take
`Scope._lock` only, which is reentrant, and a slab's finalizer never blocks. The user's callbacks run under ranks 1 to 7.
"""

import contextlib
import threading
from pathlib import Path

import numpy as np
import pytest
from support.locks import SIGNALS, LockTracker, TrackedLock, locks_made
from support.numbers import NumberReader, numbers

import jdali
from jdali import dynamic, fn
from jdali.iterator import DataIterator

# Each lock, its rank, and the data it guards.
RANKS = {
    "iterator/epoch_loop.py FirstBatches._turn": 1,  # the batches that `take` still yields
    "iterator/epoch_loop.py EpochLoop._lock": 2,  # position, state, end of the epoch; free while waiting
    "_viewer/timing.py LiveTimes._lock": 2,  # time marks and curve points
    "engine/eager/inspector.py PipelineInspector._lock": 3,  # the viewer's engine
    "_pipeline/pipeline.py Pipeline._build_lock": 4,  # building a pipeline once; its worker processes
    "engine/window.py Window.turn": 5,  # taking a batch and noting its position; setting a state
    "engine/in_flight.py InFlight._drawing": 6,  # drawing one task at a time
    "engine/in_order.py InOrder._changed": 12,  # numbers of the batches at a step; free while it runs
    "iterator/assembled_ahead.py _Joining._lock": 12,  # parts of batches
    "engine/engine.py alone": 6,  # the runner of a step that takes one batch at a time
    "engine/make.py PreparedPlan._turn": 6,  # the runners of a plan without a pipeline
    "dynamic/_readers.py Reader._lock": 6,  # a reader's position, in dynamic mode
    "_sources/external_source.py SourceFeed._turn": 7,  # calls of the user's source until its data are copied; reentrant
    "readers/dataset.py DatasetReader._turn": 7,  # calls of the user's data set
    "iterator/assembled_ahead.py Assembly._turn": 7,  # assembling one batch at a time
    "engine/workers.py Pool.turns": 7,  # brief work: one thread at a time
    "engine/in_flight.py InFlight.changed": 8,  # batches on their way; the life of the pipeline
    "plugin/pytorch/experimental/proxy/_requests.py Requests._changed": 8,  # batches of the proxy
    "engine/steps/program_table.py Compiled.lock": 8,  # the first call, which compiles
    "engine/steps/program.py ProgramBudget._lock": 8,  # the number of a pipeline's programs
    "engine/steps/program_table.py ProgramTable._lock": 8,  # the functions that pipelines share
    "readers/found_by.py Tables._lock": 9,  # building a wrong index anew, once
    "readers/formats/videos.py Videos._looking": 9,  # the same for videos
    "readers/formats/kept.py KeptPieces._lock": 10,  # groups of rows, and chunks, that are kept; free while one is read
    "readers/ahead.py ReadAhead._lock": 10,  # samples loaded ahead
    "_storage/record_files.py OpenFiles._lock": 10,  # files that are open, or mapped
    "_storage/blocks.py Blocks._lock": 10,  # blocks fetched ahead
    "readers/formats/videos.py Handles._lock": 10,  # idle decoders; these are closed without it
    "readers/formats/videos.py Videos._lock": 10,  # open remote videos
    "_storage/remote.py _archive_turn": 12,  # open local archives, and a request to one of them
    "_storage/scope.py Scope._lock": 11,  # requests under way; reentrant, since the garbage collector may end a scope
    "_threads/worker_threads.py WorkerThreads._lock": 12,  # threads of a pool
    "_threads/worker_threads.py _Queue._lock": 13,  # waiting tasks
    "_threads/worker_threads.py _AwaitedCalls._lock": 13,  # results of a call to `run_all`
    "_sources/external_source.py SourceFeed._feed_lock": 13,  # data fed and not used yet; `VideoInput` waits on it
    "_batches/slabs.py SlabPool._lock": 13,  # slabs; a finalizer never waits for it
    "_threads/timing.py PhaseTimer._lock": 13,  # times
    "iterator/epoch_loop.py WaitClock._lock": 13,  # times of waiting
    "_threads/native_calls.py Native._lock": 13,  # the number of threads in calls of XLA
    "_workers/pool.py TaskPool._lock": 13,  # tasks, processes and slabs; futures are resolved without it
    "plugin/ray/dispatcher.py RayDispatcher._lock": 13,  # tasks that wait for an actor
    "plugin/ray/worker_set.py RayWorkers._lock": 13,  # handles of actors
    "engine/executors/elsewhere.py MadeElsewhere._counting": 13,  # bytes that came from workers
    "serving/app.py ServerMetrics._lock": 13,  # counts of requests
    "cli/conversion/sources.py lock": 9,  # row groups of Parquet files that `convert` reads, one at a time
    "_kernels/connected_objects.py _lock": 13,  # boxes that are cached
    "dynamic/_rng.py RNG._lock": 13,  # a generator's position
    "dynamic/_context.py ThreadPool._lock": 13,  # the threads of a context
    "dynamic/_context.py _default_lock": 13,  # the default context
    "_system/devices.py _Forbidden.lock": 13,  # the count of `device_reads_forbidden`, in tests
}
FILES = {"file_root": str(Path(__file__).parent), "files": ["test_locks.py"] * 12}


def pipeline(define=None, *, bad=(), **options):
    """A pipeline with random numbers and a reader, or other data."""
    pipe = jdali.Pipeline(batch_size=4, num_threads=2, device_id=None, **options)
    with pipe:
        data = numbers(NumberReader(12, bad=bad)) if define is None else define()
        pipe.set_outputs(data + fn.random.uniform(range=[0, 1]), data)
    return pipe


def iterated():
    """Whole epochs, parts of them, states, and a loop that is left."""
    with DataIterator(pipeline(), ["x", "n"], reader_name="Reader") as it:
        state = it.get_state()
        assert sum(1 for _ in it) == 3
        assert sum(1 for _ in it.take(2)) == 2
        it.set_state(state)
        for _ in it:
            break
        it.reset(force=True)
        it.batch_at(1)


def shared():
    """Two threads on one iterator, which is closed meanwhile."""
    it, seen = DataIterator(pipeline(), ["x", "n"], size=-1), threading.Semaphore(0)

    def loop():
        with contextlib.suppress(RuntimeError):  # the pipeline is closed
            for _ in it:
                seen.release()

    threads = [threading.Thread(target=loop) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(6):
        assert seen.acquire(timeout=60)
    it.close()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def replaced():
    """Samples that fail: skipped, and masked."""
    for on_error in ("skip", "mask"):
        pipe = pipeline(bad=(1, 7), on_error=on_error)
        with DataIterator(pipe, ["x", "n"], reader_name="Reader") as it:
            assert sum(1 for _ in it) == 3


def fed():
    """A source that is called, and one that is fed."""
    value = np.zeros((4, 1), np.float32)
    for options in ({"source": lambda: value}, {"name": "fed"}):
        pipe = pipeline(lambda options=options: fn.external_source(**options))
        if "name" in options:
            for _ in range(4):
                pipe.feed_input("fed", value)
        pipe.run()
        pipe.close()


def dynamically_read():
    """A reader of files in dynamic mode, and random numbers."""
    for data, _ in dynamic.readers.File(**FILES).next_epoch(batch_size=4):
        dynamic.slice(data, start=[0], end=[4], axes=[0]).evaluate()
    dynamic.random.uniform(range=[0.0, 1.0], batch_size=2).evaluate()


def made_by_workers():
    """Batches of a worker process, and of one more."""
    pipe = pipeline(lambda: fn.readers.file(**FILES)[1] + np.float32(0), workers=1)
    pipe.run()
    pipe.resize_workers(2)
    pipe.run()
    pipe.close()


def refused(edges):
    """Those that the ranks do not allow."""
    return {(held, wanted) for held, wanted in edges if RANKS[held] >= RANKS[wanted]}


def test_every_lock_has_a_rank():
    assert {*locks_made().values()} - SIGNALS == RANKS.keys()


@pytest.mark.cases(3)
@pytest.mark.parametrize("scenario", [iterated, shared, replaced, fed, dynamically_read, made_by_workers])
def test_locks_are_taken_in_the_order_of_their_ranks(scenario, monkeypatch):
    tracker = LockTracker(monkeypatch)
    scenario()
    assert tracker.edges
    assert not refused(tracker.edges)


def test_the_check_can_fail(monkeypatch):
    tracker = LockTracker(monkeypatch)
    inner = TrackedLock("_batches/slabs.py SlabPool._lock", threading.Lock(), tracker)
    outer = TrackedLock("engine/in_order.py InOrder._changed", threading.Lock(), tracker)
    with outer, inner:
        pass
    assert not refused(tracker.edges)
    with inner, outer:
        pass
    assert refused(tracker.edges) == {(inner.name, outer.name)}
