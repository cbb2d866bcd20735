"""Pipelines that are made by worker processes in tests, and what they give."""

from __future__ import annotations

import contextlib
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
    """Shuffled pictures, random values, a branch, a Python function, and data of an external source.

    The operators are those that take least time to trace, which each worker does.
    """

    @jdali.pipeline_def(
        **{"batch_size": BATCH, "num_threads": 1, "seed": 7, "enable_conditionals": True, **options}
    )
    def define() -> Any:
        encoded, label = fn.readers.file(file_root=folder, random_shuffle=True, name="pictures")
        picture = fn.decoders.image(encoded)
        if function is not None:
            picture = fn.python_function(picture, function=function)
        if fn.random.coin_flip():
            picture = fn.brightness(picture, brightness=fn.random.uniform(range=(0.5, 2.0)))
        else:
            picture = fn.noise.gaussian(picture, stddev=9.0)
        square = fn.crop(picture, crop=(8, 8), crop_pos_x=fn.random.uniform(range=(0.0, 1.0)))
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


def of_shard(folder: str, shard: int, workers: Any) -> list[str]:
    """Six batches of one shard of two: the name of each sample's file, with a sum of its pixels."""

    @jdali.pipeline_def(batch_size=2, num_threads=1, seed=3, workers=workers)
    def define() -> Any:
        encoded, _ = fn.readers.file(
            file_root=folder, random_shuffle=True, shard_id=shard, num_shards=2, stick_to_shard=True, name="reader",
        )  # fmt: skip
        picture = fn.crop(
            fn.decoders.image(encoded), crop=(4, 4), crop_pos_x=fn.random.uniform(range=(0.0, 1.0))
        )
        return encoded.source_info(), picture

    found = []
    with contextlib.closing(define()) as pipe:
        for _ in range(6):
            names, pictures = (output.as_cpu().to_samples() for output in pipe.run())
            for name, picture in zip(names, pictures, strict=True):
                found.append(f"{bytes(name).decode()[-6:]}:{int(picture.astype(np.int64).sum())}")
    return found
