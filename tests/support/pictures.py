"""Small encoded images of every format, made on the spot."""

from __future__ import annotations

import importlib.util
import io
import struct
import zlib
from typing import Any

import numpy as np
from PIL import Image, features

# Older versions of Pillow do not know the word.
HAS_AVIF = importlib.util.find_spec("PIL.AvifImagePlugin") is not None and features.check("avif")
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_COLOR = {1: 0, 2: 4, 3: 2, 4: 6}
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def pillow(array: np.ndarray, kind: str, **options: Any) -> bytes:
    """`array` encoded by Pillow."""
    out = io.BytesIO()
    Image.fromarray(array).save(out, kind, **options)
    return out.getvalue()


def cmyk(array: np.ndarray, kind: str, **options: Any) -> bytes:
    """uint8 [H, W, 4], how much ink, encoded by Pillow."""
    out = io.BytesIO()
    Image.frombytes("CMYK", array.shape[1::-1], array.tobytes()).save(out, kind, **options)
    return out.getvalue()


def exif(orientation: int, order: str = "<") -> bytes:
    """A block of EXIF data that holds an orientation only."""
    head = b"II*\0" if order == "<" else b"MM\0*"
    return head + struct.pack(order + "IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0)


def jpeg_with_exif(jpeg: bytes, block: bytes) -> bytes:
    body = b"Exif\0\0" + block
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + jpeg[2:]


def png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(
    array: np.ndarray, *, interlaced: bool = False, extra: bytes = b"", color: int | None = None
) -> bytes:
    """[H, W, C] of uint8 or uint16 as PNG, without filters; `extra` chunks stand before the data."""
    height, width, channels = array.shape
    depth = 8 * array.dtype.itemsize
    samples = array.astype(array.dtype.newbyteorder(">"))
    parts = [samples[y::dy, x::dx] for x, y, dx, dy in _PASSES] if interlaced else [samples]
    rows = b"".join(b"\0" + row.tobytes() for part in parts if part.size for row in part)
    kind = _PNG_COLOR[channels] if color is None else color
    head = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, int(interlaced))
    chunks = [
        png_chunk(b"IHDR", head),
        extra,
        png_chunk(b"IDAT", zlib.compress(rows)),
        png_chunk(b"IEND", b""),
    ]
    return PNG_SIGNATURE + b"".join(chunks)


def noise(
    height: int, width: int, channels: int | None, dtype: object = np.uint8, seed: int = 0
) -> np.ndarray:
    """Random samples over the whole range of `dtype`."""
    shape = (height, width) if channels is None else (height, width, channels)
    rng = np.random.default_rng(seed)
    return rng.integers(0, np.iinfo(dtype).max, shape, np.dtype(dtype), endpoint=True)
