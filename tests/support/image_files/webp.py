"""WebP files."""

from __future__ import annotations

import io
import struct

import numpy as np
from PIL import Image

from support.pictures import noise, pillow

_HEIGHT, _WIDTH = 9, 13


def _file(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"WEBP" + b"".join(kind + struct.pack("<I", len(c)) + c + bytes(len(c) % 2) for kind, c in chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _extended(flags: int) -> tuple[bytes, bytes]:
    sides = (struct.pack("<I", side - 1)[:3] for side in (_WIDTH, _HEIGHT))
    return b"VP8X", bytes([flags, 0, 0, 0]) + b"".join(sides)


def _stream(file: bytes) -> bytes:
    return file[20 : 20 + struct.unpack_from("<I", file, 16)[0]]


def files() -> dict[str, bytes]:
    rgb, rgba = noise(_HEIGHT, _WIDTH, 3), noise(_HEIGHT, _WIDTH, 4)
    options = {
        "lossy": {},
        "quality 100": {"quality": 100},
        "fast": {"method": 0},
        "lossless": {"lossless": True},
    }
    options["exact"] = {"lossless": True, "exact": True}
    found = {
        f"{name}, {kind}": pillow(picture, "webp", **one)
        for name, one in options.items()
        for kind, picture in (("RGB", rgb), ("RGBA", rgba), ("gray", rgb[..., 0]))
    }
    plain, clear = found["exact, RGB"], found["exact, RGBA"]
    out = io.BytesIO()
    first = Image.fromarray(rgb)
    first.save(out, "webp", save_all=True, append_images=[Image.fromarray(255 - rgb)], lossless=True)
    found["animation"] = out.getvalue()
    blank = np.zeros((15, 20, 4), np.uint8)
    part = blank.copy()
    part[4:9, 3:9] = 9, 99, 199, 255
    out = io.BytesIO()
    Image.fromarray(part).save(
        out, "webp", save_all=True, append_images=[Image.fromarray(blank)], lossless=True
    )
    return found | {
        "animation of a part": out.getvalue(),
        "bytes behind the end": plain + b"hello",
        "EXIF": pillow(rgb, "webp", lossless=True, exif=b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0"),
        "profile": pillow(rgb, "webp", icc_profile=b"junk" * 10),
        "an unknown chunk": _file(_extended(0), (b"XXXX", b"abc"), (b"VP8L", _stream(plain))),
        "alpha that is not flagged": _file(_extended(0), (b"VP8L", _stream(clear))),
        "a flag for an alpha that is not there": _file(_extended(0x10), (b"VP8L", _stream(plain))),
    }
