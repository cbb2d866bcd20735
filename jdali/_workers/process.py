"""Represents a process of a `TaskPool` in its parent, and starts processes that make batches."""

from __future__ import annotations

import contextlib
import json
import multiprocessing.spawn
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from jdali._workers.jobs import PackedMemory, WorkerDeath
from jdali._workers.messages import Channel, SlabName, StartOrder, TaskOrder

# `sys.path` is passed as an argument, not in PYTHONPATH, which Python searches before the standard library. With "-c",
# unlike "-m", the program sets `sys.path` before it imports jdali.
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from jdali._workers.serve import main; main(int(sys.argv[2]), int(sys.argv[3]))"
)
_END_SECONDS = 5.0  # seconds to wait for the end of a killed process


class StartedProcess(Protocol):
    """The part of `subprocess.Popen` that a pool uses."""

    pid: int

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int | None: ...

    def kill(self) -> None: ...


class TaskProcess:
    """Represents a process with its tasks."""

    def __init__(self, number: int, channel: Channel, process: StartedProcess):
        self.number, self.channel, self._process = number, channel, process
        self.pid = process.pid
        self.is_ready = False
        self.is_leaving = False  # gets no more tasks, and ends after its last one
        self.is_warm = False  # has finished a task, so that its programs are compiled
        self.tasks: list[int] = []  # numbers of the tasks that were sent to it, the running one first
        self.reached: int | None = None  # last note of the running task, see `note_reached`, if any
        self.rehearsal: int | None = None  # task that it runs only to compile its programs, if any
        self.known: set[SlabName] = set()  # slabs that it has mapped
        self.looks = 0  # number of checks in a row in which the process had the same task
        self.stopped = 0  # number of checks in a row in which a signal (SIGSTOP) had stopped the process

    def send(self, order: StartOrder | TaskOrder, descriptors: Sequence[int]) -> None:
        """Sends an order. Does nothing if the process is gone, because the pool notices this when it receives."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.channel.send(order, descriptors)

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    @property
    def is_stopped(self) -> bool:
        """True if a signal has stopped the process; False on systems that do not show this."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text()
        except OSError:
            return False
        return stat.rpartition(")")[2].split()[:1] == ["T"]

    def death(self) -> WorkerDeath:
        """Kills the process if it still runs, waits for its end, and describes it."""
        self._process.kill()
        return WorkerDeath(self.pid, self._process.wait(), reached=self.reached)

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        """Waits for the end of a process that was killed, and closes the channel."""
        # On a very busy machine the end may take longer, which is not an error.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        self.channel.close()


class FreshProcesses:
    """Starts processes that do not import the user's main module; the function `start` is sent to them by value.

    Each process calls `start` once; the function that it returns runs tasks.
    """

    def __init__(self, start: PackedMemory, environment: Mapping[str, str]):
        self._start, self._environment = start, environment

    def __call__(self, number: int) -> TaskProcess:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        paths = [path or os.getcwd() for path in sys.path]
        arguments = [json.dumps(paths), str(theirs.fileno()), str(os.getpid())]
        try:
            started = subprocess.Popen(
                [os.fsdecode(multiprocessing.spawn.get_executable()), "-P", "-c", _PROGRAM, *arguments],
                stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], env={**os.environ, **self._environment},
            )  # fmt: skip
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        process = TaskProcess(number, Channel(ours), started)
        process.send(StartOrder(number, self._start.packed), self._start.descriptors())
        return process

    def close(self) -> None:
        self._start.close()
