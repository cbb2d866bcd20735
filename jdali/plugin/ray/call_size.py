"""Number of tasks that go to an actor in one call.

A call costs processor time in the trainer, in the actor and in Ray's processes, however little it asks for. So small batches
travel together, and large ones alone.
"""

from __future__ import annotations

_CALL_CPU = 0.2  # seconds of processor time in one call: what Ray takes for a call is some hundredths of it
_CALL_SECONDS = 0.5  # until the results of a call are there, at most
# Bytes of results in one call, at most: they stay in the object store until the last one is gone.
_CALL_BYTES = 32 << 20
_MOST_TASKS = 16
_MOST_UNDER_WAY = (
    64  # tasks of all actors: where the trainer runs steps as well, a thread of it waits for each
)
_WINDOW = 8  # tasks that are looked at before the number changes


class CallSize:
    """Follows the time and the bytes that tasks take.

    Attributes:
        most: tasks that a call may have now, a power of two.
    """

    def __init__(self) -> None:
        self.most = 1
        self._clear()

    def _clear(self) -> None:
        self._count, self._seconds, self._cpu, self._largest = 0, 0.0, 0.0, 0

    def note(self, seconds: float, cpu: float, nbytes: int, calls: int) -> None:
        """Notes a task that was made.

        Args:
            seconds, cpu: time, and processor time, that it took.
            nbytes: of its result.
            calls: that are under way at the same time, of all actors.
        """
        self._count += 1
        self._seconds += seconds
        self._cpu += cpu
        self._largest = max(self._largest, nbytes)
        if self._count == _WINDOW:
            self.most = self._fitting(calls)
            self._clear()

    def _fitting(self, calls: int) -> int:
        """Returns the largest power of two that keeps to all bounds; 1 if even one task exceeds them."""
        most = min(
            _CALL_CPU * self._count / max(self._cpu, 1e-9),
            _CALL_SECONDS * self._count / max(self._seconds, 1e-9),
            _CALL_BYTES / max(self._largest, 1),
            _MOST_UNDER_WAY / calls,
            _MOST_TASKS,
        )
        return 1 << max(int(most).bit_length() - 1, 0)
