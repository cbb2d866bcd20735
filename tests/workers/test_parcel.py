"""Arrays that travel in a file: all types and shapes, memory that is used again, and none that is looked at."""

import gc
import os
from pathlib import Path

import numpy as np
import pytest

from jdali._workers import parcel as _parcel
from jdali._workers.parcel import Files, new_folders, pack, remove
from jdali.tensors import TensorCPU


@pytest.fixture
def folders():
    made = new_folders()
    yield made
    remove(made)
    assert not any(Path(folder).exists() for folder in made)


TYPES = [np.bool_, np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64]
TYPES += [np.float16, np.float32, np.float64]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 5), (2, 0, 4)])
def test_all_types_and_shapes(folders, dtype, shape):
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    content = [[array, array.T], [np.uint8([1])]]  # what is not contiguous too
    got = Files().unpack(pack(content, "extra", None, folders))
    assert [[a.dtype for a in row] for row in got] == [[dtype, dtype], [np.uint8]]
    np.testing.assert_array_equal(got[0][0], array)
    np.testing.assert_array_equal(got[0][1], array.T)
    assert got[1][0].tolist() == [1]


def test_tensors_keep_their_layout(folders):
    (got,) = Files().unpack(pack([TensorCPU(np.zeros((2, 3, 1), np.uint8), "HWC")], None, None, folders))
    assert isinstance(got, TensorCPU)
    assert got.layout() == "HWC"


def test_memory_is_used_again_when_all_arrays_over_it_are_gone(folders):
    files = Files()
    first, second = files.unpack(pack([np.int32([1, 2]), np.int32([3])], None, None, folders))
    part = second[:1]
    del first, second
    gc.collect()
    assert files.lend() is None  # `part` looks at it
    assert part.tolist() == [3]
    del part
    gc.collect()
    file = files.lend()
    assert file is not None
    parcel = pack([np.int32([5])], None, file, folders)
    assert parcel.path == file[0]
    assert files.unpack(parcel)[0].tolist() == [5]


def test_a_file_that_is_too_small_is_replaced(folders):
    files = Files()
    small = pack([np.zeros(10, np.uint8)], None, None, folders)
    large = pack([np.zeros(10_000_000, np.uint8)], None, (small.path, small.size), folders)
    assert large.path != small.path
    files.drop((small.path, small.size))
    assert not os.path.exists(small.path)
    assert files.unpack(large)[0].nbytes == 10_000_000


def test_where_memory_is_full_the_disk_is_used(folders, monkeypatch):
    allocate = os.posix_fallocate

    def full(handle, offset, size):
        if not used:
            used.append(size)
            raise OSError(28, "No space left on device")
        allocate(handle, offset, size)

    used = []
    monkeypatch.setattr(_parcel.os, "posix_fallocate", full)
    parcel = pack([np.int32([4])], None, None, folders)
    assert parcel.path.startswith(folders[1])
    assert Files().unpack(parcel)[0].tolist() == [4]


def test_no_room_at_all(folders, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_parcel.os, "posix_fallocate", full)
    with pytest.raises(MemoryError, match=r"no room for \d+ bytes"):
        pack([np.int32([4])], None, None, folders)
    assert not any(os.listdir(folder) for folder in folders)


def test_sizes_of_files(folders):
    """A new file is a power of two, or as large as was asked for."""
    files = Files()
    asked = pack([np.zeros(10, np.uint8)], None, None, folders, 5_000_000)
    assert asked.size == 5_000_000
    assert pack([np.zeros(6_000_000, np.uint8)], None, None, folders, 5_000_000).size == 1 << 23
    assert pack([np.zeros(10, np.uint8)], None, (asked.path, asked.size), folders).path == asked.path
    for samples in (2, 3, 1):
        files.unpack(asked, samples)
    assert files.sizes() == [(5_000_000, 3)]
