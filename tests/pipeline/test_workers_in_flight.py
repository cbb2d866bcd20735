"""Batches that workers have made ahead: bounded by number and by bytes."""

import os
import sys
from contextlib import closing

import numpy as np
import pytest
from support.faults import until
from support.worker_kinds import workers_of

import jdali
from jdali import fn
from jdali._workers import ProcessWorkers

MIB = 1 << 20
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells which files are open")


@pytest.fixture
def pipeline(tmp_path):
    """Makes pipelines of batches of one sample, of a number of MiB, whose bytes are the number of the batch."""
    path = tmp_path / "file"
    path.write_bytes(b"1")

    def make(mebibytes, **options):
        @jdali.pipeline_def(batch_size=1, num_threads=1, workers=2, **options)
        def define():
            _, number = fn.readers.file(files=[str(path)] * 64)
            return fn.python_function(number, function=lambda x: np.full(mebibytes * MIB, x[0], np.uint8))

        return define()

    return make


def shared_files():
    """Sizes of the nameless files that this process has open: the shared memory of its workers."""
    sizes = {}  # a mapping has a descriptor of its own
    for descriptor in os.listdir("/proc/self/fd"):
        path = f"/proc/self/fd/{descriptor}"
        try:
            if "/jdali-" in os.readlink(path) or "/#" in os.readlink(path):
                found = os.stat(path)
                sizes[found.st_dev, found.st_ino] = found.st_size
        except OSError:  # it was that of the folder
            continue
    return sizes


@pytest.fixture
def shared_bytes():
    """Returns the bytes of shared memory that there are beside those of earlier tests."""
    before = shared_files()
    return lambda: sum(size for name, size in shared_files().items() if name not in before)


def test_shared_memory_stays_within_the_bytes_that_were_given(pipeline, shared_bytes, monkeypatch):
    monkeypatch.setattr(ProcessWorkers, "in_flight", 16)  # the number alone would let 64 MiB wait
    size, most = 4 * MIB, 13 * MIB
    with closing(pipeline(4, max_prefetch_bytes=most)) as pipe:
        for i in range(24):
            (batch,) = pipe.run()
            assert np.asarray(batch[0])[-1] == i
            ahead = 1 + i + most // size
            assert until(lambda: workers_of(pipe).counts().made >= ahead)  # noqa: B023
            assert workers_of(pipe).counts().made == ahead
            # The loop holds two while it takes one, and threads, JAX's among them, may be slow to let go of another two.
            # A slab may be an eighth larger than what lies in it.
            assert shared_bytes() <= (most + 4 * size) * 9 / 8
        assert not until(lambda: workers_of(pipe).counts().made > ahead, 0.2)


def test_without_bytes_the_number_is_bounded_however_long_nobody_takes_a_batch(pipeline, shared_bytes):
    with closing(pipeline(1)) as pipe:
        pipe.run()
        # Those that wait, one that is made meanwhile, and the one that was taken.
        most = workers_of(pipe).in_flight + 2
        assert most == 7
        assert until(lambda: workers_of(pipe).counts().made == most)
        assert not until(lambda: workers_of(pipe).counts().made > most, 0.2)
        assert shared_bytes() <= most * MIB * 9 / 8


def test_more_are_under_way_as_soon_as_workers_want_more(pipeline, monkeypatch):
    wanted = [5]
    monkeypatch.setattr(ProcessWorkers, "in_flight", property(lambda self: wanted[0]))
    with closing(pipeline(1)) as pipe:
        pipe.run()
        wanted[0] = 9
        pipe.run()
        assert until(lambda: workers_of(pipe).counts().made == 2 + 9 + 1)
