"""Memory that the allocator of the C library keeps for later, given back to the system."""

from __future__ import annotations

import contextlib
import ctypes


def give_back_free_memory() -> None:
    """Gives free pages of the heap back, where the C library can: glibc does so by itself only at the heap's end."""
    with contextlib.suppress(OSError, AttributeError):  # another system, or another C library
        ctypes.CDLL(None).malloc_trim(0)
