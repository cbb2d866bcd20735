"""Defines the deterministic transforms, which `Compose` applies."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, ClassVar

from jdali.dynamic import Batch
from jdali.dynamic.random import RNG
from jdali.experimental.torchvision.v2 import _arguments as arguments
from jdali.experimental.torchvision.v2 import _kernels as kernels
from jdali.experimental.torchvision.v2._arguments import InterpolationMode


class Transform(abc.ABC):
    """Serves as base of all transforms.

    Args:
        device: device on which the transform runs: "cpu", or "gpu" for JAX's accelerator.
    """

    gives: ClassVar[str | None] = None
    """Kind of data that `Compose` returns after this transform, "tensor" or "pil"; None: the kind does not change."""

    def __init__(self, device: str = "cpu"):
        if device not in ("cpu", "gpu"):
            raise ValueError(f'{type(self).__name__}: device must be "cpu" or "gpu", not {device!r}')
        self.device = device

    def __repr__(self) -> str:
        settings = ", ".join(f"{k}={v!r}" for k, v in vars(self).items() if not k.startswith("_"))
        return f"{type(self).__name__}({settings})"

    def __call__(self, data_input: object) -> Any:
        raise RuntimeError(f"{self!r} is not directly callable. Use it inside of Compose, or v2.functional.")

    @abc.abstractmethod
    def apply(self, batch: Batch, rng: RNG) -> Batch:
        """Transforms images; draws random values from `rng`."""


class Resize(Transform):
    """Resizes images.

    Args:
        size: (height, width), or the length of the shorter edge. The longer edge then follows from the aspect ratio,
            truncated to an integer. None: `max_size` is the longer edge.
        interpolation: NEAREST, BILINEAR, BICUBIC or LANCZOS, of jdali or torchvision, or Pillow's number.
        max_size: limit of the longer edge.
        antialias: whether to apply a low-pass filter when images get smaller.
        device: see `Transform`.
    """

    def __init__(
        self,
        size: int | Sequence[int] | None,
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
        device: str = "cpu",
    ):
        super().__init__(device)
        self.size, self.max_size, self.antialias = size, max_size, antialias
        self.interpolation = interpolation
        self._size, self._kernel = (
            arguments.size_of_resize(size, max_size),
            arguments.interpolation(interpolation),
        )

    def apply(self, batch: Batch, rng: RNG) -> Batch:
        return kernels.resize(batch, self._size, self._kernel, self.max_size, bool(self.antialias))


class CenterCrop(Transform):
    """Cuts out the middle of images; images that are too small get a black border.

    Args:
        size: (height, width), or one number for both.
        device: see `Transform`.
    """

    def __init__(self, size: int | Sequence[int], device: str = "cpu"):
        super().__init__(device)
        self.size = arguments.size_of_crop(size)

    def apply(self, batch: Batch, rng: RNG) -> Batch:
        return kernels.center_crop(batch, self.size)


class Pad(Transform):
    """Adds a border to images.

    Args:
        padding: pixels on all sides; or (left and right, top and bottom); or (left, top, right, bottom).
        fill: value of a constant border, or a value for each channel.
        padding_mode: "constant", "edge" (aaa|abcd|ddd), "reflect" (dcb|abcd|cba) or "symmetric" (cba|abcd|dcb).
        device: see `Transform`.
    """

    def __init__(
        self,
        padding: int | Sequence[int],
        fill: object = 0,
        padding_mode: str = "constant",
        device: str = "cpu",
    ):
        super().__init__(device)
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode
        self._border, self._policy = arguments.padding(padding), arguments.border(padding_mode)
        self._fill = arguments.fill_values(fill)

    def apply(self, batch: Batch, rng: RNG) -> Batch:
        return kernels.pad(batch, self._border, self._policy, self._fill)


class Grayscale(Transform):
    """Makes images gray: 0.299 R + 0.587 G + 0.114 B, rounded.

    Args:
        num_output_channels: 1, or 3 for three equal channels.
        device: see `Transform`.
    """

    def __init__(self, num_output_channels: int = 1, device: str = "cpu"):
        super().__init__(device)
        if num_output_channels not in (1, 3):
            raise ValueError(f"num_output_channels must be 1 or 3, got {num_output_channels}.")
        self.num_output_channels = num_output_channels

    def apply(self, batch: Batch, rng: RNG) -> Batch:
        return kernels.grayscale(batch, self.num_output_channels)


class Normalize(Transform):
    """Computes (image - mean) / std for each channel, in float32.

    Args:
        mean: mean of each channel.
        std: standard deviation of each channel, not 0.
        inplace: must be False, because JAX arrays are immutable; True raises NotImplementedError, as in DALI.
        device: see `Transform`.
    """

    def __init__(self, mean: object, std: object, inplace: bool = False, device: str = "cpu"):
        super().__init__(device)
        if inplace:
            raise NotImplementedError("Normalize: inplace is not supported: JAX's arrays do not change")
        self.mean, self.std, self.inplace = mean, std, inplace
        self._mean, self._std = arguments.channel_values("mean", mean), arguments.channel_values("std", std)

    def apply(self, batch: Batch, rng: RNG) -> Batch:
        return kernels.normalize(batch, self._mean, self._std)


class _Conversion(Transform):
    """Leaves images unchanged. The attribute `gives` tells `Compose` which kind of data to return."""

    def apply(self, batch: Batch, rng: RNG) -> Batch:
        return batch


class PILToTensor(_Conversion):
    """Makes `Compose` return tensors [C, H, W] with unchanged values.

    Args:
        device: see `Transform`.
    """

    gives = "tensor"


class ToPureTensor(PILToTensor):
    """Makes `Compose` return tensors [C, H, W] with unchanged values.

    Args:
        device: see `Transform`.
    """


class ToPILImage(_Conversion):
    """Makes `Compose` return PIL images.

    Args:
        device: see `Transform`.
    """

    gives = "pil"
