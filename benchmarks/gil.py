"""Computes how many samples a second a process can make, and the bottleneck, by a model of measured parts.

    python benchmarks/gil.py [--workload train tiny] [--batches 40] [--cores 2 8 32 128] [--trainer 43] [--workers 1 2 4 8]

A thread of Python either holds the GIL or runs a call that has released it. The script measures T, the processor time
of a sample over all threads, and the part of T in calls that are known to release the GIL: decoding, compiled programs,
reading, large copies. The remaining part, H, is an upper bound of the time with the GIL. It includes the cost of
waiting and waking, so the pool has only one thread here.

With C cores, a process makes at most C / T and at most 1 / H samples a second. With N workers, and S processor seconds
a sample in the trainer's process (measured by `benchmarks/workers.py`), the bounds are C / (T + S), N / H and 1 / S.
`--trainer` with S in µs prints the smallest number of workers that reaches the other bounds. `--workers 1 2 4 8` checks
an assumption of the model: T and S do not depend on the number of workers.

All times are processor times, which the load of the machine hardly changes.
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
# Calls that release the GIL during nearly all of their time; NumPy releases it for copies.
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
    """Wraps a function; adds the processor time of its calls to `SPENT[part]`."""

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
    """Returns the processor seconds of Python's threads, which may hold the GIL."""
    total = 0
    for thread in threading.enumerate():
        with open(f"/proc/self/task/{thread.native_id}/schedstat") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def measure(workload: str, folder: str, batches: int) -> tuple[dict[str, float], Counter[str], int]:
    """Runs a pipeline; returns processor seconds by part, calls by part, and the number of samples."""
    pipe, size = pipeline(workload, folder)
    for _ in range(12):  # compiles programs for the shapes of an epoch
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
    """Returns the processor seconds of all threads of a process."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{task}/schedstat") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def measure_workers(workload: str, folder: str, batches: int, count: int) -> tuple[float, float]:
    """Returns the processor seconds of a sample in `count` workers, and in this process."""
    os.environ["JDALI_WORKERS"] = str(count)
    try:
        pipe, size = pipeline(workload, folder)
        host.wait(pipe.run())
    finally:
        del os.environ["JDALI_WORKERS"]
    workers = pipe.internals().engine.elsewhere.workers
    for _ in range(12 * count):  # each worker compiles programs for the shapes of an epoch
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
    """Returns a pipeline with one thread, and its batch size."""
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
    """Returns the maximum samples a second with workers, the bottleneck, and the number of workers that this needs.

    Args:
        cores: number of cores of the machine.
        total: processor seconds of a sample in a worker (T).
        held: part of `total` with the GIL held (H).
        trainer: processor seconds of a sample in the trainer's process (S).
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
