"""Defines the records of image formats: headers, requests and formats."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import io
import logging
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image, ImageFile

from jdali._errors import SampleError
from jdali._system.extras import install
from jdali.codecs.exif import Window
from jdali.types import RGB, DALIImageType

UINT8: np.dtype = np.dtype(np.uint8)
UINT16: np.dtype = np.dtype(np.uint16)


@dataclasses.dataclass(frozen=True, slots=True)
class ImageInfo:
    """The header of an encoded image.

    Attributes:
        format: name of the format, e.g. "jpeg".
        height, width: stored size in pixels, before `orientation` is applied.
        channels: stored channels; 3 for a palette.
        dtype: type of the decoded samples.
        orientation: EXIF orientation, 1 to 8.
        maximum: sample value of full intensity.
        max_denominator: 8 if the codec can decode at 1/2, 1/4 and 1/8 of the size; otherwise 1.
        detail: header fields that the format's own decoder needs.
        indexed: pixels are stored as indices into a palette.
    """

    format: str
    height: int
    width: int
    channels: int
    dtype: np.dtype = UINT8
    orientation: int = 1
    maximum: float = 255
    max_denominator: int = 1
    detail: Any = None
    indexed: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """Describes the requested form of a picture. A codec does only what saves work; its caller does the rest.

    Attributes:
        output_type: colour space. For GRAY, a codec may return gray if its data contain the luminance. For INDEX, it returns
            indices into the palette, or stored gray values.
        denominator: 1, 2, 4 or 8, at most the `max_denominator` of the image.
        fast_idct: use a faster, less exact inverse DCT.
        window: the needed part of the stored picture, at the scale of `denominator`; None: all of it. A codec returns
            just this part, or the whole picture, whose values outside the window are unspecified.
        turned: the picture will be rotated as its EXIF data say.
        out: contiguous uint8 [H, W, C] to decode into, if the codec can; None with a `window`.
    """

    output_type: DALIImageType = RGB
    denominator: int = 1
    fast_idct: bool = False
    window: Window | None = None
    turned: bool = False
    out: np.ndarray | None = None

    @property
    def rows(self) -> int:
        """Number of rows from the top of the stored picture to the end of the window, at full size."""
        return sys.maxsize if self.window is None else (self.window[0] + self.window[2]) * self.denominator


@dataclasses.dataclass(frozen=True)
class Format:
    """One image format.

    Attributes:
        matches: returns whether data are of this format, by their first bytes.
        header: reads the header.
        decode: returns the picture or only the requested window, [H, W, C]: gray, gray and alpha, RGB, or RGB
            and more channels.
        gray: returns the luminance [H, W] of RGB samples [H, W, 3 or more], with the rounding of DALI's decoder for
            this format.
    """

    name: str
    matches: Callable[[memoryview], bool]
    header: Callable[[memoryview], ImageInfo]
    decode: Callable[[memoryview, ImageInfo, Request], np.ndarray]
    gray: Callable[[np.ndarray], np.ndarray]


@functools.cache
def imagecodecs() -> Any:
    try:
        module = importlib.import_module("imagecodecs")
    except ImportError:
        return None
    # Without a handler, messages of libpng and libtiff about damaged files would be printed.
    logging.getLogger("imagecodecs").addHandler(logging.NullHandler())
    return module


def need_imagecodecs(what: str) -> Any:
    """Returns `imagecodecs`; raises ImportError with the command that installs it."""
    module = imagecodecs()
    if module is None:
        raise ImportError(f"{what} needs the package imagecodecs: {install('codecs')}")
    return module


def open_with_pillow(plugin: type[ImageFile.ImageFile], view: memoryview, info: ImageInfo) -> Image.Image:
    """Opens data with one Pillow plugin, without Pillow's size limits and format detection.

    Raises:
        SampleError: the size that Pillow reads from the header differs from the checked size in `info`.
    """
    picture = plugin(io.BytesIO(view))
    if picture.size != (info.width, info.height):
        size = f"{picture.height}x{picture.width} and {info.height}x{info.width}"
        raise corrupt(info.format.upper(), f"its header says two sizes, {size}")
    return picture


def as_stored(picture: Image.Image) -> np.ndarray:
    """Returns the samples of a Pillow image: 0 and 255 for bits, and indices for palettes."""
    if picture.mode == "1":
        return np.asarray(picture.convert("L"))
    return np.asarray(picture)


def begins(view: memoryview, magic: bytes, at: int = 0) -> bool:
    return bytes(view[at : at + len(magic)]) == magic


def with_channels(picture: np.ndarray) -> np.ndarray:
    """Adds a channel axis to [H, W]; returns [H, W, C] unchanged."""
    return picture[..., None] if picture.ndim == 2 else picture


def corrupt(name: str, reason: str) -> SampleError:
    return SampleError(f"broken {name} image: {reason}")
