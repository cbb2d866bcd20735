"""Measures worker processes: speed against DALI and against one process, and processor time of the trainer's process.

    python benchmarks/workers.py [--workload train scaled val tiny speech limit] [--rounds 5]

Every rival has two threads: DALI and jdali without workers have two in one process, jdali with two workers has one in
each worker. The rivals take turns; the ratio compares a turn with the first rival's turn of the same round (median).

Processor time is the time of the training process without its workers. It limits the rate that any number of workers
can reach. It is largest if batches are rare, because then the processor's caches are cold. `scaled` is `train` with
jdali's `scaled_decoding`. `limit` has batches of 32 samples that cost the workers almost nothing, so the training
process is the bottleneck; its time does not depend on the size of the pictures.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import host
import pipelines
from _harness import arguments, compare, say, serve

# For each workload: samples in a batch, and batches in a turn.
WORKLOADS = {
    "train": (pipelines.BATCH, 24),
    "scaled": (pipelines.BATCH, 24),
    "val": (pipelines.BATCH, 24),
    "tiny": (256, 60),
    "speech": (16, 30),
    "limit": (32, 600),
}
RIVALS = ("dali", "one process", "two workers")
# Batches that are not timed, because a rival may have prefetched them before its turn.
DRAIN = 12


def pipeline(package: str, workload: str, folder: str, threads: int) -> Any:
    if workload in host.BATCHES:
        return host.pipeline(package, workload, folder, threads)
    if workload == "limit":
        return limit(package, folder, threads)
    options = {}
    if workload == "scaled":
        workload, options = "train", {"scaled_decoding": True} if package == "jdali" else {}
    pipe = pipelines.dali_like(package, workload, folder, threads, **options)
    pipe.build()
    return pipe


def limit(package: str, folder: str, threads: int) -> Any:
    fn = importlib.import_module(package + ".fn")

    @importlib.import_module(package).pipeline_def(
        batch_size=WORKLOADS["limit"][0], num_threads=threads, device_id=None, seed=1
    )
    def define() -> tuple[Any, ...]:
        _, labels = fn.readers.file(file_root=folder, random_shuffle=True)
        return fn.random.uniform(range=[0.0, 1.0], shape=[3, 8, 8]), labels

    pipe = define()
    pipe.build()
    return pipe


def work(rival: str, workload: str, folder: str, threads: int) -> None:
    """Runs a rival's turns."""
    package = "nvidia.dali" if rival == "dali" else "jdali"
    if rival == "two workers":
        os.environ["JDALI_WORKERS"] = "2"
        threads //= 2
    measure(lambda: pipeline(package, workload, folder, threads), WORKLOADS[workload][0])


def measure(make: Callable[[], Any], size: int, drain: int = DRAIN, **clocks: Callable[[], float]) -> None:
    """Serves turns of a pipeline: rates, and processor time of a sample in µs.

    Args:
        make: builds the pipeline; an ImportError is reported as the rival's problem.
        size: batch size of the pipeline.
        drain: number of batches before a turn is timed, because they may have been prefetched.
        clocks: functions that return processor seconds, by name, in addition to `cpu` for this process.
    """
    clocks["cpu"] = time.process_time
    start = time.perf_counter()
    try:
        pipe = make()
    except ImportError as error:
        say({"problem": str(error)})
        return
    host.wait(pipe.run())
    first = time.perf_counter() - start
    spent: dict[str, list[float]] = {name: [] for name in clocks}

    def run(batches: int) -> float:
        for _ in range(drain):
            host.wait(pipe.run())
        before = {name: clock() for name, clock in clocks.items()}
        start = time.perf_counter()
        for _ in range(batches):
            host.wait(pipe.run())
        seconds = time.perf_counter() - start
        for name, clock in clocks.items():
            spent[name].append((clock() - before[name]) / batches / size * 1e6)
        return batches * size / seconds

    serve(first, run, lambda: {name: times[1:] for name, times in spent.items()})


def main() -> None:
    parser = arguments(__doc__, batches=0, rivals=RIVALS, choices={"workload": WORKLOADS})
    options = parser.parse_args()
    if options.worker:
        rival, workload = options.worker
        work(rival, workload, options.data, options.threads)
        return
    print(
        "| workload | rival | samples/s, median (low to high) | ratio to the first | cpu of the trainer, µs a sample |"
    )
    print("|---|---|---|---|---|")
    for workload in options.workload:
        with tempfile.TemporaryDirectory() as folder:
            make = {"tiny": host.make_tiny, "limit": host.make_tiny, "speech": host.make_speech}.get(workload)
            if make is not None:
                make(Path(folder, "data"))
            data = folder + "/data" if make is not None else options.data or pipelines.default_data()
            report(workload, data, options)


def report(workload: str, data: str, options: Any) -> None:
    rows = compare(
        Path(__file__), options.rivals, workload, data=data, threads=options.threads, rounds=options.rounds,
        batches=options.batches or WORKLOADS[workload][1],
    )  # fmt: skip
    for row in rows:
        print(
            f"| {workload} | {row['rival']} | {row['median']:.0f} ({row['low']:.0f} to {row['high']:.0f}) "
            f"| {row['ratio']:.2f} | {np.median(row['cpu']):.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
