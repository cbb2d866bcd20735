"""Measures the startup: importing jdali, compared with importing JAX, and building a pipeline of 50 operators.

    python benchmarks/startup.py [--rounds 9]

Times are processor times of fresh processes, which take turns. A first round, which is not counted, writes the bytecode
to a new folder.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping

REFERENCE = "import jax"

IMPORTS = {
    REFERENCE: REFERENCE,
    "import jdali": "import jdali",
    "what a training script imports": "from jdali import fn, pipeline_def, types\nfrom jdali.iterator import DataIterator",
    "... and the operators of ResNet-50": (
        "from jdali import fn, pipeline_def, types\nfrom jdali.iterator import DataIterator\n"
        "fn.readers.file, fn.decoders.image_random_crop, fn.resize, fn.random.coin_flip, fn.crop_mirror_normalize"
    ),
    "dynamic mode": "import jdali.dynamic as jd\njd.resize",
}

# `alike` has 24 flips, each with a coin flip, between a source and a last operator; `different` has different
# operators.
BUILD = """
import jax, numpy as np
from jdali import fn, pipeline_def, types

@pipeline_def(batch_size=4, num_threads=2)
def alike():
    x = fn.external_source(source=lambda: np.zeros((4, 8, 8, 3), np.uint8), layout="HWC")
    for _ in range(24):
        x = fn.flip(x, horizontal=fn.random.coin_flip())
    return fn.brightness_contrast(x, brightness=1.5)

@pipeline_def(batch_size=4, num_threads=2)
def different():
    x = fn.external_source(source=lambda: np.zeros((4, 64, 64, 3), np.uint8), layout="HWC")
    for _ in range(2):
        x = fn.rotate(fn.flip(x, horizontal=fn.random.coin_flip()), angle=fn.random.uniform(range=(-9.0, 9.0)))
        x = fn.crop(fn.resize(x, size=(48, 40)), crop=(40, 40), crop_pos_x=fn.random.normal() * 0.0)
        x = fn.warp_affine(x, fn.transforms.rotation(angle=fn.random.beta()), inverse_map=False)
        x = fn.color_twist(fn.hsv(x, hue=3), brightness=1.1, contrast=fn.random.uniform(range=(0.9, 1.1)))
        x = fn.gaussian_blur(fn.jpeg_compression_distortion(x, quality=60), sigma=1.0)
        x = fn.noise.gaussian(fn.noise.salt_and_pepper(fn.noise.shot(x)), stddev=2.0)
        x = fn.pad(fn.erase(x, anchor=(3.0, 3.0), shape=(2.0, 2.0)), fill_value=0)
        x = fn.cast(fn.grid_mask(fn.water(x)), dtype=types.UINT8)
        x = fn.reinterpret(fn.equalize(x), layout="HWC")
    return fn.normalize(x)

def built(pipeline):
    start = time.process_time()
    pipe = pipeline()
    pipe.build()
    end = time.process_time()
    count = len(pipe.graph.nodes)
    pipe.close()
    assert 40 <= count <= 60, count
    return end - start

jax.devices()
first = built({pipeline})
print(first, statistics.median(built({pipeline}) for _ in range(5)))
"""


def run(code: str, environment: Mapping[str, str]) -> list[float]:
    """Runs code in a fresh process; returns the numbers that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", "import statistics, time\n" + code],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [float(number) for number in done.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = folder
        timed = {
            name: f"start = time.process_time()\n{code}\nprint(time.process_time() - start)"
            for name, code in IMPORTS.items()
        }
        builds = {name: BUILD.replace("{pipeline}", name) for name in ("alike", "different")}
        taken: dict[str, list[list[float]]] = {name: [] for name in (*timed, *builds)}
        for turn in range(-1, rounds):  # the first turn writes the bytecode
            for name, code in {**timed, **builds}.items():
                numbers = run(code, environment)
                if turn >= 0:
                    taken[name].append(numbers)
    print("| import | processor time | ratio |\n|---|---|---|")
    for name in timed:
        ratios = [own[0] / jax[0] for own, jax in zip(taken[name], taken[REFERENCE], strict=True)]
        seconds = statistics.median(own[0] for own in taken[name])
        print(f"| {name} | {seconds:.2f} s | {statistics.median(ratios):.2f} |")
    print("\n| build a pipeline of 50 operators | processor time |\n|---|---|")
    for name in builds:
        first, later = (statistics.median(column) * 1e3 for column in zip(*taken[name], strict=True))
        print(
            f"| {name}: the first, which loads them | {first:.0f} ms |\n| {name}: another | {later:.1f} ms |"
        )


if __name__ == "__main__":
    main()
