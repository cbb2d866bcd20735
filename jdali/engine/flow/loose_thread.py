"""Threads that work for an object without keeping it alive between two tasks.

A thread that waits for work keeps alive all that its frames refer to. Were that an engine, a pipeline whose callback is a
method of the pipeline's owner, as in the usual class of a loader, would never be collected.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable
from typing import TypeVar

from jdali._system.jax_modes import usual_modes
from jdali.engine.flow.gate import Stopped

T = TypeVar("T")


class Changes(threading.Condition):
    """A condition that counts what it was told, so that nothing is missed between a look and the wait.

    Takers of batches wait by `wait_to_take`, and are not woken by what concerns the makers alone: they would find the GIL
    taken by the thread that woke them, and sleep again.
    """

    def __init__(self) -> None:
        super().__init__()
        self._of_takers = threading.Condition(self._lock)  # type: ignore[attr-defined]  # the same lock
        self.count = 0

    def notify_all(self) -> None:
        self.notify_makers()
        self._of_takers.notify_all()

    def notify_makers(self) -> None:
        """Wakes all except those in `wait_to_take`."""
        self.count += 1
        super().notify_all()

    def wait_to_take(self, may_take: Callable[[], object]) -> None:
        """Returns when the predicate is true, which only what `notify_all` tells makes true; the lock is held."""
        self._of_takers.wait_for(may_take)

    def wait_beyond(self, count: int) -> None:
        """Returns when more was told than this."""
        with self:
            self.wait_for(lambda: self.count > count)


def loose_thread(
    owner: T, changed: Changes, next_task: Callable[[T], Callable[[], None] | None], name: str
) -> threading.Thread:
    """A thread, not started yet, that does what there is to do for an object, and ends with it.

    Args:
        owner: the object.
        changed: tells that there may be something to do, or that the object is gone.
        next_task: gives what to do now, None: nothing, with `changed` held; raises Stopped if that was all. It must not
            be bound to the object.
        name: of the thread.
    """
    known = weakref.ref(owner), changed, next_task
    return threading.Thread(target=_work, args=known, name=name, daemon=True)


@usual_modes()
def _work(
    owner: weakref.ref[T], changed: Changes, next_task: Callable[[T], Callable[[], None] | None]
) -> None:
    with contextlib.suppress(Stopped):
        while (living := owner()) is not None:
            with changed:
                count, task = changed.count, next_task(living)
            del living  # without the lock: whatever goes with it may want that
            if task is None:
                changed.wait_beyond(count)
            else:
                task()
            del task
