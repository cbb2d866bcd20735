"""JPEG 2000 files: depths, signs, colours, boxes."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from support.pictures import noise, pillow

_HEIGHT, _WIDTH = 19, 21
SRGB, GRAY, SYCC, CMYK, E_SYCC = 16, 17, 18, 12, 24


def made(picture: np.ndarray, kind: str = "jp2", **options: object) -> bytes:
    """A file without a loss."""
    imagecodecs = pytest.importorskip("imagecodecs")
    data: bytes = imagecodecs.jpeg2k_encode(picture, level=0, reversible=True, codecformat=kind, **options)
    return data


def with_colours(file: bytes, number: int) -> bytes:
    """With another number of the colours."""
    start = file.index(b"colr") + 7
    return file[:start] + struct.pack(">I", number) + file[start + 4 :]


def with_profile(file: bytes, profile: bytes) -> bytes:
    """With a profile in place of the number of the colours."""
    begin, head = file.index(b"colr") - 4, file.index(b"jp2h") - 4
    (size,) = struct.unpack_from(">I", file, begin)
    (whole,) = struct.unpack_from(">I", file, head)
    box = struct.pack(">I4s3B", len(profile) + 11, b"colr", 2, 0, 0) + profile
    changed = file[:begin] + box + file[begin + size :]
    return changed[:head] + struct.pack(">I", whole + len(box) - size) + changed[head + 4 :]


def files() -> dict[str, bytes]:
    rng = np.random.default_rng(0)
    pictures = {}
    for dtype in ("uint8", "uint16", "int8", "int16"):
        limits = np.iinfo(dtype)
        # Pillow makes 0 of what it would round to 256.
        most = limits.max if limits.bits == 8 else limits.max - 255
        for channels in (1, 2, 3, 4):
            shape = (_HEIGHT, _WIDTH, channels) if channels > 1 else (_HEIGHT, _WIDTH)
            picture = rng.integers(limits.min, most, shape, dtype, endpoint=True)
            pictures[f"{channels} channels of {dtype}"] = picture
    found = {f"{name}, {kind}": made(one, kind) for name, one in pictures.items() for kind in ("jp2", "j2k")}
    for bits in (1, 2, 5, 7, 10, 12, 14):
        samples = rng.integers(0, 1 << bits, (_HEIGHT, _WIDTH, 3)).astype(
            np.uint8 if bits <= 8 else np.uint16
        )
        found[f"{bits} bits"] = made(samples, bitspersample=bits)
    rgb, gray, four = (found[f"{n} channels of uint8, jp2"] for n in (3, 1, 4))
    for number in (0, 1, 11, 14, SRGB, SYCC, 20, 21, E_SYCC, 99):
        found[f"colours {number}"] = with_colours(rgb, number)
    for number in (0, GRAY, 99):
        found[f"gray, colours {number}"] = with_colours(gray, number)
    for name, options in {
        "irreversible": {"irreversible": True}, "tiles": {"tile_size": (16, 16)}, "no mixing": {"mct": 0},
        "two resolutions": {"num_resolutions": 2}, "other order": {"progression": "RPCL"},
        "layers": {"quality_mode": "rates", "quality_layers": [5]}, "lengths of packets": {"plt": True},
    }.items():  # fmt: skip
        found[name] = pillow(noise(_HEIGHT, _WIDTH, 3), "jpeg2000", **options)
    start = rgb.index(b"jp2c")
    profile = bytes(16) + b"CMYK" + bytes(108)
    return found | {
        "CMYK": with_colours(four, CMYK),
        "CMYK of 16 bits": with_colours(found["4 channels of uint16, jp2"], CMYK),
        "CMYK by its profile": with_profile(four, profile),
        "YCbCr by Pillow": with_colours(found["no mixing"], SYCC),
        "damaged profile": with_profile(rgb, b"junk"),
        "bytes behind the end": rgb + b"hello",
        "box without an end": rgb[: start - 4] + bytes(4) + rgb[start:],
        "box of a long size": rgb[: start - 4]
        + struct.pack(">I4sQ", 1, b"jp2c", len(rgb) - start + 12)
        + rgb[start + 4 :],
        "another box": rgb[: start - 4] + struct.pack(">I4s", 12, b"xml ") + b"abcd" + rgb[start - 4 :],
    }
