"""Chooses the number of tasks to send to an actor in one call.

Each call takes a fixed processor time in the trainer, the actor and Ray's processes. So small batches share a call, and
each large batch has a call of its own.
"""

from __future__ import annotations

# Processor seconds that the tasks of a call should take; Ray's own time for a call is a few percent of this.
_CALL_CPU = 0.2
# Maximum seconds until the results of a call arrive.
_CALL_SECONDS = 0.5
# Maximum bytes of a call's results. All of them stay in the object store until the last result is freed.
_CALL_BYTES = 32 << 20
_MOST_TASKS = 16
# Maximum number of tasks in flight in all actors. It also limits threads: if the trainer runs the later steps of
# batches, one of its threads waits for each task.
_MOST_UNDER_WAY = 64
_WINDOW = 8  # tasks to measure before the number of tasks in a call changes


class CallSize:
    """Adapts the number of tasks in a call to their measured times and sizes.

    Attributes:
        most: current maximum number of tasks in a call, a power of two.
    """

    def __init__(self) -> None:
        self.most = 1
        self._clear()

    def _clear(self) -> None:
        self._count, self._seconds, self._cpu, self._largest = 0, 0.0, 0.0, 0

    def note(self, seconds: float, cpu: float, nbytes: int, calls: int) -> None:
        """Records a finished task.

        Args:
            seconds: wall time of the task.
            cpu: processor seconds of the task.
            nbytes: size of the task's result.
            calls: maximum number of calls in flight in all actors.
        """
        self._count += 1
        self._seconds += seconds
        self._cpu += cpu
        self._largest = max(self._largest, nbytes)
        if self._count == _WINDOW:
            self.most = self._fitting(calls)
            self._clear()

    def _fitting(self, calls: int) -> int:
        """Returns the largest power of two within all limits, or 1 if a single task exceeds a limit."""
        most = min(
            _CALL_CPU * self._count / max(self._cpu, 1e-9),
            _CALL_SECONDS * self._count / max(self._seconds, 1e-9),
            _CALL_BYTES / max(self._largest, 1),
            _MOST_UNDER_WAY / calls,
            _MOST_TASKS,
        )
        return 1 << max(int(most).bit_length() - 1, 0)
