"""Arrays that travel in memory: all types and shapes, memory that is used again, and none that is looked at."""

import gc
import os
from pathlib import Path

import numpy as np
import pytest

from jdali._workers import memory as _memory
from jdali._workers.parcel import Received, pack
from jdali.tensors import TensorCPU


@pytest.fixture
def received():
    made = Received()
    yield made
    made.close()


TYPES = [np.bool_, np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64]
TYPES += [np.float16, np.float32, np.float64]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 5), (2, 0, 4)])
def test_all_types_and_shapes(received, dtype, shape):
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    content = [[array, array.T], [np.uint8([1])]]  # what is not contiguous too
    got = received.unpack(*pack(content, "extra", None))
    assert [[a.dtype for a in row] for row in got] == [[dtype, dtype], [np.uint8]]
    np.testing.assert_array_equal(got[0][0], array)
    np.testing.assert_array_equal(got[0][1], array.T)
    assert got[1][0].tolist() == [1]


def test_tensors_keep_their_layout(received):
    (got,) = received.unpack(*pack([TensorCPU(np.zeros((2, 3, 1), np.uint8), "HWC")], None, None))
    assert isinstance(got, TensorCPU)
    assert got.layout() == "HWC"


def test_memory_is_used_again_when_all_arrays_over_it_are_gone(received):
    first, second = received.unpack(*pack([np.int32([1, 2]), np.int32([3])], None, None))
    part = second[:1]
    del first, second
    gc.collect()
    assert received.lend() is None  # `part` looks at it
    assert part.tolist() == [3]
    del part
    gc.collect()
    lent = received.lend()
    assert lent is not None
    parcel, memory = pack([np.int32([5])], None, lent)
    assert memory is lent
    assert not parcel.is_new
    assert received.unpack(parcel, memory)[0].tolist() == [5]


def test_memory_that_is_too_small_is_replaced(received):
    received.unpack(*pack([np.zeros(10, np.uint8)], None, None))
    gc.collect()
    lent = received.lend()
    parcel, large = pack([np.zeros(10_000_000, np.uint8)], None, lent)
    assert parcel.is_new
    descriptor = lent.descriptor
    received.drop(lent)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
    assert received.unpack(parcel, large)[0].nbytes == 10_000_000


def test_arrays_outlive_the_descriptors(received):
    (array,) = received.unpack(*pack([np.int32([7])], None, None))
    received.close()
    assert array.tolist() == [7]


def test_it_has_no_name(received):
    """So nothing is left of it, however the processes end."""
    _, memory = pack([np.int32([7])], None, None)
    status = os.fstat(memory.descriptor)
    assert status.st_nlink == 0
    for folder in filter(None, _memory.folders()):
        assert status.st_ino not in [entry.inode() for entry in os.scandir(folder)]
    memory.close()


def test_where_memory_is_full_the_disk_is_used(received, monkeypatch, tmp_path):
    allocate = os.posix_fallocate

    def full(handle, offset, size):
        if not used:
            used.append(size)
            raise OSError(28, "No space left on device")
        allocate(handle, offset, size)

    used = []
    monkeypatch.setattr(_memory.os, "posix_fallocate", full)
    monkeypatch.setattr(_memory.tempfile, "tempdir", str(tmp_path))
    parcel, memory = pack([np.int32([4])], None, None)
    assert os.fstat(memory.descriptor).st_dev == tmp_path.stat().st_dev
    assert received.unpack(parcel, memory)[0].tolist() == [4]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("call", ["posix_fallocate", "ftruncate"])
def test_no_room_at_all(monkeypatch, call):
    """Also where the system has no `posix_fallocate`."""

    def full(*_):
        raise OSError(28, "No space left on device")

    if call == "ftruncate":
        monkeypatch.delattr(_memory.os, "posix_fallocate")
    monkeypatch.setattr(_memory.os, call, full)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(MemoryError, match=r"no room for \d+ bytes"):
        pack([np.int32([4])], None, None)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_without_posix_fallocate(received, monkeypatch):
    monkeypatch.delattr(_memory.os, "posix_fallocate")
    assert received.unpack(*pack([np.int32([4])], None, None))[0].tolist() == [4]
    with pytest.raises(MemoryError, match="no room"):
        _memory.allocate(1 << 60)


def test_sizes(received):
    """New memory is a power of two, or as large as was asked for."""
    parcel, asked = pack([np.zeros(10, np.uint8)], None, None, 5_000_000)
    assert asked.size == 5_000_000
    _, larger = pack([np.zeros(6_000_000, np.uint8)], None, None, 5_000_000)
    assert larger.size == 1 << 23
    larger.close()
    assert pack([np.zeros(10, np.uint8)], None, asked)[1] is asked
    for samples in (2, 3, 1):
        received.unpack(parcel, asked, samples)
    assert received.sizes() == [(5_000_000, 3)]
