"""Provides the transforms as functions, with the names and arguments of `torchvision.transforms.v2.functional`.

Each function takes a PIL image (mode L, RGB or RGBA) or a tensor [..., C, H, W], and returns the same kind of data. It runs
on `device`: "cpu", or "gpu" for JAX's accelerator.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from jdali import dynamic
from jdali.experimental.torchvision.v2 import _arguments as arguments
from jdali.experimental.torchvision.v2 import _kernels as kernels
from jdali.experimental.torchvision.v2._arguments import InterpolationMode
from jdali.experimental.torchvision.v2._images import Image, Images, to_pil_image, torch

__all__ = [
    "center_crop",
    "crop",
    "gaussian_blur",
    "get_dimensions",
    "get_image_size",
    "get_size",
    "horizontal_flip",
    "normalize",
    "pad",
    "pil_to_tensor",
    "resize",
    "resized_crop",
    "rgb_to_grayscale",
    "to_grayscale",
    "to_pil_image",
    "to_tensor",
    "vertical_flip",
]

_TYPES = {"I": np.int32, "I;16": np.int16, "F": np.float32}  # pixel types by PIL mode; uint8 for other modes


def resize(
    inpt: object,
    size: int | Sequence[int] | None,
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
    device: str = "cpu",
) -> Any:
    """Resizes an image; see `Resize`."""
    kernel, wanted = arguments.interpolation(interpolation), arguments.size_of_resize(size, max_size)
    images = Images.of(inpt, device)
    return images.as_input(kernels.resize(images.batch, wanted, kernel, max_size, bool(antialias)))


def crop(inpt: object, top: float, left: float, height: float, width: float, device: str = "cpu") -> Any:
    """Cuts a window out of an image; pixels outside of the image are black.

    Args:
        top, left, height, width: integers, in pixels. For a PIL image, they may be floats; the window's borders are then
            rounded.
    """
    start, shape = _window(inpt, top, left, height, width)
    images = Images.of(inpt, device)
    return images.as_input(kernels.window(images.batch, start, shape))


def resized_crop(
    inpt: object,
    top: float,
    left: float,
    height: float,
    width: float,
    size: int | Sequence[int],
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    antialias: bool = True,
    device: str = "cpu",
) -> Any:
    """Cuts a window out of an image and resizes it; see `crop` and `Resize`."""
    start, shape = _window(inpt, top, left, height, width)
    kernel, wanted = arguments.interpolation(interpolation), arguments.size_of_resize(size, None)
    images = Images.of(inpt, device)
    batch = kernels.window(images.batch, start, shape)
    return images.as_input(kernels.resize(batch, wanted, kernel, None, antialias))


def _window(inpt: object, *box: float) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(inpt, Image.Image):
        top, left, height, width = box
        first = np.array([round(top), round(left)])
        shape = np.array([round(top + height), round(left + width)]) - first
    else:
        top, left, height, width = (operator.index(value) for value in box)  # type: ignore[arg-type]
        first, shape = np.array([top, left]), np.array([height, width])
    if (shape <= 0).any():
        raise ValueError(f"height and width must be positive, got {shape.tolist()}")
    return first, shape


def center_crop(inpt: object, output_size: int | Sequence[int], device: str = "cpu") -> Any:
    """Cuts out the middle of an image; see `CenterCrop`."""
    size = arguments.size_of_crop(output_size)
    images = Images.of(inpt, device)
    return images.as_input(kernels.center_crop(images.batch, size))


def pad(
    inpt: object,
    padding: int | Sequence[int],
    fill: object = 0,
    padding_mode: str = "constant",
    device: str = "cpu",
) -> Any:
    """Adds a border to an image; see `Pad`."""
    border, policy = arguments.padding(padding), arguments.border(padding_mode)
    images = Images.of(inpt, device)
    return images.as_input(kernels.pad(images.batch, border, policy, arguments.fill_values(fill)))


def horizontal_flip(inpt: object, device: str = "cpu") -> Any:
    """Mirrors an image from left to right."""
    images = Images.of(inpt, device)
    return images.as_input(kernels.flip(images.batch, horizontal=1))


def vertical_flip(inpt: object, device: str = "cpu") -> Any:
    """Mirrors an image from top to bottom."""
    images = Images.of(inpt, device)
    return images.as_input(kernels.flip(images.batch, vertical=1))


def gaussian_blur(
    inpt: object,
    kernel_size: int | Sequence[int],
    sigma: float | Sequence[float] = (0.1, 2.0),
    device: str = "cpu",
) -> Any:
    """Blurs an image; see `GaussianBlur`. If `sigma` is a range, a value is drawn from the range, as in DALI."""
    kernel, ends = arguments.kernel_size(kernel_size), arguments.increasing("sigma", sigma, positive=True)
    images = Images.of(inpt, device)
    sigmas = kernels.uniform(len(images.batch), ends)
    return images.as_input(kernels.blur(images.batch, kernel, sigmas))


def normalize(
    input_data: object, mean: object, std: object, inplace: bool = False, device: str = "cpu"
) -> Any:
    """Computes (tensor - mean) / std for each channel, in float32; see `Normalize`.

    Raises:
        TypeError: `input_data` is not a tensor.
        NotImplementedError: `inplace` is True, which DALI does not support either.
    """
    if inplace:
        raise NotImplementedError("normalize: inplace is not supported: JAX's arrays do not change")
    means, stds = arguments.channel_values("mean", mean), arguments.channel_values("std", std)
    if not isinstance(input_data, torch.Tensor):
        raise TypeError(f"Data should be Tensor. Got {type(input_data)}")
    images = Images.of(input_data, device)
    return images.as_input(kernels.normalize(images.batch, means, stds))


def to_grayscale(inpt: object, num_output_channels: int = 1, device: str = "cpu") -> Any:
    """Computes the luma of an image; see `Grayscale`."""
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels must be 1 or 3, got {num_output_channels}.")
    images = Images.of(inpt, device)
    return images.as_input(kernels.grayscale(images.batch, num_output_channels))


def rgb_to_grayscale(inpt: object, num_output_channels: int = 1, device: str = "cpu") -> Any:
    """Computes the luma of an image, as `to_grayscale` does."""
    return to_grayscale(inpt, num_output_channels, device)


def pil_to_tensor(inpt: object) -> Any:
    """Converts a PIL image to a tensor [C, H, W] with unchanged values; images of mode 1 get the values 0 and 255.

    Raises:
        TypeError: `inpt` is not a PIL image.
    """
    if not isinstance(inpt, Image.Image):
        raise TypeError(f"Expected PIL.Image, got {type(inpt)}")
    array = np.array(inpt, _TYPES.get(inpt.mode, np.uint8))
    if inpt.mode == "1":
        array = array * np.uint8(255)
    return torch.from_numpy(np.atleast_3d(array)).permute(2, 0, 1).contiguous()


def to_tensor(inpt: object) -> Any:
    """Converts a PIL image or an array [H, W] or [H, W, C] to a tensor [C, H, W]; uint8 becomes float32 from 0 to 1.

    Raises:
        TypeError: `inpt` is neither a PIL image nor an array.
    """
    if isinstance(inpt, np.ndarray):
        if inpt.ndim not in (2, 3):
            raise ValueError(f"the array should be 2- or 3-dimensional, got {inpt.ndim} dimensions")
        tensor = torch.from_numpy(np.ascontiguousarray(np.atleast_3d(inpt).transpose(2, 0, 1)))
    elif isinstance(inpt, Image.Image):
        tensor = pil_to_tensor(inpt)
    else:
        raise TypeError(f"Expected PIL.Image or array, got {type(inpt)}")
    return tensor.float().div(255) if tensor.dtype == torch.uint8 else tensor


def get_size(inpt: object) -> list[int]:
    """Returns [height, width] of an image."""
    return get_dimensions(inpt)[1:]


def get_image_size(inpt: object) -> list[int]:
    """Returns [width, height] of an image."""
    return get_size(inpt)[::-1]


def get_dimensions(inpt: object) -> list[int]:
    """Returns [channels, height, width] of a PIL image, a tensor [..., C, H, W] or a tensor [H, W].

    Raises:
        TypeError: `inpt` is none of these types.
    """
    if isinstance(inpt, Image.Image):
        return [len(inpt.getbands()), inpt.height, inpt.width]
    if not isinstance(inpt, (torch.Tensor, dynamic.Tensor)):
        raise TypeError(f"Unsupported input type: {type(inpt)}.")
    if inpt.ndim < 2:
        raise TypeError(f"an image has at least 2 dimensions, got {inpt.ndim}")
    return [1, *inpt.shape] if inpt.ndim == 2 else list(inpt.shape[-3:])
