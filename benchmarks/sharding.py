"""Measures a pipeline's stage on 1, 2, 4 and 8 devices, and the host's cost of a batch.

    python benchmarks/sharding.py [--rounds N]

Virtual CPU devices share the cores of the machine. With more devices than cores, nothing gets faster, and the results
show the overhead of a device. All variants take turns in one process; ratios compare a turn with the turn of the
iterator without a sharding. CPU time counts all threads of the process.
"""

from __future__ import annotations

import argparse
import statistics
import time

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import jdali
from jdali import fn, types
from jdali._system.cpus import cpu_count
from jdali.iterator import DataIterator

DEVICES = (1, 2, 4, 8)


@jdali.pipeline_def(num_threads=2, seed=1)
def pictures(samples: np.ndarray, crop: int):
    """Defines random brightness, a crop and a mirror image, all in one compiled stage."""
    images = fn.external_source(source=lambda: samples, layout="HWC")
    images = fn.brightness_contrast(images, brightness=fn.random.uniform(range=(0.8, 1.2)), contrast=1.1)
    return fn.crop_mirror_normalize(
        images, crop=(crop, crop), mirror=fn.random.coin_flip(), mean=[120.0], std=[60.0], dtype=types.FLOAT
    )


# Name, samples in a batch, height and width of a sample, batches in a turn.
WORKLOADS = (("64 pictures of 256 x 256", 64, 256, 4), ("64 samples of 8 x 8: overhead", 64, 8, 40))


class Variant:
    """An iterator whose batches are sharded over `devices` devices; None: no sharding."""

    def __init__(self, devices: int | None, batch: int, size: int):
        self.name = "no sharding" if devices is None else f"{devices} devices"
        samples = np.random.default_rng(0).integers(0, 256, (batch, size, size, 3), np.uint8)
        # Without prefetching, so that a turn measures its own batches only.
        pipe = pictures(samples, size * 7 // 8, batch_size=batch, exec_pipelined=False)
        sharding = None
        if devices is not None:
            sharding = NamedSharding(Mesh(np.array(jax.devices()[:devices]), ("data",)), P("data"))
        self.iterator = DataIterator(pipe, ["image"], size=1 << 40, sharding=sharding)
        self.batch, self.seconds, self.cpu = batch, list[float](), list[float]()
        for _ in range(3):  # compiles
            next(self.iterator)

    def turn(self, batches: int) -> None:
        """Takes batches, and records the wall time and CPU time of a batch."""
        start, cpu = time.perf_counter(), time.process_time()
        for _ in range(batches):
            next(self.iterator)
        self.seconds.append((time.perf_counter() - start) / batches)
        self.cpu.append((time.process_time() - cpu) / batches)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", max(DEVICES))
    print(f"{cpu_count()} cores, {jax.device_count()} devices")
    for title, batch, size, batches in WORKLOADS:
        print(f"\n| {title} | samples/s | ms a batch | CPU ms a batch | ratio of the rate | of CPU time |")
        print("|---|---|---|---|---|---|")
        variants = [Variant(None, batch, size), *(Variant(n, batch, size) for n in DEVICES)]
        for _ in range(rounds):
            for variant in variants:
                variant.turn(batches)
        for variant in variants:
            seconds, cpu = statistics.median(variant.seconds), statistics.median(variant.cpu)
            rate, work = (
                statistics.median(a / b for a, b in pairs)
                for pairs in (
                    zip(variants[0].seconds, variant.seconds, strict=True),
                    zip(variant.cpu, variants[0].cpu, strict=True),
                )
            )
            print(
                f"| {variant.name} | {variant.batch / seconds:.0f} | {seconds * 1e3:.2f} | {cpu * 1e3:.2f} | "
                f"{rate:.2f} | {work:.2f} |"
            )
            variant.iterator.close()


if __name__ == "__main__":
    main()
