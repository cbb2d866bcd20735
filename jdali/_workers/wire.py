"""Packs values for another process: pickles them without the contents of arrays, which go to shared memory.

The receiver does not copy arrays, but makes views of the memory. Small arrays are pickled with the value, because a
view would cost more time.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

ALIGNMENT = 64  # bytes, so that XLA takes arrays without a copy
SMALL = 512  # an array of fewer bytes is pickled with the value
SMALL_OF_TASK = 1 << 15  # `SMALL` for tasks; it is higher, because arrays of tasks need new memory
Dumps: TypeAlias = Callable[[io.BytesIO, Callable[[pickle.PickleBuffer], bool]], pickle.Pickler]


class PackedValue(NamedTuple):
    """Holds a pickled value without the contents of its arrays, which are in separate memory."""

    head: bytes  # pickled
    spans: tuple[tuple[int, int], ...]  # offset and size of each array in the memory, bytes
    size: int  # bytes of memory that the arrays need


class ArrayPickler(pickle.Pickler):
    """Pickles the memory of arrays separately, even for JAX's additional types (bfloat16), whose arrays NumPy would copy."""

    def __init__(self, file: io.BytesIO, buffer_callback: Callable[[pickle.PickleBuffer], bool]):
        super().__init__(file, pickle.HIGHEST_PROTOCOL, buffer_callback=buffer_callback)
        # Not `reducer_override`, which would be called for every object.
        self.dispatch_table = {**copyreg.dispatch_table, np.ndarray: _reduced}


def _reduced(array: np.ndarray[Any, Any]) -> Any:
    reduced = reduced_array(array)
    return array.__reduce_ex__(pickle.HIGHEST_PROTOCOL) if reduced is NotImplemented else reduced


def reduced_array(obj: object) -> Any:
    """Reduces an array whose type has no buffer protocol to an array of bytes; returns NotImplemented for other objects."""
    if type(obj) is np.ndarray and obj.dtype.isbuiltin == 2 and obj.flags.c_contiguous and obj.size:
        return _typed, (obj.reshape(-1).view(np.uint8), obj.dtype, obj.shape)
    return NotImplemented


def _typed(data: np.ndarray[Any, Any], dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return data.view(dtype).reshape(shape)


def pack(
    value: Any, pickler: Dumps = ArrayPickler, *, small: int = SMALL, memory: Any = None
) -> tuple[PackedValue, list[memoryview]]:
    """Pickles a value; returns it without its arrays, and the arrays.

    Args:
        small: an array of fewer bytes is pickled with the value.
        memory: memory to which the arrays will be written. Arrays that are already in it stay where they are.
    """
    buffers: list[memoryview] = []

    def keep_in_band(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < small:
            return True
        buffers.append(raw)
        return False

    file = io.BytesIO()
    pickler(file, keep_in_band).dump(value)
    if not buffers:
        return PackedValue(file.getvalue(), (), 0), []
    first, size = (0, 0) if memory is None else (address(memory), len(memory))
    found = [(address(buffer) - first, buffer.nbytes) for buffer in buffers]
    end = max((offset + nbytes for offset, nbytes in found if 0 <= offset <= size - nbytes), default=0)
    spans = []
    for offset, nbytes in found:
        if not 0 <= offset <= size - nbytes:  # not in the memory yet
            offset = end = -(-end // ALIGNMENT) * ALIGNMENT
            end += nbytes
        spans.append((offset, nbytes))
    return PackedValue(file.getvalue(), tuple(spans), -(-end // ALIGNMENT) * ALIGNMENT), buffers


def address(memory: Any) -> int:
    return int(np.frombuffer(memory, np.uint8).__array_interface__["data"][0])


def write(packed: PackedValue, buffers: Sequence[memoryview], memory: Any) -> None:
    """Copies the arrays of a value to memory of at least `packed.size` bytes; skips arrays that are already in it."""
    target, first = np.frombuffer(memory, np.uint8), address(memory)
    for (offset, size), buffer in zip(packed.spans, buffers, strict=True):
        if address(buffer) != first + offset:
            np.copyto(target[offset : offset + size], np.frombuffer(buffer, np.uint8))


def unpack(packed: PackedValue, memory: Any) -> Any:
    """Unpacks a value. Its arrays are views that keep `memory` alive. If it has no arrays, `memory` may be None."""
    if not packed.size:
        return pickle.loads(packed.head)
    views = [memoryview(memory)[offset : offset + size] for offset, size in packed.spans]
    return pickle.loads(packed.head, buffers=views)
