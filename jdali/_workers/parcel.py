"""Arrays on their way from one process to another: in a file in memory that both have mapped."""

from __future__ import annotations

import collections
import dataclasses
import mmap
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from jdali.tensors import Tensor, TensorCPU

_SHARED_MEMORY = Path("/dev/shm")  # a file system in memory, on Linux
_ALIGNMENT = 64  # bytes, as NumPy and XLA like it
_SMALLEST = mmap.ALLOCATIONGRANULARITY


@dataclasses.dataclass(frozen=True)
class _ArrayEntry:
    """Offset of an array in a file, its shape, dtype and layout."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    layout: str | None  # of a Tensor


@dataclasses.dataclass(frozen=True)
class Parcel:
    """Arrays in a file: `content` is the nested lists that they came in, with an entry for each array."""

    path: str
    size: int
    content: Any
    extra: Any


def new_folders() -> list[str]:
    """Folders for the files of a pool: one in memory where there is such, and one on disk for what has no room there."""
    memory = [_SHARED_MEMORY] if os.access(_SHARED_MEMORY, os.W_OK) else []
    return [tempfile.mkdtemp(prefix="jdali-", dir=folder) for folder in (*memory, None)]


def remove(folders: Iterable[str]) -> None:
    """Removes folders with all files; memory that is still looked at stays until nobody does."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


# --- in a worker ----------------------------------------------------------------------------
def pack(
    content: Any, extra: Any, used: tuple[str, int] | None, folders: Iterable[str], least: int = 0
) -> Parcel:
    """Writes arrays to a file.

    Args:
        content: nested lists of NumPy arrays and Tensors.
        extra: anything small that can be pickled, to go with them.
        used: a file that nobody looks at any more, and its size in bytes; None: there is none.
        folders: for a new file, the first that has room for it.
        least: size of a new file, in bytes, if that is enough.
    """
    arrays: list[tuple[_ArrayEntry, np.ndarray[Any, Any]]] = []
    entries, size = _entries(content, arrays, 0)
    if used is None or used[1] < size:
        used = _new_file(size, least, folders)
    path, length = used
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), length) as mapped:
        for entry, array in arrays:
            _view(mapped, entry)[...] = array
    return Parcel(path, length, entries, extra)


def _entries(content: Any, arrays: list[Any], offset: int) -> tuple[Any, int]:
    """Entries in place of the arrays, which are noted, and the end of the last one."""
    if isinstance(content, (list, tuple)):
        found = []
        for item in content:
            entry, offset = _entries(item, arrays, offset)
            found.append(entry)
        return found, offset
    layout = content.layout() if isinstance(content, Tensor) else None
    array = np.asarray(content)
    entry = _ArrayEntry(offset, array.shape, array.dtype, layout)
    arrays.append((entry, array))
    return entry, offset + -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT


def _view(memory: Any, entry: _ArrayEntry) -> np.ndarray[Any, Any]:
    return np.ndarray(entry.shape, entry.dtype, memory, entry.offset)


def _new_file(size: int, least: int, folders: Iterable[str]) -> tuple[str, int]:
    # Powers of two: samples that grow a little do not need a new file each time.
    length = max(_SMALLEST, least if size <= least else 1 << (size - 1).bit_length())
    failure: OSError | None = None
    for folder in folders:
        handle, path = tempfile.mkstemp(dir=folder)
        try:
            # Takes the memory now: a full file system is an error here, and would end the process later.
            os.posix_fallocate(handle, 0, length)
            return path, length
        except OSError as error:
            failure = error
            os.unlink(path)
        finally:
            os.close(handle)
    raise MemoryError(f"no room for {length} bytes of shared memory") from failure


# --- in the process that uses them ------------------------------------------------------------
class Files:
    """The files of a pool that were received: mapped once, and reused when no array refers to them."""

    def __init__(self) -> None:
        self._mapped: dict[str, np.memmap[Any, Any]] = {}
        self._free: collections.deque[tuple[str, int]] = collections.deque()  # used by any thread
        self._samples: dict[str, int] = {}

    def lend(self) -> tuple[str, int] | None:
        """A file that nobody looks at, and its size in bytes, for a worker to write to."""
        try:
            return self._free.pop()
        except IndexError:
            return None

    def drop(self, file: tuple[str, int]) -> None:
        """Forgets a file that was lent and was too small."""
        self._mapped.pop(file[0], None)
        self._samples.pop(file[0], None)
        os.unlink(file[0])

    def sizes(self) -> list[tuple[int, int]]:
        """The size of each file in bytes, and the most samples that were in it so far."""
        return [(mapped.size, self._samples[path]) for path, mapped in list(self._mapped.items())]

    def unpack(self, parcel: Parcel, samples: int = 0) -> Any:
        """The nested lists of arrays. They look at the file, which is free again when all of them are gone.

        Args:
            parcel: with the arrays.
            samples: how many samples of a batch are in it, at most.
        """
        self._samples[parcel.path] = max(samples, self._samples.get(parcel.path, 0))
        mapped = self._mapped.get(parcel.path)
        if mapped is None:
            mapped = self._mapped[parcel.path] = np.memmap(parcel.path, np.uint8, "r+", shape=(parcel.size,))
        whole = mapped.view(np.ndarray)
        weakref.finalize(whole, self._free.append, (parcel.path, parcel.size)).atexit = False
        return _arrays(whole, parcel.content)


def _arrays(whole: np.ndarray[Any, Any], content: Any) -> Any:
    if isinstance(content, list):
        return [_arrays(whole, item) for item in content]
    size = int(np.prod(content.shape)) * content.dtype.itemsize
    array = whole[content.offset : content.offset + size].view(content.dtype).reshape(content.shape)
    return array if content.layout is None else TensorCPU(array, content.layout)
