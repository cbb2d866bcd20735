"""For the tests of faults: threads of jdali, waiting without haste, processes that are interrupted."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import os
import queue
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import jdali
from jdali import fn

TESTS = Path(__file__).resolve().parents[1]
# Longer than anything here takes, however busy the machine is.
PATIENCE = 120.0


def jdali_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("jdali")}


def until(condition: Callable[[], Any], seconds: float = PATIENCE) -> bool:
    """Whether the condition came true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


@contextlib.contextmanager
def descriptors_left(free: int) -> Iterator[None]:
    """Leaves this process so many free descriptors; others that it closes meanwhile are free, too."""
    import resource  # of POSIX

    gc.collect()  # which closes some
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = [os.dup(0) for _ in range(free + 1)]
    for descriptor in taken:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(taken), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def in_thread(function: Callable[[], Any]) -> Callable[[], Any]:
    """Runs the function in another thread; call what is returned for its result, or what it raised."""
    outcome: queue.Queue[tuple[bool, Any]] = queue.Queue()

    def run() -> None:
        try:
            outcome.put((True, function()))
        except BaseException as error:
            outcome.put((False, error))

    threading.Thread(target=run, daemon=True).start()

    def result() -> Any:
        good, value = outcome.get(timeout=PATIENCE)
        if not good:
            raise value
        return value

    return result


def overlapping(
    source: Any, function: Any, after: Any = None, cycle: str | None = None, **options: Any
) -> jdali.Pipeline:
    """A pipeline of several steps: `function` on the host, then a compiled stage, and `after` on the host.

    It gives what the source gives, plus 1.
    """

    @jdali.pipeline_def(**{"batch_size": 2, "num_threads": 2, "seed": 1, **options})
    def pipeline() -> Any:
        value = fn.python_function(fn.external_source(source=source, cycle=cycle), function=function) + 1
        return value if after is None else fn.python_function(value, function=after)

    return pipeline()


def batches(count: int, size: int = 2) -> Callable[[], Any]:
    """A source, to be begun again, of int32 batches [size]: number i is filled with i."""

    def generate() -> Any:
        for i in range(count):
            yield np.full((size,), i, np.int32)

    return generate


def first(outputs: Any) -> int:
    """The value of a batch that is filled with one."""
    values = np.unique(np.asarray(outputs[0].as_array()))
    assert len(values) == 1
    return int(values[0])


# --- processes ------------------------------------------------------------------------------------
@dataclasses.dataclass
class Ended:
    """How a process ended: code, what it wrote, and how long after `ready` and the signal."""

    code: int
    out: str
    err: str
    seconds: float


def child(script: str, *arguments: Any, signal: int | None = None, **environment: str) -> Ended:
    """Runs a script, and sends it a signal when it has printed "ready"; it can import `support`."""
    # A shell's background jobs, and so their children, ignore Ctrl-C.
    prelude = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    program = [sys.executable, "-c", prelude + textwrap.dedent(script), *map(str, arguments)]
    path = os.pathsep.join([str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )  # fmt: skip
    stop = threading.Timer(2 * PATIENCE, process.kill)
    stop.start()
    try:
        assert process.stdout is not None
        lines = []
        while (line := process.stdout.readline()) and line != "ready\n":
            lines.append(line)
        start = time.monotonic()
        if signal is not None and process.poll() is None:
            process.send_signal(signal)
        out, err = process.communicate()
        return Ended(process.returncode, "".join(lines) + out, err, time.monotonic() - start)
    finally:
        stop.cancel()
        process.kill()
