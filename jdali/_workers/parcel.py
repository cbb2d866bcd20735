"""Arrays on their way from one process to another: in memory that both have mapped."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import mmap
import weakref
from typing import Any

import numpy as np

from jdali._workers.memory import Memory, allocate
from jdali.tensors import Tensor, TensorCPU

_ALIGNMENT = 64  # bytes, as NumPy and XLA like it


@dataclasses.dataclass(frozen=True)
class _ArrayEntry:
    """Offset of an array in the memory, its shape, dtype and layout."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype
    layout: str | None  # of a Tensor


@dataclasses.dataclass(frozen=True)
class Parcel:
    """Arrays in memory: `content` is the nested lists that they came in, with an entry for each array.

    Attributes:
        is_new: the memory is not what was lent; its descriptor follows.
        size: of the memory, bytes.
    """

    is_new: bool
    size: int
    content: Any
    extra: Any


# --- in a worker ----------------------------------------------------------------------------
def pack(content: object, extra: object, lent: Memory | None, least: int = 0) -> tuple[Parcel, Memory]:
    """Writes arrays to memory.

    Args:
        content: nested lists of NumPy arrays and Tensors.
        extra: anything small that can be pickled, to go with them.
        lent: memory that nobody looks at any more; None: there is none.
        least: size of new memory, in bytes, if that is enough.

    Returns: the parcel, and the memory that the arrays are in.
    """
    arrays: list[tuple[_ArrayEntry, np.ndarray]] = []
    entries, size = _entries(content, arrays, 0)
    is_new = lent is None or lent.size < size
    memory = Memory(*allocate(size, least)) if lent is None or is_new else lent
    with memory.map() as mapped:
        for entry, array in arrays:
            _view(mapped, entry)[...] = array
    return Parcel(is_new, memory.size, entries, extra), memory


def _entries(content: object, arrays: list[Any], offset: int) -> tuple[object, int]:
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


def _view(memory: Any, entry: _ArrayEntry) -> np.ndarray:
    return np.ndarray(entry.shape, entry.dtype, memory, entry.offset)


# --- in the process that uses them ------------------------------------------------------------
@dataclasses.dataclass(eq=False)
class _Mapped:
    """Memory that was received: mapped once, and reused when no array refers to it."""

    memory: Memory
    mapped: mmap.mmap
    samples: int = 0


class Received:
    """The memory that the workers of a pool have filled."""

    def __init__(self) -> None:
        self._all: dict[Memory, _Mapped] = {}
        self._free: collections.deque[Memory] = collections.deque()  # used by any thread

    def lend(self) -> Memory | None:
        """Memory that nobody looks at, for a worker to write to; the caller returns, drops or unpacks it."""
        with contextlib.suppress(IndexError):
            return self._free.pop()
        return None

    def give_back(self, lent: Memory) -> None:
        """Takes back memory that was lent for nothing."""
        self._free.append(lent)

    def drop(self, lent: Memory) -> None:
        """Frees memory that was lent and was too small."""
        self._all.pop(lent)
        lent.close()

    def sizes(self) -> list[tuple[int, int]]:
        """The size of each in bytes, and the most samples that were in it so far."""
        return [(one.memory.size, one.samples) for one in list(self._all.values())]

    def unpack(self, parcel: Parcel, memory: Memory, samples: int = 0) -> object:
        """The nested lists of arrays. They look at the memory, which is free again when all of them are gone.

        Args:
            parcel: with the arrays.
            memory: that it is in: new, or lent before.
            samples: how many samples of a batch are in it, at most.
        """
        known = self._all.get(memory)
        if known is None:
            known = self._all[memory] = _Mapped(memory, memory.map())
        known.samples = max(samples, known.samples)
        whole = np.frombuffer(known.mapped, np.uint8)
        weakref.finalize(whole, self._free.append, memory).atexit = False
        return _arrays(whole, parcel.content)

    def close(self) -> None:
        """Gives up all memory; what arrays look at stays until they are gone."""
        self._free.clear()
        for memory in list(self._all):
            memory.close()
        self._all.clear()


def _arrays(whole: np.ndarray, content: Any) -> object:
    if isinstance(content, list):
        return [_arrays(whole, item) for item in content]
    size = int(np.prod(content.shape)) * content.dtype.itemsize
    array = whole[content.offset : content.offset + size].view(content.dtype).reshape(content.shape)
    return array if content.layout is None else TensorCPU(array, content.layout)
