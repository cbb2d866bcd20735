"""Compares workers of a Ray cluster with local worker processes: speed, and processor time.

    python benchmarks/cluster.py [--workload train val tiny speech] [--rounds 5]

Each rival has two workers with one thread each. The rivals take turns; the ratio compares a turn of Ray with the turn
of the processes in the same round (median). The cluster has one node, this machine, so no data crosses a network.
Processor time is measured twice: for the training process alone, and for all processes, including workers, actors and
Ray's own. If the cores are the bottleneck, the ratio of the latter equals the ratio of the rates on a quiet machine,
and the load changes it less.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import host
import pipelines
from _harness import arguments, compare
from workers import DRAIN, WORKLOADS, measure, pipeline

RIVALS = ("processes", "ray")
STORE_BYTES = 1 << 30
# Batches before a turn is timed, and in the turn. There are many, because small batches share a call, so more are in
# flight.
TINY_DRAIN, TINY_BATCHES = 80, 240


def on_ray() -> Any:
    """Starts a Ray cluster, and returns two workers of it."""
    import ray

    from jdali.plugin.ray import Workers

    ray.init(
        address="local", num_cpus=2, object_store_memory=STORE_BYTES, include_dashboard=False, log_to_driver=False,
        logging_level="ERROR",
    )  # fmt: skip
    return Workers(2)


def of_all_processes() -> float:
    """Returns the processor time of all threads of this process and its descendants, seconds."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            stat = (folder / "stat").read_text()
            parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    mine = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
    total = 0
    for pid in mine:
        for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):
                total += int(file.read_text().split()[0])
    return total / 1e9


def work(rival: str, workload: str, folder: str, threads: int) -> None:
    """Runs a rival's turns."""
    from jdali._pipeline import config

    def make() -> Any:
        if rival == "ray":
            workers = on_ray()
            # Set the workers here, because the shared pipeline definitions do not mention workers.
            config._workers_of_environment = lambda: workers
        else:
            os.environ["JDALI_WORKERS"] = "2"
        return pipeline("jdali", workload, folder, threads // 2)

    drain = TINY_DRAIN if workload == "tiny" else DRAIN
    measure(make, WORKLOADS[workload][0], drain, all=of_all_processes)


def main() -> None:
    parser = arguments(__doc__, batches=0, rivals=RIVALS, choices={"workload": WORKLOADS})
    options = parser.parse_args()
    if options.worker:
        rival, workload = options.worker
        work(rival, workload, options.data, options.threads)
        return
    print(
        "| workload | rival | samples/s, median (low to high) | ratio | cpu of the trainer, µs a sample | of all | ratio of all |"
    )
    print("|---|---|---|---|---|---|---|")
    for workload in options.workload:
        with tempfile.TemporaryDirectory() as folder:
            make = {"tiny": host.make_tiny, "speech": host.make_speech}.get(workload)
            if make is not None:
                make(Path(folder, "data"))
            data = folder + "/data" if make is not None else options.data or pipelines.default_data()
            rows = compare(
                Path(__file__), options.rivals, workload, data=data, threads=options.threads, rounds=options.rounds,
                batches=options.batches or (TINY_BATCHES if workload == "tiny" else WORKLOADS[workload][1]),
            )  # fmt: skip
        for row in rows:
            ratios = [first / own for first, own in zip(rows[0]["all"], row["all"], strict=True)]
            print(
                f"| {workload} | {row['rival']} | {row['median']:.0f} ({row['low']:.0f} to {row['high']:.0f}) "
                f"| {row['ratio']:.2f} | {np.median(row['cpu']):.1f} | {np.median(row['all']):.1f} | {np.median(ratios):.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
