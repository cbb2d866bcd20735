"""Pipelines on a CPU device that the engine takes for an accelerator give the values of the CPU.

There all that hangs on the platform is the accelerator's: the operators' programs, the rows of a call, which follow from bytes
alone, padded shapes by another model of cost, no rows that are shared by pipelines of few samples, none that are cleared.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from PIL import Image
from support import accelerator
from support.data import image

import jdali
from jdali import fn, types
from jdali.iterator import DataIterator

pytestmark = pytest.mark.skipif(jax.device_count() < 2, reason="needs a second device")

COUNT, BATCH, BATCHES = 16, 8, 2
NORMAL: Any = {"mean": [120.0, 110.0, 100.0], "std": [57.0, 58.0, 59.0]}
# Sums in another order, of `gaussian_blur` for one: roundings of a float, and of an integer that ties.
FLOATS, INTEGERS = 1e-5, 1


def sizes(count: int = COUNT) -> list[tuple[int, int]]:
    return [(20 + 9 * (i % 4), 24 + 11 * (i % 2)) for i in range(count)]


PICTURES = [image(*size, seed=i) for i, size in enumerate(sizes())]
SOUNDS = [np.float32(np.sin(np.arange(900 + 170 * i) * (0.01 + 0.002 * i))) for i in range(COUNT)]


def batches(samples: list[np.ndarray], size: int = BATCH) -> list[list[np.ndarray]]:
    return [samples[i : i + size] for i in range(0, COUNT, size)]


def pictures(size: int = BATCH) -> Any:
    return fn.external_source(batches(PICTURES, size), cycle=True, layout="HWC").gpu()


def classification() -> Any:
    cut = fn.random_resized_crop(pictures(), size=[16, 16])
    return fn.crop_mirror_normalize(cut, mirror=fn.random.coin_flip(), **NORMAL)


def cut_out() -> Any:
    return fn.crop_mirror_normalize(pictures(), crop=(16, 16), mirror=fn.random.coin_flip(), **NORMAL)


def validation() -> Any:
    return fn.crop_mirror_normalize(fn.resize(pictures(), resize_shorter=18), crop=(16, 16), **NORMAL)


def colours() -> Any:
    twisted = fn.color_twist(pictures(), hue=fn.random.uniform(range=(-20.0, 20.0)), saturation=1.2)
    return twisted, fn.normalize(fn.gaussian_blur(twisted, sigma=1.0), axes=[0, 1])


def noises() -> Any:
    return fn.noise.shot(fn.noise.salt_and_pepper(pictures(), prob=0.1), factor=20.0)


def blocks() -> Any:
    clear = fn.clahe(pictures(), tiles_x=2, tiles_y=2, clip_limit=2.0)
    return clear, fn.jpeg_compression_distortion(clear, quality=30)


def branches() -> Any:
    picture = pictures()
    if fn.random.coin_flip(probability=0.4):
        turned = fn.rotate(picture, angle=fn.random.uniform(range=(-40.0, 40.0)), fill_value=3)
    elif fn.random.coin_flip():
        turned = fn.brightness(picture, brightness=1.5)
    else:
        turned = fn.flip(picture)
    return turned, fn.reductions.mean(turned)


def windows() -> Any:
    return fn.laplacian(pictures(), window_size=5), fn.experimental.median_blur(
        pictures(), window_size=[3, 3]
    )


def speech() -> Any:
    signal = fn.external_source(batches(SOUNDS), cycle=True).gpu()
    power = fn.spectrogram(signal, nfft=64, window_length=64, window_step=32)
    decibels = fn.to_decibels(fn.mel_filter_bank(power, nfilter=8, sample_rate=16000.0))
    return fn.mfcc(decibels, n_mfcc=6), fn.normalize(decibels, axes=[1])


def mixed_samples() -> Any:
    picture = fn.resize(pictures(), size=[12, 10])
    return fn.permute_batch(picture, indices=fn.batch_permutation()), fn.stack(picture, picture)


def frames() -> Any:
    clips = [np.stack(PICTURES[i : i + 1] * (2 + i % 3)) for i in range(COUNT)]
    video = fn.external_source(batches(clips), cycle=True, layout="FHWC").gpu()
    return fn.crop_mirror_normalize(fn.resize(video, size=[14, 12]), output_layout="CFHW", **NORMAL)


def values(define: Callable[[], Any], **options: Any) -> list[list[list[np.ndarray]]]:
    """Of each batch, of each output, the samples."""
    options = {"batch_size": BATCH, "num_threads": 2, "seed": 5, "enable_conditionals": True} | options
    found = []
    with jdali.pipeline_def(**options)(define)() as pipe:
        for _ in range(BATCHES):
            found.append([[np.asarray(s) for s in output.as_cpu().to_samples()] for output in pipe.run()])
    return found


def compare(define: Callable[[], Any], **options: Any) -> None:
    want = values(define, **options)
    device = accelerator.find()
    with accelerator.as_default(device), accelerator.declared_as_gpu([device]):
        got = values(define, **options)
    for batch, outputs in enumerate(want):
        for o, samples in enumerate(outputs):
            for i, sample in enumerate(samples):
                same(got[batch][o][i], sample, f"batch {batch}, output {o}, sample {i}")


def same(got: np.ndarray, want: np.ndarray, what: str) -> None:
    assert (got.shape, got.dtype) == (want.shape, want.dtype), what
    is_float = want.dtype.kind == "f"
    atol = FLOATS * float(np.abs(want).max(initial=1)) if is_float else INTEGERS
    np.testing.assert_allclose(np.float64(got), np.float64(want), rtol=0, atol=atol, err_msg=what)


QUICK = (classification, branches)
EVERY = (*QUICK, speech, validation, colours, noises, blocks, windows, mixed_samples, frames)


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    "define",
    [pytest.param(d, marks=() if d in QUICK else pytest.mark.exhaustive, id=d.__name__) for d in EVERY],
)
def test_values_of_the_cpu(define: Callable[[], Any]):
    compare(define)


def test_values_of_pipelines_of_few_samples():
    turned = {"angle": 30.0, "interp_type": types.INTERP_NN}  # compiles quickly
    compare(lambda: fn.noise.gaussian(fn.rotate(pictures(3), **turned), stddev=10.0), batch_size=3)


@pytest.mark.exhaustive
def test_values_with_exact_shapes():
    compare(lambda: fn.rotate(pictures(), angle=30.0, keep_size=True), exact_shapes=True)


def test_values_of_files(tmp_path: Path):
    (tmp_path / "0").mkdir()
    for i, picture in enumerate(PICTURES):
        Image.fromarray(picture).save(tmp_path / "0" / f"{i:02}.png")

    def define() -> Any:
        encoded, label = fn.readers.file(file_root=str(tmp_path), random_shuffle=True, name="pictures")
        picture = fn.decoders.image_random_crop(encoded, device="mixed")
        return fn.resize(picture, size=[16, 20], interp_type=types.INTERP_NN), label

    compare(define)


def test_values_on_several_devices():
    def first(sharding: Any = None) -> np.ndarray:
        pipe = jdali.pipeline_def(batch_size=BATCH, num_threads=2, seed=5)(cut_out)()
        with DataIterator(pipe, ["picture"], size=COUNT, sharding=sharding) as it:
            return np.asarray(next(iter(it))["picture"])

    want, devices = first(), jax.devices()[:4]
    mesh = NamedSharding(Mesh(np.array(devices), ("data",)), PartitionSpec("data"))
    with accelerator.declared_as_gpu(devices):
        same(first(mesh), want, "over four devices")
