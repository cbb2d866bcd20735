"""Pipelines of these tests: training, validation and speech, on small data made on the spot."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.data import image
from support.pictures import pillow

import jdali
from jdali import fn, types

COUNT = 4
SEED = 5
MEAN, STD = (120.0, 100.0, 90.0), (50.0, 60.0, 70.0)
SIZES = [(40, 60), (52, 44), (48, 48), (60, 40)]
PICTURES = [image(*size, 3, np.uint8, i) for i, size in enumerate(SIZES)]
ENCODED = [pillow(picture, "png") for picture in PICTURES]


def pipeline(define: Any, **options: Any) -> jdali.Pipeline:
    return jdali.pipeline_def(define)(batch_size=COUNT, num_threads=1, seed=SEED, **options)


def encoded(name: str = "encoded") -> Any:
    data = [np.frombuffer(one, np.uint8) for one in ENCODED]
    return fn.external_source(lambda info: data, batch_info=True, name=name)


def training() -> jdali.Pipeline:
    """Decoded pictures, resized to one size, cropped and mirrored at random."""

    def define() -> Any:
        pictures = fn.decoders.image(encoded(), device="mixed", name="pictures")
        resized = fn.resize(pictures, size=(24, 28), interp_type=types.INTERP_NN)  # compiles quickly
        mirror = fn.random.coin_flip(name="flip")
        return fn.crop_mirror_normalize(
            resized, crop=(16, 16), crop_pos_x=fn.random.uniform(range=(0.0, 1.0), name="left"), mirror=mirror,
            mean=MEAN, std=STD, dtype=types.FLOAT, name="normalized",
        )  # fmt: skip

    return pipeline(define)


def validation() -> jdali.Pipeline:
    """Decoded pictures, the shorter side resized, the middle cut out; and their numbers."""

    def define() -> Any:
        pictures = fn.decoders.image(encoded(), device="mixed", name="pictures")
        resized = fn.resize(pictures, resize_shorter=24, antialias=False)  # compiles quickly
        numbers = fn.external_source(
            lambda info: list(np.arange(COUNT, dtype=np.int32)), batch_info=True, name="numbers"
        )
        out = fn.crop_mirror_normalize(
            resized, crop=(16, 16), mean=MEAN, std=STD, dtype=types.FLOAT, name="normalized"
        )
        return out, numbers

    return pipeline(define)


def speech() -> jdali.Pipeline:
    """Sounds of several lengths, their mel spectrograms in decibels."""
    sounds = [np.sin(np.arange(n, dtype=np.float32) / 3) for n in (400, 500, 450, 333)]

    def define() -> Any:
        sound = fn.external_source(lambda info: sounds, batch_info=True, name="sounds")
        power = fn.spectrogram(sound, nfft=64, window_length=64, window_step=32)
        return fn.to_decibels(fn.mel_filter_bank(power, sample_rate=8000, nfilter=8), cutoff_db=-60.0)

    return pipeline(define)


def first_batch(pipe: jdali.Pipeline) -> list[list[np.ndarray]]:
    """For each output the samples of the first batch."""
    with pipe:
        return [[np.asarray(one) for one in output.to_samples()] for output in pipe.run()]


def padded(samples: Any) -> tuple[np.ndarray, np.ndarray]:
    """The samples in one array, and their sizes; 9 is in the padding."""
    sizes = np.array([one.shape for one in samples], np.int32)
    array = np.full((len(samples), *sizes.max(axis=0)), 9, samples[0].dtype)
    for i, one in enumerate(samples):
        array[(i, *(slice(n) for n in one.shape))] = one
    return array, sizes
