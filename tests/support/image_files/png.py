"""PNG files of every depth and kind, and with odd chunks."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
from PIL import Image

from support.pictures import PNG_SIGNATURE, noise, png_chunk

_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
_GRAY, _RGB, _PALETTE, _GRAY_ALPHA, _RGBA = 0, 2, 3, 4, 6
_CHANNELS = {_GRAY: 1, _RGB: 3, _PALETTE: 1, _GRAY_ALPHA: 2, _RGBA: 4}
_DEPTHS = {
    _GRAY: (1, 2, 4, 8, 16), _PALETTE: (1, 2, 4, 8), _RGB: (8, 16), _GRAY_ALPHA: (8, 16), _RGBA: (8, 16),
}  # fmt: skip
HEIGHT, WIDTH = 9, 13


def made(
    samples: np.ndarray, depth: int, color: int, *, interlaced: bool = False, extra: bytes = b"", behind: bytes = b"",
    parts: int = 1, end: bytes = png_chunk(b"IEND", b""), more: bytes = b"",
) -> bytes:  # fmt: skip
    """A file of integers [H, W, C]; `extra` chunks stand before the data, `behind` after it, `more` rows in it."""
    passes = [samples[y::dy, x::dx] for x, y, dx, dy in _PASSES] if interlaced else [samples]
    rows = b"".join(b"\0" + packed(row.ravel(), depth) for one in passes if one.size for row in one)
    height, width = samples.shape[:2]
    stream = zlib.compress(rows + more)
    step = -(-len(stream) // parts)
    data = b"".join(png_chunk(b"IDAT", stream[i : i + step]) for i in range(0, len(stream), step))
    head = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, int(interlaced))
    return PNG_SIGNATURE + png_chunk(b"IHDR", head) + extra + data + behind + end


def packed(values: np.ndarray, bits: int) -> bytes:
    """Integers of some bits, the first in the highest ones; filled up to a whole byte."""
    if bits % 8 == 0:
        return values.astype(f">u{bits // 8}").tobytes()
    each = values.astype(np.uint64)[:, None] >> np.arange(bits - 1, -1, -1, dtype=np.uint64) & np.uint64(1)
    return np.packbits(each.astype(np.uint8)).tobytes()


def files() -> dict[str, bytes]:
    rng = np.random.default_rng(0)
    found = {}
    for interlaced in (False, True):
        kind = "interlaced, " if interlaced else ""
        for color, depths in _DEPTHS.items():
            for depth in depths:
                most = min(1 << depth, 200) if color == _PALETTE else 1 << depth
                samples = rng.integers(0, most, (HEIGHT, WIDTH, _CHANNELS[color]))
                palette = png_chunk(b"PLTE", noise(most, 3, None).tobytes()) if color == _PALETTE else b""
                name = f"{kind}{depth} bits, colour type {color}"
                found[name] = made(samples, depth, color, interlaced=interlaced, extra=palette)
                clear = b"\0\x63" if palette else struct.pack(f">{_CHANNELS[color]}H", *samples[0, 0])
                if color in (_GRAY, _RGB, _PALETTE):
                    extra = palette + png_chunk(b"tRNS", clear)
                    found[f"{name}, tRNS"] = made(samples, depth, color, interlaced=interlaced, extra=extra)
        few = png_chunk(b"PLTE", noise(9, 3, None).tobytes())
        samples = rng.integers(0, 16, (HEIGHT, WIDTH, 1))
        found[f"{kind}index past the palette"] = made(samples, 4, _PALETTE, interlaced=interlaced, extra=few)
        rgb = noise(HEIGHT, WIDTH, 3)
        for name, extra in _odd_chunks().items():
            found[f"{kind}{name}"] = made(rgb, 8, _RGB, interlaced=interlaced, extra=extra)
        for depth in (8, 16):
            samples = rng.integers(0, 1 << depth, (HEIGHT, WIDTH, 3))
            kinds = f"{kind}{depth} bits, "
            found[f"{kinds}many parts"] = made(samples, depth, _RGB, interlaced=interlaced, parts=20)
            found[f"{kinds}more rows"] = made(samples, depth, _RGB, interlaced=interlaced, more=bytes(500))
            found[f"{kinds}bytes behind the end"] = (
                made(samples, depth, _RGB, interlaced=interlaced) + b"hello"
            )
            found[f"{kinds}text behind the data"] = made(
                samples, depth, _RGB, interlaced=interlaced, behind=png_chunk(b"tEXt", b"a\0b")
            )
    found["one pixel, interlaced"] = made(noise(1, 1, 3), 8, _RGB, interlaced=True)
    found["no IEND"] = made(rgb, 8, _RGB, end=b"")
    found["IEND without a checksum"] = made(rgb, 8, _RGB, end=struct.pack(">I4s", 0, b"IEND"))
    found["IEND with a wrong checksum"] = made(rgb, 8, _RGB, end=struct.pack(">I4sI", 0, b"IEND", 5))
    data = found["IEND with a wrong checksum"]
    start = data.index(b"IDAT")
    (size,) = struct.unpack_from(">I", data, start - 4)
    body, tail = data[start + 4 : start + 4 + size], data[start + 8 + size :]
    found["data with a wrong checksum"] = data[: start + 4] + body + bytes(4) + tail
    found["data without the checksum of the stream"] = (
        data[: start - 4] + png_chunk(b"IDAT", body[:-4]) + tail
    )
    found["an empty part of the data"] = data[: start - 4] + png_chunk(b"IDAT", b"") + data[start - 4 :]
    found["no palette"] = made(noise(HEIGHT, WIDTH, 1), 8, _PALETTE)
    found["a palette of ten bytes"] = made(
        samples[..., :1] % 3, 8, _PALETTE, extra=png_chunk(b"PLTE", bytes(10))
    )
    found["the palette behind the data"] = made(
        samples[..., :1] % 3, 8, _PALETTE, behind=png_chunk(b"PLTE", bytes(9))
    )
    out = io.BytesIO()
    first, second = Image.fromarray(rgb), Image.fromarray(255 - rgb)
    first.save(out, "png", save_all=True, append_images=[second])
    return found | {"animation": out.getvalue()}


def _odd_chunks() -> dict[str, bytes]:
    chunks = {
        "gAMA": struct.pack(">I", 45455), "sRGB": b"\0", "iCCP": b"x\0\0junk", "tEXt": b"a\0b", "sBIT": b"\5\6\5",
        "bKGD": bytes(6), "tIME": b"", "pHYs": bytes(9), "eXIf": b"junk", "cHRM": bytes(32), "hIST": bytes(2),
        "PLTE": bytes(6), "acTL": struct.pack(">II", 1, 0),
    }  # fmt: skip
    wrong = {
        f"{name}, wrong checksum": struct.pack(">I4s", 3, name.encode()) + b"a\0b" + bytes(4)
        for name in ("prVt", "tEXt")
    }
    return {name: png_chunk(name.encode(), body) for name, body in chunks.items()} | wrong
