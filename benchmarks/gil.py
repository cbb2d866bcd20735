"""How many samples a second one process can feed, and what bounds it: a model from measured parts.

    python benchmarks/gil.py [--workload train tiny] [--batches 40] [--cores 2 8 32 128] [--trainer 43] [--workers 1 2 4 8]

A thread of Python either holds the GIL or is inside of a call that released it. The processor time of all threads is
measured, and that of the calls which are known to release the GIL: decoding, compiled programs, reading, large copies.
What is left holds the GIL, at most: what threads take to wait and to be woken is in it as well, so the pool has one
thread here. With C cores, T of processor time a sample and H of it with the GIL held, a process feeds no more than C / T
and no more than 1 / H samples a second. With N workers, and S of processor time a sample in the trainer's process
(`benchmarks/workers.py` measures it), it is C / (T + S), N / H and 1 / S: `--trainer` S in µs prints the fewest workers that
keep the cores busy. `--workers 1 2 4 8` checks what the model takes for granted: that T and S do not depend on how many workers
there are.

Processor time is measured, not time, so that it matters little what else the machine does.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import math
import os
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import simplejpeg

from jdali._batches import gathering as gather
from jdali.codecs import image
from jdali.engine.steps import program_table

sys.path.insert(0, str(Path(__file__).parent))
import host
import pipelines

SPENT: defaultdict[str, float] = defaultdict(float)
CALLS: Counter[str] = Counter()
LOCK = threading.Lock()
# Calls that release the GIL, or nearly all of whose time is copying, for which NumPy does.
RELEASING = (
    ("decoding", simplejpeg, "decode_jpeg"),
    ("compiled programs", program_table.Compiled, "__call__"),
    ("compiled programs", jax, "block_until_ready"),
    ("reading files", os, "readv"),
    ("reading files", os, "pread"),
    ("copies", gather, "_copy"),
    ("copies", image, "contiguous_copy"),
)


def timed(part: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """The call, whose processor time in its thread counts for a part."""

    @functools.wraps(call)
    def counted(*args: Any, **kwargs: Any) -> Any:
        start = time.thread_time()
        try:
            return call(*args, **kwargs)
        finally:
            spent = time.thread_time() - start
            with LOCK:
                SPENT[part] += spent
                CALLS[part] += 1

    return counted


def python_seconds() -> float:
    """Processor time of the threads that may hold the GIL."""
    total = 0
    for thread in threading.enumerate():
        with open(f"/proc/self/task/{thread.native_id}/schedstat") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def measure(workload: str, folder: str, batches: int) -> tuple[dict[str, float], Counter[str], int]:
    """Processor seconds by part, calls by part, and the number of samples."""
    pipe, size = pipeline(workload, folder)
    for _ in range(12):  # the shapes of an epoch are compiled
        host.wait(pipe.run())
    SPENT.clear()
    CALLS.clear()
    everything, python = time.process_time(), python_seconds()
    for _ in range(batches):
        host.wait(pipe.run())
    everything, python = time.process_time() - everything, python_seconds() - python
    spent = dict(SPENT)
    spent["threads of XLA"] = everything - python
    spent["Python, at most: holds the GIL"] = python - sum(SPENT.values())
    calls = Counter(CALLS)
    pipe.close()
    return spent, calls, batches * size


def process_seconds(pid: int) -> float:
    """Processor time of the threads of a process."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{task}/schedstat") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def measure_workers(workload: str, folder: str, batches: int, count: int) -> tuple[float, float]:
    """Processor seconds a sample in this many workers, and in this process."""
    os.environ["JDALI_WORKERS"] = str(count)
    try:
        pipe, size = pipeline(workload, folder)
        host.wait(pipe.run())
    finally:
        del os.environ["JDALI_WORKERS"]
    workers = pipe.internals().engine.elsewhere.workers
    for _ in range(12 * count):  # each has compiled the shapes of an epoch
        host.wait(pipe.run())
    pids = workers.pids()
    before, made, own = sum(map(process_seconds, pids)), workers.counts().made, time.process_time()
    for _ in range(batches):
        host.wait(pipe.run())
    spent, own = sum(map(process_seconds, pids)) - before, time.process_time() - own
    samples = (workers.counts().made - made) * size
    pipe.close()
    return spent / samples, own / (batches * size)


def pipeline(workload: str, folder: str) -> tuple[Any, int]:
    """A pipeline of one thread, and the samples of its batches."""
    if workload == "train":
        return pipelines.dali_like("jdali", "train", pipelines.default_data(), 1), pipelines.BATCH
    return host.pipeline("jdali", workload, folder, 1), host.BATCHES[workload][0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--workload", nargs="*", default=["train", "tiny"], choices=["train", "tiny", "speech"]
    )
    parser.add_argument("--batches", type=int, default=40)
    parser.add_argument("--cores", type=int, nargs="*", default=[2, 8, 32, 128])
    parser.add_argument("--trainer", type=float, help="µs of the trainer's process a sample, with workers")
    parser.add_argument("--workers", type=int, nargs="*", default=[], help="numbers of workers to check")
    options = parser.parse_args()
    for part, owner, name in RELEASING:
        setattr(owner, name, timed(part, getattr(owner, name)))
    for workload in options.workload:
        with tempfile.TemporaryDirectory() as folder:
            if workload != "train":
                {"tiny": host.make_tiny, "speech": host.make_speech}[workload](Path(folder))
            report(workload, *measure(workload, folder, options.batches), options.cores, options.trainer)
            for count in options.workers:
                made, own = measure_workers(workload, folder, options.batches, count)
                print(
                    f"{count} workers: {made * 1e6:.1f} µs a sample in them, {own * 1e6:.1f} here", flush=True
                )


def with_workers(cores: int, total: float, held: float, trainer: float) -> tuple[float, str, int]:
    """Samples a second that workers feed at most, what bounds them, and the fewest workers that do.

    Args:
        cores: of the machine.
        total: seconds of processor time a sample, where it is made.
        held: of these with the GIL held.
        trainer: seconds of the trainer's process a sample.
    """
    rate, bound = min((cores / (total + trainer), "cores"), (1 / trainer, "the trainer's process"))
    return rate, bound, math.ceil(rate * held)


def report(
    workload: str, spent: dict[str, float], calls: Counter[str], samples: int, all_cores: list[int],
    trainer: float | None,
) -> None:  # fmt: skip
    print(f"\n| {workload}: part | µs of processor time a sample | calls a sample |\n|---|---|---|")
    for part, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        print(
            f"| {part} | {seconds / samples * 1e6:.1f} | {f'{calls[part] / samples:.3f}' if part in calls else ''} |"
        )
    total = sum(spent.values()) / samples
    held = spent["Python, at most: holds the GIL"] / samples
    print(f"| together | {total * 1e6:.1f} | |\n")
    for cores in all_cores:
        rate, bound = min((cores / total, "cores"), (1 / held, "the GIL"))
        print(f"{cores} cores: {rate:.0f} samples/s, bounded by {bound}")
        if trainer is not None:
            rate, bound, fewest = with_workers(cores, total, held, trainer / 1e6)
            print(f"  with workers: {rate:.0f} samples/s, bounded by {bound}; {fewest} workers or more")


if __name__ == "__main__":
    main()
