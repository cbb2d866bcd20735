"""Measures the compile time of pipelines: tracing, lowering and XLA until the first batch, without any cache.

    python benchmarks/compile.py [--cases flips-50 noise.shot ...]

Each case runs in a separate process. Times are wall seconds, except for `cpu`, the processor time of the first batch,
which varies less on a shared machine. Tracing includes nested functions, and the second tracing by
`jdali._numerics.exact`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import defaultdict
from typing import Any

import numpy as np

PARTS = {
    "jaxpr_trace_duration": "trace",
    "jaxpr_to_mlir_module_duration": "lower",
    "backend_compile_duration": "XLA",
}
PICTURE, SOUND = (256, 320, 3), (16000,)


def source(shape: tuple[int, ...], dtype: str, layout: str | None):
    from jdali import fn

    sample = np.random.default_rng(0).uniform(0, 255, shape).astype(dtype)
    return fn.external_source(lambda info: sample, batch=False, layout=layout)


def pictures():
    return source(PICTURE, "uint8", "HWC")


def flips(count: int):
    from jdali import fn

    images = pictures()
    for _ in range(count):
        images = fn.flip(images, horizontal=fn.random.coin_flip())
    return images


def training():
    from jdali import fn

    images = fn.random_resized_crop(pictures(), size=[224, 224])
    return fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip(), mean=[120.0] * 3, std=[60.0] * 3)


def colour():
    from jdali import fn

    images = fn.color_twist(
        pictures(),
        brightness=fn.random.uniform(range=[0.5, 1.5]),
        contrast=fn.random.uniform(range=[0.5, 1.5]),
        saturation=fn.random.uniform(range=[0.5, 1.5]),
        hue=fn.random.uniform(range=[-30.0, 30.0]),
    )
    images = fn.gaussian_blur(images, sigma=fn.random.uniform(range=[0.5, 2.0]))
    return fn.crop_mirror_normalize(images, mean=[120.0] * 3, std=[60.0] * 3)


def speech():
    from jdali import fn

    waves = fn.preemphasis_filter(source(SOUND, "float32", "t"))
    spectra = fn.spectrogram(waves, nfft=512, window_length=400, window_step=160)
    mel = fn.mel_filter_bank(spectra, nfilter=80, sample_rate=16000.0)
    return fn.pad(fn.normalize(fn.to_decibels(mel, multiplier=10.0), axes=[1]))


def bbox_crop():
    from jdali import fn

    boxes = source((4, 4), "float32", None)
    anchor, shape, boxes = fn.random_bbox_crop(
        boxes * 0 + np.array([0.2, 0.2, 0.5, 0.6], np.float32), device="cpu"
    )
    return anchor, shape, boxes


def random(name: str, shape: list[int] | None, **args: object):
    from jdali import fn

    more = {} if shape is None else {"shape": shape}
    return getattr(fn.random, name)(**args, **more)


def noise(name: str):
    from jdali import fn

    return getattr(fn.noise, name)(pictures())


CASES: dict[str, tuple[Any, ...]] = {
    **{f"flips-{n}": (flips, n) for n in (10, 25, 50, 100)},
    **{f"random.{n}": (random, n, None) for n in ("uniform", "normal", "coin_flip", "beta")},
    **{f"random.{n}-1000": (random, n, [1000]) for n in ("uniform", "normal", "beta")},
    **{f"noise.{n}": (noise, n) for n in ("gaussian", "salt_and_pepper", "shot")},
    "random_bbox_crop": (bbox_crop,),
    "training": (training,),
    "colour": (colour,),
    "speech": (speech,),
}


def worker(case: str) -> None:
    """Runs a case, and prints a JSON object with seconds by part."""
    import jax

    import jdali

    spans: dict[str, list[tuple[float, float]]] = defaultdict(list)
    programs = [0]

    def note(event: str, duration_secs: float, **about: str | int) -> None:
        part = PARTS.get(event.rpartition("/")[2])
        if part is not None:
            end = time.perf_counter()
            spans[part].append((end - duration_secs, end))
            programs[0] += part == "XLA"

    jax.monitoring.register_event_duration_secs_listener(note)
    define, *args = CASES[case]
    pipe = jdali.Pipeline(batch_size=16, num_threads=2, seed=1, compilation_cache=False)
    with pipe:
        outputs = define(*args)
        pipe.set_outputs(*(outputs if isinstance(outputs, tuple) else (outputs,)))
    pipe.build()
    start, cpu = time.perf_counter(), time.process_time()
    for output in pipe.run():
        np.asarray(output.as_cpu().as_tensor())
    took = {"first": time.perf_counter() - start, "cpu": time.process_time() - cpu}
    took |= {part: covered(spans[part]) for part in PARTS.values()}
    print(json.dumps(took | {"programs": programs[0]}))
    pipe.close()


def covered(spans: list[tuple[float, float]]) -> float:
    """Returns the total length of the union of spans, because the traces of nested functions overlap."""
    total, until = 0.0, -np.inf
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        worker(chosen.worker)
        return
    print(
        "| case | first batch, s | cpu, s | trace | lower | XLA | programs |\n|---|---|---|---|---|---|---|"
    )
    for case in chosen.cases:
        command = [sys.executable, __file__, "--worker", case]
        took = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        times = " | ".join(f"{took[part]:.2f}" for part in ("first", "cpu", "trace", "lower", "XLA"))
        print(f"| {case} | {times} | {took['programs']} |", flush=True)


if __name__ == "__main__":
    main()
