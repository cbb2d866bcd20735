"""Pipelines that are made by worker processes in tests, and what they give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import jdali
from jdali import fn
from jdali._pipeline import Pipeline
from support.every_reader import digest

COUNT, BATCH = 11, 3
BAD = (2, 7, 8)  # pictures that cannot be decoded, where some are bad


def write_pictures(folder: Path, bad: tuple[int, ...] = ()) -> str:
    """Writes small pictures of two sizes; those of `bad` cannot be decoded."""
    rng = np.random.default_rng(0)
    (folder / "0").mkdir(parents=True)
    for i in range(COUNT):
        path = folder / "0" / f"{i:02}.png"
        Image.fromarray(rng.integers(0, 255, (12 + i % 2, 14, 3), dtype=np.uint8)).save(path)
        if i in bad:
            path.write_bytes(path.read_bytes()[:40])
    return str(folder)


def numbers(number: int) -> Any:
    """A batch of an external source."""
    return np.full((BATCH, 2), number, np.float32)


def pipeline(folder: str, function: Callable[[Any], Any] | None = None, **options: Any) -> Pipeline:
    """Shuffled pictures, random values, a branch, a Python function, and data of an external source."""

    @jdali.pipeline_def(
        **{"batch_size": BATCH, "num_threads": 1, "seed": 7, "enable_conditionals": True, **options}
    )
    def define() -> Any:
        encoded, label = fn.readers.file(file_root=folder, random_shuffle=True, name="pictures")
        picture = fn.decoders.image(encoded)
        if function is not None:
            picture = fn.python_function(picture, function=function)
        if fn.random.coin_flip():
            picture = fn.rotate(picture, angle=fn.random.uniform(range=(-40.0, 40.0)))
        else:
            picture = fn.noise.gaussian(picture, stddev=9.0)
        square = fn.random_resized_crop(picture, size=(8, 8))
        added = fn.python_function(square, function=lambda x: x.astype(np.int64) + 1)
        return picture, square, added, label, fn.external_source(source=numbers) + 1

    pipe: Pipeline = define()
    return pipe


def light_pipeline(folder: str, function: Callable[[Any], Any] | None = None, **options: Any) -> Pipeline:
    """As `pipeline`, with one small program only: a worker that starts is ready for it in a third of the time."""

    @jdali.pipeline_def(**{"batch_size": BATCH, "num_threads": 1, "seed": 7, **options})
    def define() -> Any:
        encoded, label = fn.readers.file(file_root=folder, random_shuffle=True, name="pictures")
        picture = fn.decoders.image(encoded)
        if function is not None:
            picture = fn.python_function(picture, function=function)
        return picture, label, fn.random.uniform(range=(0.0, 1.0)), fn.external_source(source=numbers)

    pipe: Pipeline = define()
    return pipe


def batch(pipe: Pipeline) -> tuple[list[str], list[str], list[Any]]:
    """The next batch: digests of its samples, their types and layouts, and their files."""
    outputs = pipe.run()
    samples = [output.as_cpu().to_samples() for output in outputs]
    return (
        [digest(sample) for sample in zip(*samples, strict=True)],
        [f"{type(o).__name__} {o.dtype} {o.layout()} {o.is_dense_tensor()}" for o in outputs],
        [output.source_info() for output in outputs],
    )
