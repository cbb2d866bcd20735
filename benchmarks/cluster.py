"""Batches made by workers of a Ray cluster beside processes: speed, and processor time left in the trainer's process.

    python benchmarks/cluster.py [--workload train val tiny] [--rounds 5]

Two workers each, one thread in each worker. They take turns, and the ratio is that of each turn to the turn of the processes
of the same round (median). The cluster is one node, this machine, so nothing crosses a network. Processor time is that of the
process that trains alone, without its workers and without the processes of Ray.
"""

from __future__ import annotations

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
from workers import WORKLOADS, measure, pipeline

RIVALS = ("processes", "ray")
STORE_BYTES = 1 << 30


def on_ray() -> Any:
    """Two workers of Ray in place of processes."""
    import ray

    from jdali.plugin.ray import Workers

    ray.init(
        num_cpus=2, object_store_memory=STORE_BYTES, include_dashboard=False, log_to_driver=False, logging_level="ERROR",
    )  # fmt: skip
    return Workers(2)


def work(rival: str, workload: str, folder: str, threads: int) -> None:
    """Runs one rival, whenever its turn comes."""
    from jdali._pipeline import config

    def make() -> Any:
        if rival == "ray":
            workers = on_ray()
            # The definitions that benchmarks share say nothing of workers.
            config._workers_of_environment = lambda: workers
        else:
            os.environ["JDALI_WORKERS"] = "2"
        return pipeline("jdali", workload, folder, threads // 2)

    measure(make, WORKLOADS[workload][0])


def main() -> None:
    parser = arguments(__doc__, batches=0, rivals=RIVALS, choices={"workload": ["train", "val", "tiny"]})
    options = parser.parse_args()
    if options.worker:
        rival, workload = options.worker
        work(rival, workload, options.data, options.threads)
        return
    print("| workload | rival | samples/s, median (low to high) | ratio | cpu of the trainer, µs a sample |")
    print("|---|---|---|---|---|")
    for workload in options.workload:
        with tempfile.TemporaryDirectory() as folder:
            if workload == "tiny":
                host.make_tiny(Path(folder, "data"))
            data = folder + "/data" if workload == "tiny" else options.data or pipelines.default_data()
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
