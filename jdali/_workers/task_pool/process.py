"""One process of a `TaskPool`, as its parent sees it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import multiprocessing.spawn
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Collection, Mapping

from jdali._workers.task_pool.channel import Channel
from jdali._workers.task_pool.messages import SlabName, StartOrder, TaskOrder

# The paths come as an argument: those of PYTHONPATH would be searched before the standard library, and "-m" puts the
# working directory there.
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from jdali._workers.task_pool.serve import main; main(int(sys.argv[2]), int(sys.argv[3]))"
)
# Signals that come from people, the OOM killer or a cluster; all others come from what the process does.
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_END_SECONDS = 5.0  # that a killed process may take to be gone


@dataclasses.dataclass(frozen=True)
class WorkerDeath:
    """The end of a process that nobody had ended.

    Attributes:
        pid: of the process.
        exit_code: as of `subprocess`: -N if signal N killed it; None: it is not known.
        node: of a cluster that it ran on; "": this machine.
        reached: the last note of its task, see `note_reached`; None: there was none.
    """

    pid: int
    exit_code: int | None
    node: str = ""
    reached: int | None = None

    @property
    def is_crash(self) -> bool:
        """True if the process ended itself; False if someone else may have ended it, or its machine is gone."""
        return self.exit_code is not None and -self.exit_code not in _FROM_OUTSIDE

    def __str__(self) -> str:
        process = f"worker process {self.pid}{self.node and f' on node {self.node}'}"
        if self.exit_code is None:
            return f"{process} died"
        if self.exit_code >= 0:
            return f"{process} ended with exit code {self.exit_code}"
        try:
            name = signal.Signals(-self.exit_code).name
        except ValueError:
            name = "unknown"
        return f"{process} was killed by signal {-self.exit_code} ({name})"


class TaskProcess:
    """A process, and what it has been asked for.

    Args:
        number: of the process in its pool.
        environment: variables that differ from those of this process.

    Attributes:
        channel: to it.
        pid: its number in the system.
        is_ready: it takes tasks.
        is_leaving: it gets no more tasks, and ends after the last one.
        tasks: numbers of those that it has, the running one first.
        is_warm: it has made one.
        reached: the last note of the running one; None: there is none.
        rehearsal: number of the one that it makes only to become warm; None: it has none.
        known: slabs that it has mapped.
        stopped: looks in a row that found it stopped.
    """

    def __init__(self, number: int, environment: Mapping[str, str]):
        self.number = number
        self.is_ready = self.is_leaving = self.is_warm = False
        self.tasks: list[int] = []
        self.reached: int | None = None
        self.rehearsal: int | None = None
        self.known: set[SlabName] = set()
        self.stopped = 0
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.channel = Channel(ours)
        paths = [path or os.getcwd() for path in sys.path]
        arguments = [json.dumps(paths), str(theirs.fileno()), str(os.getpid())]
        try:
            self._process = subprocess.Popen(
                [os.fsdecode(multiprocessing.spawn.get_executable()), "-P", "-c", _PROGRAM, *arguments],
                stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], env={**os.environ, **environment},
            )  # fmt: skip
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self.pid = self._process.pid

    def send(self, order: StartOrder | TaskOrder, descriptors: Collection[int]) -> bool:
        """Sends an order; False: the process is gone."""
        try:
            self.channel.send(order, list(descriptors))
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def death(self) -> WorkerDeath:
        """Describes the end of the process, which has closed the channel or ended."""
        self._process.kill()  # one that only closed the channel is of no use either
        return WorkerDeath(self.pid, self._process.wait(), reached=self.reached)

    def kill(self) -> None:
        """Ends the process, without waiting for it."""
        self._process.kill()

    def close(self) -> None:
        """Waits for the end of a process that was killed, and closes the channel."""
        # One that is not gone by then, on a machine that is very busy, is no error of the pool's.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        self.channel.close()
