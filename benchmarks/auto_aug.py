"""Measures training pipelines with automatic augmentation, jdali against DALI.

    python benchmarks/auto_aug.py [--data DIR] [--threads 2] [--rounds 5] [--workloads trivial rand ...]

The rivals run in separate processes and take turns. A row shows the median over the rounds, in images a second of
processor time, which the load of the machine hardly changes. The ratio compares a turn with DALI's turn of the same
round. "plain" is the same pipeline without augmentations. Workloads that end with "_alone" have only the augmentations,
on pictures in memory.
"""

from __future__ import annotations

import importlib
import statistics
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from _harness import arguments, compare, say, serve
from pipelines import DRAIN, MEAN, STD, default_data, wait

BATCH = 64
SIDE = 224
AUGMENTED = ("trivial", "rand", "auto")
WORKLOADS = ("plain", *AUGMENTED, *(f"{name}_alone" for name in AUGMENTED))
RIVALS = ("dali", "jdali")
PACKAGES = {"dali": "nvidia.dali", "jdali": "jdali"}


def pipeline(package: str, workload: str, data: str, threads: int):
    """Defines the same pipeline for DALI and for jdali; only the imports differ."""
    root = importlib.import_module(package)
    fn = importlib.import_module(package + ".fn")
    name, _, alone = workload.partition("_")

    def augmented(images):
        if name == "plain":
            return images
        module = importlib.import_module(f"{package}.auto_aug.{name}_augment")
        if name == "trivial":
            return module.trivial_augment_wide(images, shape=[SIDE, SIDE])
        if name == "rand":
            return module.rand_augment(images, n=2, m=9, shape=[SIDE, SIDE])
        return module.auto_augment(images, shape=[SIDE, SIDE])

    options = {"batch_size": BATCH, "num_threads": threads, "device_id": None, "seed": 1}

    @root.pipeline_def(enable_conditionals=True, **options)
    def training():
        jpegs, labels = fn.readers.file(file_root=data, random_shuffle=True, name="Reader")
        images = fn.resize(fn.decoders.image_random_crop(jpegs), size=[SIDE, SIDE])
        images = augmented(images)
        return fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip(), mean=MEAN, std=STD), labels

    @root.pipeline_def(enable_conditionals=True, **options)
    def augmentations():
        rng = np.random.default_rng(0)
        batch = [rng.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8) for _ in range(BATCH)]
        return augmented(fn.external_source(source=[batch], cycle=True, layout="HWC"))

    return augmentations() if alone else training()


def work(rival: str, workload: str, data: str, threads: int) -> None:
    start = time.perf_counter()
    pipe = pipeline(PACKAGES[rival], workload, data, threads)
    pipe.build()
    done = wait if rival == "jdali" else lambda outputs: None
    outputs = pipe.run()
    done(outputs if isinstance(outputs, tuple) else (outputs,))
    first = time.perf_counter() - start
    walls = []

    def run(batches: int) -> float:
        for _ in range(DRAIN):
            done(pipe.run())
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(batches):
            done(pipe.run())
        walls.append(batches * BATCH / (time.perf_counter() - wall))
        return batches * BATCH / (time.process_time() - cpu)

    def facts() -> dict:
        found = {"wall": statistics.median(walls[1:] or walls)}
        if rival == "jdali":
            found["programs"] = pipe.executor_statistics()["programs"]
        return found

    serve(first, run, facts)


def main() -> None:
    options = arguments(
        __doc__, batches=10, rivals=RIVALS, choices={"workloads": WORKLOADS}, data="folder of JPEGs"
    ).parse_args()
    data = options.data or default_data()
    if options.worker:
        try:
            rival, workload = options.worker
            work(rival, workload, data, options.threads)
        except ImportError as error:
            say({"problem": str(error)})
        return
    print(
        f"{'workload':>14} {'rival':>6} {'images/cpu-s':>13} {'ratio':>6} {'low':>6} {'high':>6} {'wall':>6} {'programs':>9}"
    )
    for workload in options.workloads:
        rows = compare(
            Path(__file__), options.rivals, workload, data=data, threads=options.threads,
            rounds=options.rounds, batches=options.batches,
        )  # fmt: skip
        for row in rows:
            print(
                f"{workload:>14} {row['rival']:>6} {row['median']:13.0f} {row['ratio']:6.2f} {row['low']:6.0f} "
                f"{row['high']:6.0f} {row['wall']:6.0f} {row.get('programs', ''):>9}",
                flush=True,
            )


if __name__ == "__main__":
    main()
