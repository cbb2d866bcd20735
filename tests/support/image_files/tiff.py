"""TIFF files: photometric interpretations, depths, compressions, strips, tiles and planes."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from PIL import Image

from support.image_files.png import packed
from support.pictures import noise, pillow

HEIGHT, WIDTH = 19, 21
WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE, CMYK, YCBCR, LAB = 0, 1, 2, 3, 5, 6, 8
SIZES, BITS, COMPRESSION, PHOTOMETRIC, ORIENTATION = (256, 257), 258, 259, 262, 274
CHANNELS, ROWS, PLANAR, PREDICTOR, COLORS = 277, 278, 284, 317, 320
TILE_WIDTH, TILE_HEIGHT, EXTRA, FORMAT, SUBSAMPLING = 322, 323, 338, 339, 530
_SHORT, _LONG = 3, 4
_CODES = {_SHORT: "H", _LONG: "I"}
NO_MEANING, ASSOCIATED, UNASSOCIATED = 0, 1, 2


def made(
    pieces: Sequence[bytes], bits: int, photometric: int, channels: int = 1, *, order: str = "<",
    tags: Mapping[int, Iterable[int] | None] = {},
) -> bytes:  # fmt: skip
    """A file of strips, or tiles if `tags` have their size; `tags` are further ones, None leaves one out."""
    tiled = TILE_WIDTH in tags
    values: dict[int, Any] = {
        256: [WIDTH], 257: [HEIGHT], BITS: [bits] * channels, COMPRESSION: [1], PHOTOMETRIC: [photometric],
        CHANNELS: [channels], PLANAR: [1], ROWS: None if tiled else [HEIGHT],
    }  # fmt: skip
    values |= {tag: None if v is None else list(v) for tag, v in tags.items()}
    offsets, sizes = (324, 325) if tiled else (273, 279)
    values |= {offsets: [0] * len(pieces), sizes: [len(piece) for piece in pieces]}
    values = {tag: v for tag, v in values.items() if v is not None}
    kinds = {tag: _LONG if tag in (256, 257, ROWS, offsets, sizes) else _SHORT for tag in values}

    def content(tag: int) -> bytes:
        return struct.pack(f"{order}{len(values[tag])}{_CODES[kinds[tag]]}", *values[tag])

    outside = 8 + 2 + 12 * len(values) + 4
    position = outside + sum(len(content(tag)) for tag in values if len(content(tag)) > 4)
    for i, piece in enumerate(pieces):
        values[offsets][i] = position
        position += len(piece)
    entries, tail = b"", b""
    for tag in sorted(values):
        inline = content(tag)
        if len(inline) > 4:
            inline, tail = struct.pack(order + "I", outside + len(tail)), tail + inline
        entries += struct.pack(order + "HHI", tag, kinds[tag], len(values[tag])) + inline.ljust(4, b"\0")
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "IH", 8, len(values))
    return b"".join([head, entries, bytes(4), tail, *pieces])


def rows(samples: np.ndarray, bits: int) -> bytes:
    """Rows of integers; those of 16 bits little-endian."""
    if bits == 16:
        return samples.astype("<u2").tobytes()
    return b"".join(packed(row.ravel(), bits) for row in samples)


def tiles(samples: np.ndarray, side: int = 16) -> list[bytes]:
    height, width = samples.shape[:2]
    padding = [(0, -height % side), (0, -width % side)] + [(0, 0)] * (samples.ndim - 2)
    whole = np.pad(samples, padding)
    corners = [(y, x) for y in range(0, len(whole), side) for x in range(0, whole.shape[1], side)]
    return [whole[y : y + side, x : x + side].tobytes() for y, x in corners]


def files() -> dict[str, bytes]:
    imagecodecs = pytest.importorskip("imagecodecs")
    rng = np.random.default_rng(0)

    def integers(bits: int, channels: int = 1) -> np.ndarray:
        return rng.integers(0, 1 << bits, (HEIGHT, WIDTH, channels))

    found = {}
    for bits in (1, 2, 4, 8, 10, 12, 14, 16):
        body = rows(integers(bits), bits)
        found[f"black is zero, {bits} bits"] = made([body], bits, BLACK_IS_ZERO)
        found[f"white is zero, {bits} bits"] = made([body], bits, WHITE_IS_ZERO)
        if bits <= 8:
            colors = rng.integers(0, 65536, 3 << bits)
            found[f"palette, {bits} bits"] = made([body], bits, PALETTE, tags={COLORS: colors})
    for bits in (8, 16):
        for name, photometric, channels, extra in (
            ("RGB", RGB, 3, None), ("CMYK", CMYK, 4, None), ("Lab", LAB, 3, None), ("four channels", RGB, 4, None),
            *((f"RGB and extra {e}", RGB, 4, [e]) for e in (NO_MEANING, ASSOCIATED, UNASSOCIATED)),
            *((f"gray and extra {e}", BLACK_IS_ZERO, 2, [e]) for e in (NO_MEANING, ASSOCIATED, UNASSOCIATED)),
        ):  # fmt: skip
            samples = integers(bits, channels)
            tags = {EXTRA: extra}
            kind = f"{name}, {bits} bits"
            found[kind] = made([rows(samples, bits)], bits, photometric, channels, tags=tags)
            if photometric != LAB and channels > 2:
                planes = [rows(samples[..., c], bits) for c in range(channels)]
                found[f"{kind}, planes"] = made(
                    planes, bits, photometric, channels, tags=tags | {PLANAR: [2]}
                )
        big = integers(bits, 3)
        found[f"RGB, {bits} bits, big-endian"] = made(
            [big.astype(f">u{bits // 8}").tobytes()], bits, RGB, 3, order=">"
        )
        packed_rows = imagecodecs.lzw_encode(rows(integers(bits, 3), bits))
        found[f"Lab, {bits} bits, LZW"] = made([packed_rows], bits, LAB, 3, tags={COMPRESSION: [5]})
    found["Lab, planes"] = made([rows(integers(8), 8)] * 3, 8, LAB, 3, tags={PLANAR: [2]})
    both = np.concatenate([integers(8), integers(8)], axis=-1)
    colors = rng.integers(0, 65536, 768)
    found["palette and alpha"] = made(
        [rows(both, 8)], 8, PALETTE, 2, tags={COLORS: colors, EXTRA: [UNASSOCIATED]}
    )
    for x, y in ((1, 1), (2, 1), (2, 2)):
        unit = x * y + 2
        body = noise(-(-HEIGHT // y) * -(-WIDTH // x) * unit, 1, None).tobytes()
        found[f"YCbCr {x}:{y}"] = made([body], 8, YCBCR, 3, tags={SUBSAMPLING: [x, y]})
        if (x, y) == (2, 2):
            found["YCbCr, default"] = made([body], 8, YCBCR, 3)
            found["YCbCr, LZW"] = made([imagecodecs.lzw_encode(body)], 8, YCBCR, 3, tags={COMPRESSION: [5]})
    planes = [rows(integers(8), 8) for _ in range(3)]
    found["YCbCr, planes"] = made(planes, 8, YCBCR, 3, tags={SUBSAMPLING: [1, 1], PLANAR: [2]})
    rgb, gray = noise(HEIGHT, WIDTH, 3), noise(HEIGHT, WIDTH, None)
    for compression in ("packbits", "tiff_lzw", "tiff_deflate", "tiff_adobe_deflate", "jpeg", "lzma"):
        found[f"{compression}, RGB"] = pillow(rgb, "tiff", compression=compression)
        found[f"{compression}, gray"] = pillow(gray, "tiff", compression=compression)
    for compression in ("group3", "group4", "tiff_ccitt"):
        found[f"{compression}"] = pillow(gray > 99, "tiff", compression=compression)
    out = io.BytesIO()
    Image.fromarray(rgb).convert("YCbCr").save(out, "tiff", compression="jpeg")
    found["YCbCr, JPEG"] = out.getvalue()
    deep = noise(HEIGHT, WIDTH, 3, np.uint16)
    for compression in ("none", "lzw", "deflate", "packbits", "zstd"):
        for layout, options in (("", {}), (", tiles", {"tile": (16, 16)}), (", strips", {"rowsperstrip": 4})):
            for name, one in (("RGB", rgb), ("gray", gray), ("RGB of 16 bits", deep)):
                data = imagecodecs.tiff_encode(one, compression=compression, **options)
                found[f"{compression}{layout}, {name}"] = data
        if compression not in ("none", "packbits"):
            for name, one in (("RGB", rgb), ("gray", gray), ("RGB of 16 bits", deep)):
                found[f"{compression}, predictor, {name}"] = imagecodecs.tiff_encode(
                    one, compression=compression, predictor=True
                )
    for name, dtype in (("half", "f2"), ("float", "f4"), ("double", "f8")):
        floats = rng.random((HEIGHT, WIDTH)).astype(dtype)
        found[name] = made([floats.tobytes()], 8 * floats.itemsize, BLACK_IS_ZERO, tags={FORMAT: [3]})
    body = rgb.tobytes()
    cut = imagecodecs.lzw_encode(body)[:-100]
    pages = io.BytesIO()
    Image.fromarray(rgb).save(pages, "tiff", save_all=True, append_images=[Image.fromarray(gray)])
    return found | {
        "BigTIFF": imagecodecs.tiff_encode(rgb, bigtiff=True),
        "two strips": made([body[: 63 * 10], body[63 * 10 :]], 8, RGB, 3, tags={ROWS: [10]}),
        "one strip, no number of rows": made([body], 8, RGB, 3, tags={ROWS: None}),
        "one strip of very many rows": made([body], 8, RGB, 3, tags={ROWS: [2**32 - 1]}),
        "one depth for all": made([body], 8, RGB, 3, tags={BITS: [8]}),
        "no compression": made([body], 8, RGB, 3, tags={COMPRESSION: None}),
        "no planar configuration": made([body], 8, RGB, 3, tags={PLANAR: None}),
        "bits in another order": made([rows(integers(1), 1)], 1, BLACK_IS_ZERO, tags={266: [2]}),
        "tiles by hand": made(tiles(rgb), 8, RGB, 3, tags={TILE_WIDTH: [16], TILE_HEIGHT: [16]}),
        "tiles, planes": made(
            [tile for c in range(3) for tile in tiles(rgb[..., c])], 8, RGB, 3,
            tags={TILE_WIDTH: [16], TILE_HEIGHT: [16], PLANAR: [2]},
        ),
        "older deflate": made([zlib.compress(body)], 8, RGB, 3, tags={COMPRESSION: [32946]}),
        "smallest and largest value": made([gray.tobytes()], 8, BLACK_IS_ZERO, tags={280: [10], 281: [200]}),
        "pages": pages.getvalue(),
        "bytes behind the end": made([body], 8, RGB, 3) + b"hello",
        "LZW, cut": made([cut], 8, RGB, 3, tags={COMPRESSION: [5]}),
        "cut": made([body], 8, RGB, 3)[:-100],
    }  # fmt: skip
