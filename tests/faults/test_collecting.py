"""Loaders in a cycle with their own callbacks, the usual class: dropped, they are collected, and their threads end."""

import gc
import os
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
from support.callbacks import Samples
from support.faults import in_thread, jdali_threads, until
from support.numbers import NumberReader, numbers

import jdali
from jdali import fn
from jdali.iterator import DataIterator

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

BATCHES = 4


class Loader:
    """Has a pipeline, whose callbacks are its methods."""

    def __init__(self, **options):
        self.options = {"batch_size": 2, "num_threads": 2, "seed": 1, **options}
        self.pipe = self.define()

    def batch(self, number):
        if number == BATCHES:
            raise StopIteration
        return np.full((2, 3), number, np.float32)

    def more(self, value):
        assert self.pipe is not None
        return value + 1

    def next(self):
        return self.pipe.run()

    def close(self):
        self.pipe.close()


class Source(Loader):
    """An external source, and a compiled stage."""

    def define(self):
        @jdali.pipeline_def(**self.options)
        def pipeline():
            return fn.external_source(self.batch) * 2.0

        return pipeline()


class Function(Loader):
    """A function behind a reader, made ahead in threads."""

    def define(self):
        with jdali.Pipeline(**self.options) as pipe:
            pipe.set_outputs(fn.python_function(numbers(NumberReader(2 * BATCHES)), function=self.more))
        return pipe


class Iterated(Function):
    """The same in an iterator, which the loader has too."""

    def define(self):
        self.pipe = super().define()
        self.iterator = DataIterator(self.pipe, ["x"], reader_name="Reader")
        return self.pipe

    def next(self):
        return next(self.iterator)

    def close(self):
        self.iterator.close()


class IteratedSource(Source):
    """An iterator that calls the source when it is asked."""

    def define(self):
        self.iterator = DataIterator(super().define(), ["x"])
        return self.iterator.pipelines[0]

    def next(self):
        return next(self.iterator)


class Setup(jdali.Pipeline):
    """The pipeline feeds itself."""

    def __init__(self, **options):
        super().__init__(**{"batch_size": 2, "num_threads": 2, "seed": 1, **options})
        self.count, self.pipe = 0, self

    def define_graph(self):
        return fn.python_function(fn.external_source(name="x"), function=self.more)

    def more(self, value):
        return value + self.count

    def iter_setup(self):
        self.count += 1
        if self.count > BATCHES:
            raise StopIteration
        self.feed_input("x", np.full((2, 3), self.count, np.float32))

    def next(self):
        return self.run()


class InWorkers(Loader):
    """A source in worker processes that knows its loader."""

    def define(self):
        self.source = Samples(2 * BATCHES)

        @jdali.pipeline_def(**self.options, py_num_workers=1, py_start_method="forkserver")
        def pipeline():
            return tuple(fn.external_source(self.source, batch=False, parallel=True, num_outputs=2))

        pipe = pipeline()
        pipe.build()
        self.source.loader = self
        return pipe


KINDS = [Source, Function, Iterated, IteratedSource, Setup, InWorkers]
POINTS = ["not built", "built", "in mid-epoch", "at the end"]


def reach(loader, point):
    if point == "built":
        loader.pipe.build()
    if point == "in mid-epoch":
        loader.next()
    if point == "at the end":
        assert len([loader.next() for _ in range(BATCHES)]) == BATCHES
        with pytest.raises(StopIteration):
            loader.next()


def is_alive(pid):
    status = Path(f"/proc/{pid}/status")
    try:
        return "\nState:\tZ" not in status.read_text()
    except OSError:
        return False


# A reader has no end without an iterator.
CASES = [(kind, point) for kind in KINDS for point in POINTS if (kind, point) != (Function, "at the end")]


@pytest.mark.cases(8)
@pytest.mark.parametrize(("kind", "point"), CASES)
def test_a_loader_that_was_dropped_is_collected_and_its_threads_end(kind, point):
    before = jdali_threads()
    loader = kind()
    reach(loader, point)
    pool = loader.pipe.internals().callback_workers
    pids = [] if pool is None else pool.pids()
    kept = weakref.ref(loader)
    del loader, pool
    # A thread that just made a batch holds the loader until that is done.
    assert until(lambda: gc.collect() is not None and kept() is None)
    assert until(lambda: not jdali_threads() - before)
    assert until(lambda: not any(map(is_alive, pids)))


@pytest.mark.parametrize("options", [{"exec_async": False}, {"debug": True}], ids=str)
@pytest.mark.parametrize("kind", [Source, Function])
def test_also_where_batches_are_made_when_asked_for(kind, options):
    if kind is Function:

        class kind(Function):  # type: ignore[no-redef]
            def define(self):
                @jdali.pipeline_def(**self.options)
                def pipeline():
                    return fn.python_function(fn.random.uniform(range=(0.0, 1.0)), function=self.more)

                return pipeline()

    before = jdali_threads()
    loader = kind(**options)
    loader.next()
    kept = weakref.ref(loader)
    del loader
    assert until(lambda: gc.collect() is not None and kept() is None)
    assert until(lambda: not jdali_threads() - before)


@pytest.mark.parametrize("kind", [Source, Iterated, InWorkers])
def test_ten_of_them_leave_no_thread_and_no_descriptor(kind):
    before = jdali_threads()
    kind().next()  # a fork server stays
    assert until(lambda: gc.collect() is not None and not jdali_threads() - before)
    descriptors = len(os.listdir("/proc/self/fd"))
    for _ in range(3 if kind is InWorkers else 10):
        kind().next()
    assert until(lambda: gc.collect() is not None and not jdali_threads() - before)
    assert until(lambda: gc.collect() is not None and len(os.listdir("/proc/self/fd")) <= descriptors)


@pytest.mark.parametrize("kind", [Source, Iterated])
def test_a_loader_in_use_is_not_collected(kind):
    """The threads hold nothing, whoever waits does."""
    loader = kind()
    for _ in range(BATCHES):
        gc.collect()
        assert loader.next()
    loader.close()


def test_who_waits_in_another_thread_keeps_what_it_waits_for():
    go = threading.Event()

    class Slow(Source):
        def batch(self, number):
            if number == 1:
                assert go.wait(60)
            return super().batch(number)

    loader = Slow(prefetch_queue_depth=1)
    first = in_thread(lambda run=loader.next: run())
    assert first()
    waits = in_thread(lambda run=loader.next: run()[0].as_array())
    kept = weakref.ref(loader)
    del loader
    gc.collect()
    assert kept() is not None
    go.set()
    np.testing.assert_array_equal(waits(), np.full((2, 3), 2, np.float32))
    assert until(lambda: gc.collect() is not None and kept() is None)
