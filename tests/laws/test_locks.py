"""Locks are taken in the order of the table in ARCHITECTURE.md."""

import contextlib
import re
import threading
from pathlib import Path

import numpy as np
import pytest
from support.locks import SIGNALS, LockTracker, TrackedLock, locks_made
from support.numbers import NumberReader, numbers

import jdali
from jdali import dynamic, fn
from jdali.iterator import DataIterator

TEXT = (Path(jdali.__file__).parents[1] / "ARCHITECTURE.md").read_text()
TABLE = TEXT[TEXT.index("## Locks") : TEXT.index("## Laws")]
RANKS = {
    f"{module} {lock}": int(rank)
    for rank, lock, module in re.findall(r"^\| (\d+) \| `(.*?)` \| `(.*?)` \|", TABLE, re.MULTILINE)
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
    """Those that the table does not allow."""
    return {(held, wanted) for held, wanted in edges if RANKS[held] >= RANKS[wanted]}


def test_every_lock_is_in_the_table():
    assert {*locks_made().values()} - SIGNALS == RANKS.keys()


@pytest.mark.parametrize("scenario", [iterated, shared, replaced, fed, dynamically_read, made_by_workers])
def test_locks_are_taken_in_the_order_of_the_table(scenario, monkeypatch):
    tracker = LockTracker(monkeypatch)
    scenario()
    assert tracker.edges
    assert not refused(tracker.edges)


def test_the_check_can_fail(monkeypatch):
    tracker = LockTracker(monkeypatch)
    inner = TrackedLock("_batches/slabs.py SlabPool._lock", threading.Lock(), tracker)
    outer = TrackedLock("engine/flow/gate.py Gate._changed", threading.Lock(), tracker)
    with outer, inner:
        pass
    assert not refused(tracker.edges)
    with inner, outer:
        pass
    assert refused(tracker.edges) == {(inner.name, outer.name)}
