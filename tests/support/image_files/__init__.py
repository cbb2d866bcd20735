"""Small files in every variant of every image format, made by libraries and by hand: `files(kind)`."""

from __future__ import annotations

import functools
import importlib

KINDS = ("jpeg", "png", "bmp", "tiff", "jpeg2000", "webp", "pnm")


@functools.cache
def files(kind: str) -> dict[str, bytes]:
    """Contents by name; each name says what is special."""
    made: dict[str, bytes] = importlib.import_module(f"support.image_files.{kind}").files()
    return made
