"""Measures padded shapes: waste, programs and processor time of pipelines, and the constants of the cost model.

    python benchmarks/shapes.py [--data DIR] [--sounds DIR] [--epochs 3]

Each pipeline runs in a separate process. `waste` is the number that `plan()` shows: the time of the padded samples
divided by the time without padding, by the model in `jdali/engine/shapes/cost.py`. The second table measures
`nanoseconds`, which operators declare for this model: the time on one core for each element that they read or write.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from pipelines import dali_like, default_data, wait

PICTURES, SOUNDS = ("train", "val", "rotate", "colour"), ("speech",)


def speech(data: str):
    import jdali
    from jdali import fn

    files = sorted(map(str, Path(data).rglob("*.wav")))

    @jdali.pipeline_def(batch_size=16, num_threads=2, seed=1)
    def define():
        encoded, _ = fn.readers.file(files=files, random_shuffle=True, name="Reader")
        waves, _ = fn.decoders.audio(encoded, downmix=True)
        spectra = fn.spectrogram(fn.preemphasis_filter(waves), nfft=512, window_length=400, window_step=160)
        mel = fn.mel_filter_bank(spectra, nfilter=80, sample_rate=16000.0)
        return fn.pad(fn.normalize(fn.to_decibels(mel, multiplier=10.0, cutoff_db=-80.0), axes=[1]))

    return define()


def small(_: str):
    import jdali
    from jdali import fn

    rng = np.random.default_rng(0)
    sides = rng.integers(20, 60, (1024, 2))
    pictures = [rng.integers(0, 255, (*side, 3), dtype=np.uint8) for side in sides]

    @jdali.pipeline_def(batch_size=64, num_threads=2, seed=1)
    def define():
        picture = fn.readers.dataset(dataset=pictures, layout="HWC", random_shuffle=True, name="Reader")
        return fn.resize(fn.brightness_contrast(picture, brightness=1.2), size=[32, 32])

    return define()


def workload(name: str, data: str, epochs: int) -> None:
    start = time.perf_counter()
    own = {"speech": speech, "small": small}
    pipe = own[name](data) if name in own else dali_like("jdali", name, data, 2)
    wait(pipe.run())
    first = time.perf_counter() - start
    batches = -(-pipe.epoch_size("Reader") * epochs // pipe.max_batch_size)
    for _ in range(batches):
        wait(pipe.run())
    statistics = pipe.executor_statistics()
    cpu = time.process_time()
    for _ in range(batches):
        wait(pipe.run())
    cpu = (time.process_time() - cpu) / batches / pipe.max_batch_size
    print(
        f"| {name} | {statistics['programs']} | {statistics['waste']:.2f} | {cpu * 1e3:.1f} ms | {first:.1f} s |",
        flush=True,
    )


def operators() -> None:
    """Prints the nanoseconds of single operators for each element that they read or write."""
    from jdali import fn

    rng = np.random.default_rng(0)
    picture = rng.integers(0, 255, (640, 960, 3), dtype=np.uint8)
    wave = rng.standard_normal(100_000).astype(np.float32)
    spectrum = rng.uniform(0, 1, (257, 600)).astype(np.float32)
    cases: dict[str, tuple[np.ndarray, str, Callable[..., Any]]] = {
        "brightness_contrast": (picture, "HWC", lambda x: fn.brightness_contrast(x, brightness=1.2)),
        "color_twist": (picture, "HWC", lambda x: fn.color_twist(x, hue=20.0, saturation=1.2)),
        "gaussian_blur": (picture, "HWC", lambda x: fn.gaussian_blur(x, sigma=[1.0])),
        "normalize": (picture, "HWC", lambda x: fn.normalize(x, axes=[0, 1])),
        "resize": (picture, "HWC", lambda x: fn.resize(x, size=[224, 224])),
        "rotate": (picture, "HWC", lambda x: fn.rotate(x, angle=10.0)),
        "flip": (picture, "HWC", fn.flip),
        "preemphasis_filter": (wave, "t", fn.preemphasis_filter),
        "spectrogram": (wave, "t", lambda x: fn.spectrogram(x, nfft=512, window_length=400, window_step=160)),
        "mel_filter_bank": (spectrum, "ft", lambda x: fn.mel_filter_bank(x, nfilter=80, sample_rate=16000.0)),
        "to_decibels": (spectrum, "ft", fn.to_decibels),
        "mfcc": (spectrum[:80], "ft", lambda x: fn.mfcc(x, n_mfcc=20)),
    }
    for name, (sample, layout, make) in cases.items():
        print(f"| {name} | {nanoseconds(sample, layout, make):.2f} |", flush=True)


def nanoseconds(sample: np.ndarray, layout: str, make) -> float:
    import jdali
    from jdali import fn

    pipe = jdali.Pipeline(batch_size=4, num_threads=1, exec_async=False)
    with pipe:
        pipe.set_outputs(make(fn.external_source(lambda: [sample] * 4, layout=layout)))
    (out,) = pipe.run()
    touched = 4 * (sample.size + int(np.prod(out.shape()[0])))
    rounds = []
    for _ in range(7):
        start = time.process_time()
        for _ in range(3):
            wait(pipe.run())
        rounds.append((time.process_time() - start) / 3)
    pipe.close()
    return min(rounds) / touched * 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=None, help="folder of class folders of JPEG files")
    parser.add_argument("--sounds", default=None, help="folder of WAV files")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    options = parser.parse_args()
    data = options.data or default_data()
    sounds = options.sounds or str(Path(data).parents[1] / "audio" / "wav")
    if options.only == "operators":
        operators()
        return
    if options.only:
        workload(options.only, sounds if options.only in SOUNDS else data, options.epochs)
        return
    print(
        "| pipeline | programs | waste | processor time a sample | first batch |\n|---|---|---|---|---|",
        flush=True,
    )
    for name in (*PICTURES, "small", *(SOUNDS if Path(sounds).is_dir() else ())):
        subprocess.run([sys.executable, __file__, *sys.argv[1:], "--only", name], check=True)
    print("\n| operator | ns an element |\n|---|---|", flush=True)
    subprocess.run([sys.executable, __file__, "--only", "operators"], check=True)


if __name__ == "__main__":
    main()
