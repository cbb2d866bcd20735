"""Measures the processor time to the first batch of small programs like those in DALI's documentation, against DALI.

    python benchmarks/first_batch.py [--programs resize-modes ...] [--rivals cold warm dali] [--operations]

A program has one or more pipelines with batches of 1, 2 or 4 small random pictures. Each run has a separate process.
Times are user and system time, including child processes: `first` from the end of the imports to the first batches of
all pipelines, `second` for building and running the last pipeline again, `process` for the whole process. `cold` has no
compilation cache; `warm` has a cache that an earlier run has filled. The column "programs" counts programs that XLA
compiled or read from the cache. With --operations, another cold run counts their HLO operations before any
optimisation.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

RIVALS = ("cold", "warm", "dali")
RANDOM = np.random.default_rng(7)


def cpu_seconds() -> float:
    """Returns user and system time of this process and its ended children, seconds."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def pictures(count: int, *, low: int = 300, high: int = 420, width: int = 400) -> list[np.ndarray]:
    """Generates random pictures, uint8 [H, width, 3] with H from `low` to `high`."""
    heights = RANDOM.integers(low, high, count, endpoint=True)
    return [RANDOM.integers(0, 256, (int(h), width, 3), np.uint8) for h in heights]


class Programs:
    """Defines the programs for the package `lib`, "jdali" or "nvidia.dali".

    Each method from `eighteen` on is a program. It yields functions that build a pipeline and run its first batch.
    """

    def __init__(self, lib: str):
        self.lib = lib
        self.fn: Any = importlib.import_module(f"{lib}.fn")
        self.types: Any = importlib.import_module(f"{lib}.types")
        self.math: Any = importlib.import_module(f"{lib}.math")
        self.pipeline_def: Any = importlib.import_module(f"{lib}").pipeline_def
        self.dynamic: Any = importlib.import_module(
            "jdali.dynamic" if lib == "jdali" else "nvidia.dali.experimental.dynamic"
        )

    def first_batch(
        self,
        batch: list[np.ndarray],
        define: Callable[..., Any],
        *,
        layout: str = "HWC",
        conditionals: bool = False,
    ) -> Callable[[], None]:
        def run() -> None:
            @self.pipeline_def(
                batch_size=len(batch), num_threads=2, device_id=None, seed=1,
                enable_conditionals=conditionals,
            )  # fmt: skip
            def pipeline() -> Any:
                source = self.fn.external_source(lambda: batch, layout=layout if layout != "t" else None)
                return define(source)

            pipe = pipeline()
            pipe.build()
            for output in pipe.run():
                for i in range(len(batch)):
                    np.asarray(output.as_cpu().at(i) if hasattr(output, "as_cpu") else output.at(i))

        return run

    # --- the programs -----------------------------------------------------------------------------------------------
    def eighteen(self) -> Iterator[Callable[[], None]]:
        """Yields eighteen pipelines, each with one `resize`."""
        calls: list[dict[str, Any]] = [
            {"size": [200, 300]}, {"resize_x": 250}, {"size": [300, 300], "mode": "not_larger"},
            {"size": [300, 300], "mode": "not_smaller"}, {"size": [240, 240], "interp_type": self.types.INTERP_CUBIC},
            {"size": [240, 240], "interp_type": self.types.INTERP_LANCZOS3},
        ]  # fmt: skip
        for count in (1, 2, 4):
            for arguments in calls:
                yield self.first_batch(pictures(count), lambda x, a=arguments: self.fn.resize(x, **a))

    def resize_modes(self) -> Iterator[Callable[[], None]]:
        """Yields pipelines like the cells of a notebook about resize modes."""
        calls: list[dict[str, Any]] = [
            {"size": [300, 300]}, {"resize_x": 300}, {"resize_shorter": 300}, {"resize_longer": 300},
            {"size": [300, 200], "mode": "stretch"}, {"resize_x": 500, "mode": "stretch"},
            {"size": [300, 500], "mode": "not_larger"}, {"size": [300, 500], "mode": "not_smaller"},
            {"resize_shorter": 300, "max_size": 350}, {"size": [-300, 400]},
        ]  # fmt: skip
        for number, arguments in enumerate(calls):
            batch = pictures((1, 2, 4)[number % 3], low=250, high=480)
            yield self.first_batch(batch, lambda x, a=arguments: self.fn.resize(x, **a))

    def interpolations(self) -> Iterator[Callable[[], None]]:
        """Yields pipelines that enlarge and reduce a picture with each interpolation type."""
        for name in ("NN", "LINEAR", "CUBIC", "LANCZOS3", "TRIANGULAR", "GAUSSIAN"):
            kind = getattr(self.types, f"INTERP_{name}")
            for size in (150, 600):
                yield self.first_batch(
                    pictures(1), lambda x, k=kind, s=size: self.fn.resize(x, size=[s, s], interp_type=k)
                )

    def colour(self) -> Iterator[Callable[[], None]]:
        """Yields pipelines with one colour operator each."""
        fn = self.fn
        calls: list[Callable[[Any], Any]] = [
            lambda x: fn.brightness_contrast(x, brightness=1.2, contrast=0.8),
            lambda x: fn.hsv(x, hue=30.0, saturation=1.3, value=0.9),
            lambda x: fn.hue(x, hue=60.0),
            lambda x: fn.saturation(x, saturation=0.4),
            lambda x: fn.color_twist(x, hue=20.0, saturation=1.2, brightness=1.1, contrast=0.9),
            lambda x: fn.color_space_conversion(x, image_type=self.types.RGB, output_type=self.types.YCbCr),
        ]
        for call in calls:
            yield self.first_batch(pictures(2), call)

    def warps(self) -> Iterator[Callable[[], None]]:
        """Yields pipelines with rotations and affine warps."""
        fn = self.fn
        yield self.first_batch(pictures(4), lambda x: fn.rotate(x, angle=30.0, fill_value=0))
        yield self.first_batch(pictures(2), lambda x: fn.rotate(x, angle=-10.0, keep_size=True))
        matrix = (1.0, 0.2, -20.0, 0.1, 0.9, 5.0)
        yield self.first_batch(pictures(2), lambda x: fn.warp_affine(x, matrix=matrix, fill_value=0))

        def by_transform(x: Any) -> Any:
            turned = fn.transforms.rotation(angle=15.0, center=(200.0, 180.0))
            both = fn.transforms.combine(turned, fn.transforms.translation(offset=(10.0, -5.0)))
            return fn.warp_affine(x, both, fill_value=0, inverse_map=False)

        yield self.first_batch(pictures(4), by_transform)

    def gallery(self) -> Iterator[Callable[[], None]]:
        """Yields a pipeline with many augmentations of a picture; without `jitter`, which DALI has only on a GPU."""
        fn = self.fn

        def on_cpu(x: Any) -> tuple[Any, ...]:
            return (
                fn.rotate(x, angle=40.0, fill_value=0), fn.water(x), fn.sphere(x), fn.flip(x),
                fn.warp_affine(x, matrix=(1.0, 0.8, 0.0, 0.0, 1.2, 0.0)), fn.color_twist(x, hue=120.0),
                fn.brightness_contrast(x, brightness=1.5), fn.gaussian_blur(x, sigma=3.0),
                fn.crop(x, crop=(200, 200)), fn.resize(x, size=[200, 200]),
                fn.paste(x, ratio=1.5, fill_value=(0, 0, 0)), fn.grid_mask(x, tile=51, ratio=0.38, angle=0.78),
                fn.noise.gaussian(x, stddev=20.0),
            )  # fmt: skip

        yield self.first_batch(pictures(1), on_cpu)

    def speech(self) -> Iterator[Callable[[], None]]:
        """Yields a pipeline for each step from a spectrogram to MFCC."""
        fn = self.fn
        wave = RANDOM.uniform(-1, 1, 22050).astype(np.float32)

        def spectrum(x: Any) -> Any:
            return fn.spectrogram(x, nfft=2048, window_length=2048, window_step=512)

        def mel(x: Any) -> Any:
            return fn.mel_filter_bank(spectrum(x), sample_rate=22050.0, nfilter=128, freq_high=8000.0)

        def decibels(x: Any) -> Any:
            return fn.to_decibels(mel(x), multiplier=10.0, cutoff_db=-80.0)

        def mfcc(x: Any) -> Any:
            return fn.mfcc(decibels(x), axis=0, dct_type=2, n_mfcc=40, normalize=True)

        for cell in (spectrum, mel, decibels, mfcc):
            yield self.first_batch([wave], cell, layout="t")

    def conditionals(self) -> Iterator[Callable[[], None]]:
        """Yields a pipeline with an `if`, and a rotation in one branch."""
        fn, boolean = self.fn, self.types.BOOL

        def define(x: Any) -> Any:
            if fn.random.coin_flip(dtype=boolean):
                x = fn.rotate(x, angle=fn.random.uniform(range=[10.0, 30.0]), fill_value=0)
            else:
                x = fn.flip(x)
            return x

        yield self.first_batch(pictures(4), define, conditionals=True)

    def dynamic_mode(self) -> Iterator[Callable[[], None]]:
        """Yields functions of dynamic mode: a few operators on a batch, and on one picture."""
        ndd = self.dynamic
        batch = pictures(4)

        def on_batch() -> None:
            x = ndd.as_batch(batch, layout="HWC")
            x = ndd.resize(x, size=[240, 240])
            x = ndd.flip(x, horizontal=1)
            x = ndd.brightness_contrast(x, brightness=1.1)
            for tensor in x.tensors:
                np.asarray(tensor.cpu())

        def on_one() -> None:
            x = ndd.as_tensor(batch[0], layout="HWC")
            np.asarray(ndd.rotate(ndd.resize(x, size=[240, 240]), angle=20.0).cpu())

        yield on_batch
        yield on_one


PROGRAMS = {
    "eighteen": Programs.eighteen, "resize-modes": Programs.resize_modes, "interpolations": Programs.interpolations,
    "colour": Programs.colour, "warps": Programs.warps, "gallery": Programs.gallery, "speech": Programs.speech,
    "conditionals": Programs.conditionals, "dynamic": Programs.dynamic_mode,
}  # fmt: skip


def worker(rival: str, program: str) -> None:
    """Runs a program, and prints a JSON object with seconds and the number of compiled programs."""
    programs = [0]
    if rival != "dali":
        import jax

        def note(event: str, duration_secs: float, **about: str | int) -> None:
            programs[0] += event.endswith("backend_compile_duration")

        jax.monitoring.register_event_duration_secs_listener(note)
    runs = PROGRAMS[program](Programs("nvidia.dali" if rival == "dali" else "jdali"))
    start = cpu_seconds()
    for run in runs:
        run()
    first = cpu_seconds() - start
    compiled, start = programs[0], cpu_seconds()
    run()
    took = {"first": first, "second": cpu_seconds() - start, "programs": compiled, "process": cpu_seconds()}
    print("@" + json.dumps(took))


def measured(rival: str, program: str, folder: str, **variables: str) -> dict[str, float]:
    """Runs a program in a new process; returns the numbers that it prints, by name."""
    environment = dict(os.environ) | variables
    environment["JDALI_COMPILATION_CACHE"] = "0"
    if rival == "warm":
        del environment["JDALI_COMPILATION_CACHE"]
        environment["JDALI_CACHE_DIR"] = environment["XDG_CACHE_HOME"] = folder
    command = [sys.executable, __file__, "--worker", rival, program]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    took: dict[str, float] = json.loads(done.stdout.rpartition("@")[2])
    return took


def operations(program: str) -> int:
    """Counts the HLO operations of all compiled programs, before XLA optimises them."""
    with tempfile.TemporaryDirectory() as folder:
        flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_dump_to={folder} --xla_dump_hlo_as_text"
        measured("cold", program, folder, XLA_FLAGS=flags)
        texts = (file.read_text() for file in Path(folder).glob("*before_optimizations.txt"))
        return sum(len(re.findall(r"^\s+(?:ROOT )?%?[\w.\-]+ = ", text, re.MULTILINE)) for text in texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", nargs="*", default=list(PROGRAMS), choices=list(PROGRAMS))
    parser.add_argument("--rivals", nargs="*", default=list(RIVALS), choices=list(RIVALS))
    parser.add_argument("--operations", action="store_true")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        worker(*chosen.worker)
        return
    print(
        "| program | rival | first | second | process | programs | operations |\n|---|---|---|---|---|---|---|"
    )
    for program in chosen.programs:
        with tempfile.TemporaryDirectory() as folder:
            if "warm" in chosen.rivals:
                measured("warm", program, folder)
            for rival in chosen.rivals:
                took = measured(rival, program, folder)
                count = operations(program) if chosen.operations and rival == "cold" else ""
                times = " | ".join(f"{took[part]:.2f}" for part in ("first", "second", "process"))
                print(f"| {program} | {rival} | {times} | {took['programs']:.0f} | {count} |", flush=True)


if __name__ == "__main__":
    main()
