"""Pictures whose sides are no multiples of 32: programs make them in padded memory, which nobody outside may see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jdali import Pipeline, fn

UNIFORM = ((28, 28),) * 3
RAGGED = ((28, 30), (17, 9), (28, 28))


def pictures(sizes: Sequence[tuple[int, int]]) -> list[np.ndarray]:
    """uint8 [H, W, 3] of these sizes."""
    rng = np.random.default_rng(len(set(sizes)))
    return [rng.integers(0, 256, (height, width, 3), np.uint8) for height, width in sizes]


def flipped(sizes: Sequence[tuple[int, int]]) -> list[np.ndarray]:
    """The samples of `flipping`."""
    return [picture[:, ::-1] for picture in pictures(sizes)]


def flipping(
    sizes: Sequence[tuple[int, int]], after: Callable[[Any], Any] = lambda node: node, device: str = "cpu"
) -> Pipeline:
    """A pipeline that gives the pictures flipped by a compiled program, again and again.

    Args:
        sizes: of the samples of a batch.
        after: makes the output of the flipped pictures.
        device: of the program.
    """
    with Pipeline(batch_size=len(sizes), num_threads=1) as pipe:
        images = fn.external_source([pictures(sizes)], cycle=True, layout="HWC")
        pipe.set_outputs(after(fn.flip(images.gpu() if device == "gpu" else images)))
    return pipe
