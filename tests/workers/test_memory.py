"""Shared memory without a name: where it is, how large, and what happens without room for it."""

import os
from pathlib import Path

import pytest
from support.faults import descriptors_left

from jdali._workers import memory as _memory
from jdali._workers.memory import Memory, allocate, allocate_slab


@pytest.fixture
def made():
    """Allocates memory that is given up at the end."""
    found = []

    def make(*args):
        found.append(Memory(*allocate(*args)))
        return found[-1]

    yield make
    for memory in found:
        memory.close()


def test_what_is_mapped_outlives_the_descriptor(made):
    memory = made(10)
    mapped = memory.map()
    mapped[:2] = b"ab"
    memory.close()
    memory.close()
    assert mapped[:2] == b"ab"


def test_it_has_no_name(made):
    """So nothing is left of it, however the processes end."""
    status = os.fstat(made(10).descriptor)
    assert status.st_nlink == 0
    for folder in filter(None, _memory.folders()):
        assert status.st_ino not in [entry.inode() for entry in os.scandir(folder)]


def test_where_memory_is_full_the_disk_is_used(made, monkeypatch, tmp_path):
    allocate = os.posix_fallocate

    def full(handle, offset, size):
        if not used:
            used.append(size)
            raise OSError(28, "No space left on device")
        allocate(handle, offset, size)

    used = []
    monkeypatch.setattr(_memory.os, "posix_fallocate", full)
    monkeypatch.setattr(_memory.tempfile, "tempdir", str(tmp_path))
    memory = made(10)
    assert os.fstat(memory.descriptor).st_dev == tmp_path.stat().st_dev
    assert memory.map()[:] == bytes(memory.size)
    assert not list(tmp_path.iterdir())


def test_without_a_free_descriptor_that_is_the_error(made):
    memory = made(10)
    with descriptors_left(0):
        with pytest.raises(OSError, match="Too many open files"):
            allocate(10)
        with pytest.raises(OSError, match="Too many open files"):
            memory.map()
    assert memory.descriptor == -1  # who cannot map it has no use for it


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
        allocate(10)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_without_posix_fallocate(made, monkeypatch):
    monkeypatch.delattr(_memory.os, "posix_fallocate")
    assert made(10).map()[:10] == bytes(10)
    with pytest.raises(MemoryError, match="no room"):
        allocate(1 << 60)


def test_sizes(made):
    """Memory has the size that was asked for, if that is enough; else a power of two, and slabs an eighth more."""
    assert made(10, 5_000_000).size == 5_000_000
    assert made(6_000_000, 5_000_000).size == 1 << 23
    for size, room in (10, 5_000_000), (6_000_000, 5_000_000):
        slab = allocate_slab(size, room)
        assert max(size, room) <= slab.size <= max(size, room) * 9 / 8
        slab.close()
