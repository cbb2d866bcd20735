"""A worker's memory once its programs are compiled: what compiling left free goes back to the system, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jdali._system.heap import give_back_free_memory

# Tasks without a new program after which no more are expected for some time.
QUIET_TASKS = 8


class Settling:
    """Makes tasks, and gives free memory back when their programs are compiled.

    Compiling, or reading a program from the cache, takes some ten megabytes that the allocator then keeps; of these the
    tasks to come need few. To give memory back after each task would cost the page faults of the next.

    Args:
        make: makes a task.
        programs: returns how many there are.
        give_back: gives free memory back.
    """

    def __init__(
        self,
        make: Callable[[Any], Any],
        programs: Callable[[], int],
        give_back: Callable[[], None] = give_back_free_memory,
    ):
        self._make, self._programs, self._give_back = make, programs, give_back
        self._known = self._quiet = 0

    def __call__(self, task: Any) -> Any:
        result = self._make(task)
        count = self._programs()
        if count != self._known:
            self._known, self._quiet = count, 0
        elif self._quiet < QUIET_TASKS:
            self._quiet += 1
            if self._quiet == QUIET_TASKS:
                self._give_back()
        return result
