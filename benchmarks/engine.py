"""Measures the engine: overhead per batch, compiled programs, time to the first batch, memory over epochs.

    python benchmarks/engine.py [--data DIR]

Each measurement runs in a fresh process. The first batch is timed twice with a new compilation cache: "cold" starts
with the empty cache, "warm" with the cache that "cold" has filled.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from pipelines import dali_like, default_data, wait


def overhead(data: str) -> None:
    """Times batches of 256 small samples through two trivial operators."""
    import jdali
    from jdali import fn

    samples = np.zeros((256, 8, 8, 3), np.uint8)

    @jdali.pipeline_def(batch_size=256, num_threads=2)
    def trivial():
        images = fn.external_source(source=lambda: samples, layout="HWC")
        return fn.crop_mirror_normalize(fn.brightness_contrast(images, brightness=2.0), crop=(4, 4), mirror=1)

    pipe = trivial()
    for _ in range(5):
        wait(pipe.run())
    rounds, processor = [], []
    for _ in range(9):
        start, cpu = time.perf_counter(), time.process_time()
        for _ in range(50):
            wait(pipe.run())
        rounds.append((time.perf_counter() - start) / 50 * 1e3)
        processor.append((time.process_time() - cpu) / 50 * 1e3)
    print(f"| time per batch of 256, trivial operators | {statistics.median(rounds):.2f} ms |")
    print(f"| processor time of all threads for it | {statistics.median(processor):.2f} ms |")


def programs(data: str) -> None:
    """Counts the programs compiled in 3 epochs of ResNet-50 training."""
    pipe = dali_like("jdali", "train", data, 2)
    files = pipe.epoch_size("Reader")
    for _ in range(-(-3 * files // 32)):
        wait(pipe.run())
    count = pipe.executor_statistics()["programs"]
    print(f"| programs compiled in 3 epochs over {files} images of all sizes | {count} |")


def first_batch(data: str) -> None:
    """Measures the time from the start of Python to the first batch of ResNet-50 training."""
    start = float(os.environ["JDALI_BENCHMARK_START"])
    wait(dali_like("jdali", "train", data, 2).run())
    name = os.environ["JDALI_BENCHMARK_NAME"]
    print(
        f"| first batch, compilation cache {name} (start of Python included) | {time.time() - start:.1f} s |"
    )


def memory(data: str) -> None:
    """Measures the resident memory after 5, 25 and 50 epochs of ResNet-50 training."""
    pipe = dali_like("jdali", "train", data, 2)
    batches = -(-pipe.epoch_size("Reader") // 32)
    marks = {}
    for epoch in range(1, 51):
        for _ in range(batches):
            wait(pipe.run())
        if epoch in (5, 25, 50):
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            marks[epoch] = pages * resource.getpagesize() >> 20
    text = ", ".join(f"{mib} MiB after {epoch}" for epoch, mib in marks.items())
    print(f"| resident memory over 50 epochs | {text} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=None, help="folder of class folders of JPEG files")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    options = parser.parse_args()
    data = options.data or default_data()
    if options.only:
        globals()[options.only](data)
        return
    print("| measurement | result |\n|---|---|", flush=True)
    command = [sys.executable, __file__, "--data", data, "--only"]
    with tempfile.TemporaryDirectory() as cache:
        for name in ("cold", "warm"):
            started = {"JDALI_BENCHMARK_START": str(time.time()), "JDALI_BENCHMARK_NAME": name}
            environment = os.environ | started | {"JDALI_CACHE_DIR": cache}
            subprocess.run([*command, "first_batch"], env=environment, check=True)
    for name in ("overhead", "programs", "memory"):
        subprocess.run([*command, name], check=True)


if __name__ == "__main__":
    main()
