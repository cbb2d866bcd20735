"""Manages slabs of shared memory. A slab is lent to a process for a result, then leased to the arrays of the result.

Processes allocate slabs and send the descriptors. The pool keeps the descriptors, so a slab outlives its process. Slabs
are files without a name (`_workers/memory.py`), so none outlives the program.
"""

from __future__ import annotations

import collections
import dataclasses
import mmap
import weakref
from collections.abc import Container
from typing import Any

import numpy as np

from jdali._workers.memory import Memory, allocate
from jdali._workers.messages import SlabName


def allocate_slab(size: int, room: int) -> Memory:
    """Allocates `room` bytes; if `size` is larger, allocates up to 9/8 of `size`, because batches may grow."""
    step = max(mmap.ALLOCATIONGRANULARITY, 1 << max(size.bit_length() - 4, 0))
    return Memory(*allocate(size, room if size <= room else -(-size // step) * step))


@dataclasses.dataclass(eq=False)
class SharedSlab:
    """Holds memory that is mapped in this process and in processes of the pool."""

    name: SlabName
    memory: Memory
    mapped: mmap.mmap
    samples: int = 0  # maximum number of samples that were in it

    @property
    def size(self) -> int:
        return self.memory.size


class SharedSlabs:
    """Holds the slabs of a pool. The pool's lock guards them, but leases end in any thread, without the lock."""

    def __init__(self, most_idle: int):
        self._most_idle = most_idle
        self._all: dict[SlabName, SharedSlab] = {}
        self._idle: list[SharedSlab] = []  # the most recently used last
        # A lease may end at any point of the program, so returned slabs wait here for `_sort_in`.
        self._returned: collections.deque[SharedSlab] = collections.deque()
        self._largest = 0  # bytes of the largest result so far

    def adopt(self, name: SlabName, descriptor: int, size: int) -> SharedSlab:
        """Takes over the descriptor of a slab that a process has allocated. Raises OSError if the slab cannot be mapped."""
        memory = Memory(descriptor, size)
        slab = self._all[name] = SharedSlab(name, memory, memory.map())
        return slab

    def lend(self, known: Container[SlabName]) -> SharedSlab | None:
        """Lends an idle slab that fits the largest result so far, preferably one of `known`; None if no slab fits."""
        self._sort_in()
        fitting = [slab for slab in self._idle if slab.size >= self._largest]
        if not fitting:
            return None
        chosen = next((slab for slab in reversed(fitting) if slab.name in known), fitting[-1])
        self._idle.remove(chosen)
        return chosen

    def take_back(self, slab: SharedSlab) -> None:
        """Ends the loan of a slab that holds no result."""
        self._return(slab)
        self._sort_in()

    def lease(self, slab: SharedSlab, size: int, samples: int) -> np.ndarray[Any, Any]:
        """Leases a slab that holds a result of `size` bytes; returns its memory, uint8 [slab.size].

        The lease ends when the last view of the memory is gone.
        """
        self._largest, slab.samples = max(self._largest, size), max(slab.samples, samples)
        whole = np.frombuffer(slab.mapped, np.uint8)
        weakref.finalize(whole, self._return, slab).atexit = False
        return whole

    def alive(self) -> Container[SlabName]:
        """Returns the names of all slabs."""
        return self._all.keys()

    def usage(self) -> tuple[int, int]:
        """Counts the bytes of slabs that are lent or leased, and the bytes of idle slabs."""
        slabs, idle = list(self._all.values()), sum(slab.size for slab in [*self._idle, *self._returned])
        return sum(slab.size for slab in slabs) - idle, idle

    def sizes(self) -> list[tuple[int, int]]:
        return [(slab.size, slab.samples) for slab in self._all.values()]

    def _return(self, slab: SharedSlab) -> None:
        if slab.name in self._all:  # otherwise `close` has dropped it
            self._returned.append(slab)

    def _sort_in(self) -> None:
        while self._returned:
            self._idle.append(self._returned.popleft())
        idle = sum(slab.size for slab in self._idle)
        for slab in list(self._idle):
            # A slab that is too small for the largest result is never lent.
            if slab.size < self._largest or idle > self._most_idle:
                idle -= slab.size
                self._drop(slab)

    def _drop(self, slab: SharedSlab) -> None:
        self._idle.remove(slab)
        del self._all[slab.name]
        slab.memory.close()

    def close(self) -> None:
        """Closes all descriptors; memory that arrays use stays until they are gone."""
        for slab in self._all.values():
            slab.memory.close()
        self._all.clear()
        self._idle.clear()
        self._returned.clear()
