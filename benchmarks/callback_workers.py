"""Measures a callback that holds the GIL, in the main process and in worker processes: samples a second.

    python benchmarks/callback_workers.py [--threads 2] [--rounds 5]

`--threads` is the number of workers. Each sample is a run-length coded picture that Python decodes byte by byte (about
2 ms). DALI runs the same callback in its own workers. The rivals run in separate processes and take turns. The ratio
compares a turn with the turn of jdali without workers in the same round (median).
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from _harness import arguments, compare, say, serve

BATCH = 16
SIZE = 96
RIVALS = ("jdali", "jdali_workers", "dali_workers")


class Decode:
    """Decodes pictures from pairs of a count and a value. The coded pictures are generated only once."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.coded = [
            bytes(
                np.stack([np.full(SIZE * SIZE // 4, 4), rng.integers(0, 256, SIZE * SIZE // 4)], 1).astype(
                    np.uint8
                )
            )
            for _ in range(BATCH)
        ]

    def __call__(self, info) -> np.ndarray:
        coded = self.coded[info.idx_in_batch]
        pixels = bytearray()
        for i in range(0, len(coded), 2):
            for _ in range(coded[i]):
                pixels.append(coded[i + 1])
        return np.frombuffer(pixels, np.uint8).reshape(SIZE, SIZE, 1)


def worker(rival: str, threads: int) -> None:
    try:
        start = time.perf_counter()
        package, _, parallel = rival.partition("_")
        package = {"dali": "nvidia.dali"}.get(package, package)
        fn = importlib.import_module(package + ".fn")
        pipe = importlib.import_module(package).Pipeline(
            BATCH, 2, None, py_num_workers=threads, py_start_method="spawn", exec_async=True
        )
        with pipe:
            images = fn.external_source(
                Decode(),
                batch=False,
                parallel=bool(parallel),
                layout="HWC",
                prefetch_queue_depth=2 if parallel else None,
            )
            pipe.set_outputs(fn.flip(images))
        pipe.build()
        pipe.run()
        first = time.perf_counter() - start
    except ImportError as error:
        say({"problem": str(error)})
        return

    def run(batches: int) -> float:
        start = time.perf_counter()
        for _ in range(batches):
            pipe.run()
        return batches * BATCH / (time.perf_counter() - start)

    serve(first, run, dict)


def main() -> None:
    parser = arguments(__doc__, batches=20, rivals=RIVALS, choices={})
    options = parser.parse_args()
    if options.worker:
        worker(options.worker[0], options.threads)
        return
    print("| rival | samples/s, median (low to high) | ratio to jdali in the process | first batch, s |")
    print("|---|---|---|---|")
    rows = compare(
        Path(__file__), options.rivals, "decode in Python", data="", threads=options.threads,
        rounds=options.rounds, batches=options.batches,
    )  # fmt: skip
    for row in rows:
        print(
            f"| {row['rival']} | {row['median']:.0f} ({row['low']:.0f} to {row['high']:.0f}) | "
            f"{row['ratio']:.2f} | {row['first_batch_s']:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
