"""Leases slabs of host memory to batches. A slab is reused when the last array in it is gone.

Getting new memory pages from the system takes as long as filling them, so batches reuse the memory of earlier ones.
Each engine has its own `SlabPool` (`engine/workers.py`). Code that needs memory for samples (readers, codecs,
`gather`) calls `empty` or `aligned_empty`, which lease it from the pool of the thread. Worker threads belong to the
pool of their engine. Any other thread enters `with pool:` while it runs steps of a pipeline, assembles a batch of an
iterator, or makes a call in dynamic mode. In a thread without a pool, memory is allocated and not reused.

A lease is a NumPy array whose base is a memoryview. A view of a view references only the innermost array, which is the
lease. So every view, and every object made from it (JAX's arrays, DLPack, buffers), references the lease. When the last
reference is gone, the finalizer of the lease returns the slab to the pool.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import itertools
import math
import mmap
import threading
import weakref
from collections.abc import Iterator
from types import TracebackType
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

# XLA on a CPU uses a NumPy array without a copy if the address is a multiple of this.
ALIGNMENT = 64
# Minimum bytes of a slab. The allocator itself reuses the memory of smaller arrays.
SMALLEST = 1 << 17
MOST_IDLE = 512 << 20
# Idle slabs up to this total are always kept, so that memory is reused even if large and small batches alternate.
ALWAYS_IDLE = 16 << 20
# Memory of at least this many bytes gets its own mapping. A freed mapping returns to the system, but an allocator might
# keep freed memory.
_MAPPED = 1 << 20
_HUGE_PAGE = 4 << 20


class Usage(NamedTuple):
    """Bytes of the leased slabs and of the idle slabs of a pool."""

    leased: int
    idle: int


@dataclasses.dataclass(eq=False)
class _Slab:
    """Represents a slab. The pool counts all returns of slabs; `returned` is the count when this one was last returned."""

    memory: memoryview
    size: int
    returned: int = 0


class SlabPool:
    """Leases slabs of host memory to any thread.

    `with pool:` makes `pool` the pool of this thread. In nested `with` blocks, the innermost pool is used.

    Args:
        most_idle: maximum bytes of idle slabs. A second limit is max(peak - leased, `ALWAYS_IDLE`), where `leased` is
            the number of leased bytes, and `peak` is its maximum so far, or since `forget_peak`. The slabs that were
            returned first are freed first.
    """

    def __init__(self, most_idle: int = MOST_IDLE):
        self.most_idle = most_idle
        self._lock = threading.Lock()
        self._idle: dict[int, collections.deque[_Slab]] = {}  # by size; no deque is empty
        self._leased_bytes = self._idle_bytes = self._most_leased = 0
        self._returned: collections.deque[_Slab] = collections.deque()  # not yet added to `_idle`
        self._returns = itertools.count()
        self._closed = False

    def lease(self, size: int) -> np.ndarray:
        """Leases uninitialized memory, uint8 [size] of at least one byte, aligned for XLA. The lease ends with the last view."""
        # Round up to one of few sizes, so that the slab of one picture fits others. At most a ninth of a new slab is
        # unused, and at most five ninths of a reused slab.
        step = 1 << max(size.bit_length() - 4, 0)
        room = -(-size // step) * step
        slab = self._taken(room)
        if slab is None:
            try:
                slab = _Slab(_aligned(room).data, room)
            except MemoryError:
                self.free_idle()
                slab = _Slab(_aligned(room).data, room)
            with self._exclusive():
                self._lent(room)
                over = self._over()
            del over  # memory is freed without the lock
        lease = np.frombuffer(slab.memory, np.uint8, size)
        weakref.finalize(lease, self._end, slab).atexit = False
        return lease

    def usage(self) -> Usage:
        with self._exclusive():
            return Usage(self._leased_bytes, self._idle_bytes)

    def close(self) -> None:
        """Frees idle memory now, and leased memory when the lease ends; existing arrays stay valid."""
        self._closed = True
        self.free_idle()

    def __enter__(self) -> SlabPool:
        _stack().append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _stack().pop()

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Locks the pool. Calls `_sort_in` before it locks and after it unlocks."""
        self._sort_in()
        with self._lock:
            yield
        self._sort_in()

    def _taken(self, room: int) -> _Slab | None:
        """Takes an idle slab of this size, or up to twice as large, for a lease."""
        with self._exclusive():
            size = min((size for size in self._idle if room <= size <= 2 * room), default=None)
            if size is None:
                return None
            same = self._idle[size]
            slab = same.pop()  # the last one may still be in the processor's cache
            if not same:
                del self._idle[size]
            self._idle_bytes -= size
            self._lent(size)
        return slab

    def _lent(self, size: int) -> None:
        self._leased_bytes += size
        self._most_leased = max(self._most_leased, self._leased_bytes)

    def _end(self, slab: _Slab) -> None:
        """Ends a lease. May be called in any thread at any point, even if this thread holds the lock."""
        self._returned.append(slab)
        self._sort_in()

    def _sort_in(self) -> None:
        """Keeps or frees returned slabs. Does nothing if the lock is taken: its holder calls `_sort_in` later."""
        freed: list[_Slab] = []  # freed without the lock
        while self._returned and self._lock.acquire(blocking=False):
            try:
                while self._returned:
                    self._keep(self._returned.popleft())
                freed += self._over()
            finally:
                self._lock.release()

    def _keep(self, slab: _Slab) -> None:
        slab.returned = next(self._returns)
        self._idle.setdefault(slab.size, collections.deque()).append(slab)
        self._leased_bytes -= slab.size
        self._idle_bytes += slab.size

    def _over(self) -> list[_Slab]:
        """Removes and returns the idle slabs that exceed a limit; see `SlabPool`."""
        over = []
        # Without this limit, slabs of ever more sizes would accumulate.
        enough = max(self._most_leased - self._leased_bytes, ALWAYS_IDLE)
        most = 0 if self._closed else min(self.most_idle, enough)
        while self._idle_bytes > most:
            same = min(self._idle.values(), key=lambda slabs: slabs[0].returned)
            over.append(same.popleft())
            self._idle_bytes -= over[-1].size
            if not same:
                del self._idle[over[-1].size]
        return over

    def forget_peak(self) -> None:
        """Resets the peak to the bytes leased now, and frees idle slabs that exceed the new limit; see `SlabPool`."""
        with self._exclusive():
            self._most_leased = self._leased_bytes
            over = self._over()
        del over  # memory is freed without the lock

    def free_idle(self) -> None:
        with self._exclusive():
            idle, self._idle, self._idle_bytes = self._idle, {}, 0
        del idle  # memory is freed without the lock


class LentMemory(SlabPool):
    """Leases parts of the given memory from front to back, in one thread. When it is full, allocates new memory.

    Args:
        memory: memory that no other thread or process writes to; None if there is none.
    """

    def __init__(self, memory: mmap.mmap | memoryview | None):
        super().__init__(0)
        self._whole = np.zeros(0, np.uint8) if memory is None else np.frombuffer(memory, np.uint8)
        self._first_free = 0

    def lease(self, size: int) -> np.ndarray:
        """Leases uint8 [size] from this memory, or from a new slab once it is full."""
        start = self._first_free
        if start + size > len(self._whole):
            return super().lease(size)
        self._first_free = -(-(start + size) // ALIGNMENT) * ALIGNMENT
        return self._whole[start : start + size]


_HERE = threading.local()  # has `pools`, the pools that this thread has entered, the innermost last


def _stack() -> list[SlabPool]:
    pools: list[SlabPool] = _HERE.__dict__.setdefault("pools", [])
    return pools


def empty(shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """Allocates like `numpy.empty`, in a slab if the array is large and the thread has a pool."""
    dtype = np.dtype(dtype)
    size = math.prod(int(n) for n in shape) * dtype.itemsize
    pools = _stack() if size >= SMALLEST else None
    return np.ndarray(shape, dtype, pools[-1].lease(size)) if pools else np.empty(shape, dtype)


def aligned_empty(shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """Allocates like `empty`, aligned for zero-copy use by XLA."""
    dtype = np.dtype(dtype)
    size = math.prod(int(n) for n in shape) * dtype.itemsize
    pools = _stack() if size >= SMALLEST else None
    return np.ndarray(shape, dtype, pools[-1].lease(size) if pools else _aligned(size))


def contiguous(array: np.ndarray) -> np.ndarray:
    """Returns a contiguous array like `numpy.ascontiguousarray`; allocates copies by `empty`."""
    if array.flags.c_contiguous:
        return array
    copy = empty(array.shape, array.dtype)
    np.copyto(copy, array)
    return copy


def _aligned(size: int) -> np.ndarray:
    if size >= _MAPPED and hasattr(mmap, "MAP_ANONYMOUS"):
        return np.frombuffer(_mapped(size), np.uint8)
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.__array_interface__["data"][0] % ALIGNMENT
    return raw[start : start + size]


def _mapped(size: int) -> mmap.mmap:
    """Maps new pages, which begin at a multiple of `ALIGNMENT`."""
    try:
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"{size} bytes: {error}") from error
    if size >= _HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):  # as NumPy does
        with contextlib.suppress(OSError):  # a kernel without huge pages
            memory.madvise(mmap.MADV_HUGEPAGE)
    return memory
