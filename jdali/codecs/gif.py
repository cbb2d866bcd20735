"""Decodes the first picture of a GIF file with Pillow."""

from __future__ import annotations

import struct

import numpy as np
from PIL import GifImagePlugin

from jdali.codecs.base import Format, ImageInfo, Request, begins, open_with_pillow
from jdali.codecs.color import gray_15bit
from jdali.types import INDEX


def header(view: memoryview) -> ImageInfo:
    width, height = struct.unpack_from("<HH", view, 6)
    return ImageInfo("gif", height, width, 3, indexed=True)


def decode(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    picture = open_with_pillow(GifImagePlugin.GifImageFile, view, info)
    # Pillow reports the mode "L" if the palette maps each index to the gray of the same value.
    if request.output_type == INDEX and picture.mode in ("P", "L"):
        return np.asarray(picture)[..., None]
    return np.asarray(picture.convert("RGB"))


FORMAT = Format(
    "gif", lambda view: begins(view, b"GIF87a") or begins(view, b"GIF89a"), header, decode, gray_15bit
)
