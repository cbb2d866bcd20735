"""Image formats: the record of a header, of a request, and of a format."""

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
    """Header of an encoded image; nothing is decoded for it.

    Attributes:
        format: name of the format, e.g. "jpeg".
        height, width: in pixels, as stored (before `orientation` is applied).
        channels: as stored, palettes looked up (3).
        dtype: of the decoded samples.
        orientation: EXIF orientation, 1 to 8.
        maximum: value of a sample that means full intensity.
        max_denominator: largest denominator the codec can decode at: 8 or 1.
        detail: what the format's own decoder needs of the header.
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
    """Wanted form of a picture; a codec does the parts that it can do at less cost than its caller.

    Attributes:
        output_type: colour space. A codec whose data have it may give gray for GRAY. For INDEX it gives indices into the
            palette, or gray values as they are stored.
        denominator: 1, 2, 4 or 8, at most the `max_denominator` of the image.
        fast_idct: a faster, less exact inverse DCT.
        window: what of the stored picture (at its smaller scale) is looked at; None: all of it. A codec
            may give just that, or the whole picture with anything outside of it.
        turned: the picture will be turned as its EXIF data say.
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
        """Number of rows from the top, as stored and at full size, that are needed."""
        return sys.maxsize if self.window is None else (self.window[0] + self.window[2]) * self.denominator


@dataclasses.dataclass(frozen=True)
class Format:
    """One image format.

    Attributes:
        name: as in `ImageInfo.format`.
        matches: whether data with these first bytes are of the format.
        header: reads the header.
        decode: [H, W, C] of the picture, or of just the window asked for: gray, gray and alpha, RGB, or
            RGB and more channels.
        gray: luminance [H, W] of RGB samples [H, W, 3 or more], rounded as DALI's decoder for this
            format does.
    """

    name: str
    matches: Callable[[memoryview], bool]
    header: Callable[[memoryview], ImageInfo]
    decode: Callable[[memoryview, ImageInfo, Request], np.ndarray]
    gray: Callable[[np.ndarray], np.ndarray]


@functools.cache
def imagecodecs() -> Any:
    """Returns the optional package `imagecodecs`, or None if it is not installed."""
    try:
        module = importlib.import_module("imagecodecs")
    except ImportError:
        return None
    # What libpng and libtiff remark on damaged files is logged; without a handler it would be printed.
    logging.getLogger("imagecodecs").addHandler(logging.NullHandler())
    return module


def need_imagecodecs(what: str) -> Any:
    """Returns the package `imagecodecs`; raises with the command that installs it."""
    module = imagecodecs()
    if module is None:
        raise ImportError(f"{what} needs the package imagecodecs: {install('codecs')}")
    return module


def open_with_pillow(plugin: type[ImageFile.ImageFile], view: memoryview, info: ImageInfo) -> Image.Image:
    """Opens data with one Pillow plugin; Pillow's own size limits and guessing stay out of it.

    A header may hold the size twice: Pillow must allocate only what was checked.
    """
    picture = plugin(io.BytesIO(view))
    if picture.size != (info.width, info.height):
        size = f"{picture.height}x{picture.width} and {info.height}x{info.width}"
        raise corrupt(info.format.upper(), f"its header says two sizes, {size}")
    return picture


def as_stored(picture: Image.Image) -> np.ndarray:
    """Returns the samples of a Pillow image, bits as 0 and 255, without looking up a palette."""
    if picture.mode == "1":
        return np.asarray(picture.convert("L"))
    return np.asarray(picture)


def begins(view: memoryview, magic: bytes, at: int = 0) -> bool:
    """Returns True if `magic` stands at byte `at`."""
    return bytes(view[at : at + len(magic)]) == magic


def with_channels(picture: np.ndarray) -> np.ndarray:
    """Adds a channel axis to [H, W]; leaves [H, W, C] alone."""
    return picture[..., None] if picture.ndim == 2 else picture


def corrupt(name: str, reason: str) -> SampleError:
    """Makes the error for damaged data."""
    return SampleError(f"broken {name} image: {reason}")
