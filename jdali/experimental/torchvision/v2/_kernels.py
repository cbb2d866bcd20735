"""Implements the transforms on batches of images, HWC or CHW; classes and functions share these kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jdali import dynamic, types
from jdali.dynamic import Batch, Tensor


def as_one(result: Tensor | Batch) -> Batch:
    """Returns the result of an operator on a batch, with the static type `Batch`."""
    assert isinstance(result, Batch)
    return result


def sizes(batch: Batch) -> np.ndarray:
    """Returns (height, width) of each image, int64 [N, 2]."""
    axes = [_axis(batch, "H"), _axis(batch, "W")]
    return np.array([[shape[axis] for axis in axes] for shape in batch.shape], np.int64).reshape(-1, 2)


def _axis(batch: Batch, name: str) -> int:
    return (batch.layout or "").index(name)


def channels(batch: Batch) -> int:
    """Returns the number of channels, which is equal for all images."""
    return int(batch.shape[0][_axis(batch, "C")])


def resized_sizes(originals: np.ndarray, size: tuple[int, ...] | None, max_size: int | None) -> np.ndarray:
    """Computes the sizes of torchvision's Resize. An edge that is computed from the other edge is truncated to an integer.

    Args:
        originals: int64 [N, 2], (height, width).
        size, max_size: see `Resize`.
    """
    if size is not None and len(size) == 2:
        return np.broadcast_to(np.array(size, np.int64), originals.shape)
    short, long = originals.min(axis=1), originals.max(axis=1)
    if size is None:
        new_short, new_long = max_size * short // long, np.full_like(long, max_size)
    else:
        new_short, new_long = np.full_like(short, size[0]), size[0] * long // short
        if max_size is not None:
            over = new_long > max_size
            new_short = np.where(over, max_size * new_short // new_long, new_short)
            new_long = np.where(over, max_size, new_long)
    flat = originals[:, 0] <= originals[:, 1]
    found = np.where(flat[:, None], np.stack([new_short, new_long], 1), np.stack([new_long, new_short], 1))
    return np.maximum(found, 1)


def resize(
    batch: Batch,
    size: tuple[int, ...] | None,
    kernel: types.DALIInterpType,
    max_size: int | None,
    antialias: bool,
) -> Batch:
    wanted = resized_sizes(sizes(batch), size, max_size).astype(np.float32)
    result = dynamic.resize(batch, size=_argument(wanted), interp_type=kernel, antialias=bool(antialias))
    return as_one(result)


def window(
    batch: Batch, start: np.ndarray, shape: np.ndarray, policy: Any = "pad", fill: Sequence[float] = (0.0,)
) -> Batch:
    """Cuts a window out of each image.

    Args:
        start, shape: start and size of the window along (height, width), int [N, 2], or [2] for all images.
        policy, fill: `out_of_bounds_policy` and `fill_values` of `slice`.
    """
    count = (len(batch), 2)
    result = dynamic.slice(
        batch,
        start=_argument(np.broadcast_to(start, count).astype(np.int32)),
        shape=_argument(np.broadcast_to(shape, count).astype(np.int32)),
        axis_names="HW", out_of_bounds_policy=policy, fill_values=fill,
    )  # fmt: skip
    return as_one(result)


def pad(batch: Batch, border: tuple[int, int, int, int], policy: str, fill: Sequence[float]) -> Batch:
    """Adds a border of (left, top, right, bottom) pixels to images."""
    left, top, right, bottom = border
    return window(
        batch, np.array([-top, -left]), sizes(batch) + np.array([top + bottom, left + right]), policy, fill
    )


def center_crop(batch: Batch, size: tuple[int, int]) -> Batch:
    """Cuts out the middle of images; images that are too small get a black border."""
    free = sizes(batch) - np.array(size)
    # As in torchvision, an odd border is larger on the right and at the bottom, and the start of a cut is rounded half to even.
    start = np.where(free < 0, -((-free) // 2), np.round(free / 2).astype(np.int64))
    return window(batch, start, np.array(size))


def flip(batch: Batch, horizontal: object = 0, vertical: object = 0) -> Batch:
    """Mirrors images; `horizontal` and `vertical` are a bool for all images, or bool [N]."""
    result = dynamic.flip(batch, horizontal=_flags(horizontal), vertical=_flags(vertical))
    return as_one(result)


def grayscale(batch: Batch, count: int) -> Batch:
    """Computes the luma of RGB images; repeats it in `count` channels.

    Raises:
        ValueError: the images have neither one nor three channels.
    """
    have = channels(batch)
    if have not in (1, 3):
        raise ValueError(f"Input images should have 1 or 3 channels, got {have}")
    gray = batch if have == 1 else _luma(batch)
    result = gray if count == 1 else dynamic.cat(*[gray] * count, axis_name="C")
    return as_one(result)


def _luma(batch: Batch) -> Batch:
    result: Tensor | Batch
    if batch.dtype == dynamic.uint8:
        result = dynamic.color_space_conversion(batch, image_type=types.RGB, output_type=types.GRAY)
    else:  # color_space_conversion accepts only uint8
        gray = dynamic.hsv(batch, saturation=0.0, dtype=batch.dtype)
        result = dynamic.slice(gray, start=[0], shape=[1], axis_names="C")
    return as_one(result)


def normalize(batch: Batch, mean: np.ndarray, std: np.ndarray) -> Batch:
    """Computes (image - mean) / std for each channel, in float32."""
    shape = [1, 1, 1]
    shape[_axis(batch, "C")] = -1
    result = dynamic.normalize(batch, axis_names="HW", mean=mean.reshape(shape), stddev=std.reshape(shape))
    return as_one(result)


def blur(batch: Batch, kernel: tuple[int, int], sigma: np.ndarray) -> Batch:
    """Blurs images with a Gaussian window of (width, height) pixels; `sigma` has a value for each image, [N]."""
    width, height = kernel
    result = dynamic.gaussian_blur(batch, window_size=[height, width], sigma=_argument(sigma))
    return as_one(result)


def chosen(batch: Batch, other: Batch, flags: np.ndarray) -> Batch:
    """Takes an image from `other` where `flags`, bool [N], is True, and from `batch` where it is False."""
    if flags.all():
        return other
    if not flags.any():
        return batch
    made: Batch = dynamic.batch([(other if flag else batch).tensors[i] for i, flag in enumerate(flags)])
    return made


def uniform(count: int, ends: tuple[float, float], rng: dynamic.random.RNG | None = None) -> np.ndarray:
    """Draws a number between `ends` for each image, float32 [N]; draws nothing if both ends are equal."""
    if ends[0] == ends[1]:
        return np.full(count, ends[0], np.float32)
    return np.asarray(dynamic.random.uniform(batch_size=count, range=list(ends), rng=rng))


def _flags(value: Any) -> Any:
    return _argument(np.asarray(value, np.int32)) if np.ndim(value) else int(value)


def _argument(values: np.ndarray) -> Any:
    """Makes an argument with a value for each image. Equal values become a constant, for a smaller program."""
    if len(values) and (values == values[:1]).all():
        return values[0].tolist()
    return dynamic.as_batch(values)
