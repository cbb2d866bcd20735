"""Defines the random transforms; each image of a batch gets its own random values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jdali import dynamic
from jdali.dynamic import Batch
from jdali.dynamic.random import RNG
from jdali.experimental.torchvision.v2 import _arguments as arguments
from jdali.experimental.torchvision.v2 import _kernels as kernels
from jdali.experimental.torchvision.v2._arguments import InterpolationMode
from jdali.experimental.torchvision.v2._transforms import Transform


def coins(batch: Batch, p: float, rng: RNG) -> np.ndarray:
    """Draws a bool for each image, True with probability `p`: [N]."""
    return kernels.uniform(len(batch), (0.0, 1.0), rng) < p


class RandomHorizontalFlip(Transform):
    """Mirrors images from left to right with a probability of `p`.

    Args:
        p: probability, 0 to 1.
        device: see `Transform`.
    """

    def __init__(self, p: float = 0.5, device: str = "cpu"):
        super().__init__(device)
        self.p = arguments.probability(p)

    def apply(self, batch: Batch, rng: RNG) -> Batch:
        return kernels.flip(batch, horizontal=coins(batch, self.p, rng))


class RandomVerticalFlip(RandomHorizontalFlip):
    """Mirrors images from top to bottom with a probability of `p`.

    Args:
        p: probability, 0 to 1.
        device: see `Transform`.
    """

    def apply(self, batch: Batch, rng: RNG) -> Batch:
        return kernels.flip(batch, vertical=coins(batch, self.p, rng))


class RandomGrayscale(Transform):
    """Makes images gray with a probability of `p`; keeps the number of channels.

    Args:
        p: probability, 0 to 1.
        device: see `Transform`.
    """

    def __init__(self, p: float = 0.1, device: str = "cpu"):
        super().__init__(device)
        self.p = arguments.probability(p)

    def apply(self, batch: Batch, rng: RNG) -> Batch:
        gray = kernels.grayscale(batch, kernels.channels(batch))
        return kernels.chosen(batch, gray, coins(batch, self.p, rng))


class GaussianBlur(Transform):
    """Blurs images with a Gaussian window; images are mirrored past their borders.

    Args:
        kernel_size: size of the window in pixels, an odd number or (width, height).
        sigma: sigma of the Gaussian in pixels; for (min, max), a sigma is drawn for each image.
        device: see `Transform`.
        seed: seed of this transform's own generator; with -1, random values come from `Compose`.
    """

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        sigma: float | Sequence[float] = (0.1, 2.0),
        device: str = "cpu",
        seed: int = -1,
    ):
        super().__init__(device)
        self.kernel_size, self.sigma, self.seed = kernel_size, sigma, seed
        self._kernel = arguments.kernel_size(kernel_size)
        self._sigma = arguments.increasing("sigma", sigma, positive=True)
        self._rng = None if seed < 0 else RNG(seed)

    def apply(self, batch: Batch, rng: RNG) -> Batch:
        return kernels.blur(batch, self._kernel, kernels.uniform(len(batch), self._sigma, self._rng or rng))


class ColorJitter(Transform):
    """Changes brightness, contrast, saturation and hue at random.

    Args:
        brightness, contrast, saturation: largest difference of the factor from 1, or the range (min, max) of the factor.
        hue: largest rotation as a share of a full turn, up to 0.5, or the range (min, max).
        device: see `Transform`.

    Parity: as in DALI, contrast scales around the middle of the type's range, and hue is rotated in YIQ. torchvision
    scales around the mean of the image, rotates in HSV, and draws the order of the changes.
    """

    def __init__(
        self,
        brightness: float | Sequence[float] = 0.0,
        contrast: float | Sequence[float] = 0.0,
        saturation: float | Sequence[float] = 0.0,
        hue: float | Sequence[float] = 0.0,
        device: str = "cpu",
    ):
        super().__init__(device)
        self.brightness = arguments.jitter("brightness", brightness)
        self.contrast = arguments.jitter("contrast", contrast)
        self.saturation = arguments.jitter("saturation", saturation)
        self.hue = arguments.hue(hue)

    def apply(self, batch: Batch, rng: RNG) -> Batch:
        turns = (self.hue[0] * 360, self.hue[1] * 360)
        ranges = (self.brightness, self.contrast, self.saturation, turns)
        drawn = [dynamic.as_batch(kernels.uniform(len(batch), ends, rng)) for ends in ranges]
        result = dynamic.color_twist(
            batch, brightness=drawn[0], contrast=drawn[1], saturation=drawn[2], hue=drawn[3]
        )
        return kernels.as_one(result)


class RandomCrop(Transform):
    """Cuts a window out of each image, at a random position.

    Args:
        size: (height, width), or one number for both.
        padding: border that is added to images first, see `Pad`; None adds no border.
        pad_if_needed: whether to pad an image that is smaller than the window. Each side is padded by the whole
            difference in size.
        fill, padding_mode: fill value and mode of all added borders, see `Pad`.
        device: see `Transform`.

    Raises, when it is applied:
        ValueError: an image with its border is smaller than the window.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: object = 0,
        padding_mode: str = "constant",
        device: str = "cpu",
    ):
        super().__init__(device)
        self.size, self.padding, self.pad_if_needed = arguments.size_of_crop(size), padding, pad_if_needed
        self.fill, self.padding_mode = fill, padding_mode
        self._border = arguments.padding(0 if padding is None else padding)
        self._policy, self._fill = arguments.border(padding_mode), arguments.fill_values(fill)

    def apply(self, batch: Batch, rng: RNG) -> Batch:
        left, top, right, bottom = self._border
        wanted, before = np.array(self.size), np.array([top, left])
        have = kernels.sizes(batch) + np.array([top + bottom, left + right])
        if self.pad_if_needed:
            missing = np.maximum(wanted - have, 0)
            before, have = before + missing, have + 2 * missing
        if (have < wanted).any():
            small = have[(have < wanted).any(axis=1)][0]
            raise ValueError(
                f"RandomCrop: required crop size {self.size} is larger than the (padded) input image size "
                f"{tuple(small.tolist())}; set pad_if_needed"
            )
        drawn = np.stack([kernels.uniform(len(batch), (0.0, 1.0), rng) for _ in range(2)], axis=1)
        start = np.minimum((drawn * (have - wanted + 1)).astype(np.int64), have - wanted)
        return kernels.window(batch, start - before, wanted, self._policy, self._fill)


class RandomResizedCrop(Transform):
    """Cuts a window of random area and aspect ratio out of each image, and resizes it.

    Args:
        size: size of the result: (height, width), or one number for both.
        scale: range (min, max) of the window's area, as a share of the image's area.
        ratio: range (min, max) of the window's width / height.
        interpolation, antialias: see `Resize`.
        device: see `Transform`.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
        device: str = "cpu",
    ):
        super().__init__(device)
        self.size = arguments.size_of_crop(size)
        self.scale = arguments.increasing("scale", scale, positive=True)
        self.ratio = arguments.increasing("ratio", ratio, positive=True)
        self.interpolation, self.antialias = interpolation, antialias
        self._kernel = arguments.interpolation(interpolation)

    def apply(self, batch: Batch, rng: RNG) -> Batch:
        result = dynamic.random_resized_crop(
            batch, size=list(self.size), random_area=list(self.scale), random_aspect_ratio=list(self.ratio),
            interp_type=self._kernel, antialias=bool(self.antialias), rng=rng,
        )  # fmt: skip
        return kernels.as_one(result)
