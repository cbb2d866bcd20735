"""BMP files with every header, depth, mask and run."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from support.image_files.png import packed
from support.pictures import noise

HEIGHT, WIDTH = 9, 13
HEADERS = (12, 40, 52, 56, 64, 108, 124)
_FIELDS, _RUNS_8, _RUNS_4 = 3, 1, 2
MASKS = {
    "5:6:5": (16, (0xF800, 0x7E0, 0x1F)),
    "5:5:5": (16, (0x7C00, 0x3E0, 0x1F)),
    "5:5:5 and alpha": (16, (0x7C00, 0x3E0, 0x1F, 0x8000)),
    "BGRX": (32, (0xFF0000, 0xFF00, 0xFF)),
    "XBGR": (32, (0xFF000000, 0xFF0000, 0xFF00)),
    "RGBX": (32, (0xFF, 0xFF00, 0xFF0000)),
    "10:10:10": (32, (0x3FF00000, 0xFFC00, 0x3FF)),
    "BGRA": (32, (0xFF0000, 0xFF00, 0xFF, 0xFF000000)),
    "RGBA": (32, (0xFF, 0xFF00, 0xFF0000, 0xFF000000)),
}


def made(
    bits: int, pixels: bytes, palette: bytes = b"", *, header: int = 40, compression: int = 0,
    masks: Sequence[int] = (), colors: int = 0, top_down: bool = False, gap: bytes = b"", start: int | None = None,
) -> bytes:  # fmt: skip
    """A file of rows, or of runs."""
    if header == 12:
        head = struct.pack("<IHHHH", 12, WIDTH, HEIGHT, 1, bits)
    else:
        height = -HEIGHT if top_down else HEIGHT
        head = struct.pack(
            "<IiiHHIIiiII", header, WIDTH, height, 1, bits, compression, len(pixels), 0, 0, colors, 0
        )
        fields = struct.pack(f"<{len(masks)}I", *masks)
        head = (head + fields).ljust(header, b"\0") if header > 40 else head + fields
    begin = 14 + len(head) + len(palette) + len(gap)
    names = struct.pack("<2sIHHI", b"BM", begin + len(pixels), 0, 0, begin if start is None else start)
    return names + head + palette + gap + pixels


def rows(samples: np.ndarray, bits: int) -> bytes:
    """Rows of samples [H, W] of up to 8 bits, or of bytes [H, W, bytes]; filled up to 4 bytes."""
    lines = [packed(row, bits) if bits < 8 else row.tobytes() for row in samples]
    return b"".join(line + bytes(-len(line) % 4) for line in lines)


def palette(count: int, entry: int = 4) -> bytes:
    return noise(count, entry, None, seed=1).tobytes()


def runs(samples: np.ndarray, bits: int = 8, absolute: bool = False) -> bytes:
    """Each row as runs of one pixel, or as it is; with an end of row."""
    out = b""
    for row in samples:
        if absolute:
            body = packed(row, bits)
            out += bytes([0, len(row)]) + body + bytes(len(body) % 2)
        else:
            out += b"".join(bytes([1, int(one) << (8 - bits)]) for one in row)
        out += b"\0\0"
    return out


def files() -> dict[str, bytes]:
    found = {}
    for bits in (1, 4, 8, 16, 24, 32):
        count = 1 << bits if bits <= 8 else 0
        samples = noise(HEIGHT, WIDTH, max(bits // 8, 1))
        body = rows(samples[..., 0] & (count - 1) if count else samples, bits)
        colors = palette(count)
        for header in HEADERS:
            entries = palette(count, 3) if header == 12 else colors
            found[f"{bits} bits, header of {header}"] = made(bits, body, entries, header=header)
        fill = -((WIDTH * bits + 7) // 8) % 4
        name = f"{bits} bits, "
        found[f"{name}no fill"] = made(bits, body[: len(body) - fill], colors)
        found[f"{name}cut"] = made(bits, body[: len(body) - fill - 1], colors)
        found[f"{name}top down"] = made(bits, body, colors, top_down=True)
        found[f"{name}gap"] = made(bits, body, colors, gap=bytes(10))
        found[f"{name}bytes behind the end"] = made(bits, body + b"hello", colors)
        found[f"{name}no start"] = made(bits, body, colors, start=0)
        if count:
            gray = bytes(v for n in range(count) for v in (*[n * 255 // (count - 1)] * 3, 0))
            found[f"{name}gray palette"] = made(bits, body, gray)
            found[f"{name}two colours"] = made(bits, rows(samples[..., 0] % 2, bits), palette(2), colors=2)
            found[f"{name}index past the palette"] = made(bits, body, palette(2), colors=2)
    for name, (bits, masks) in MASKS.items():
        body = rows(noise(HEIGHT, WIDTH, bits // 8), bits)
        for header in (40, 52, 56, 108, 124):
            if len(masks) == 3 or header >= 56:
                found[f"{name}, header of {header}"] = made(
                    bits, body, header=header, compression=_FIELDS, masks=masks
                )
    few = noise(HEIGHT, WIDTH, None) % 4
    end = b"\0\1"
    for bits, kind in ((8, _RUNS_8), (4, _RUNS_4)):
        whole = runs(few, bits)
        of_bits = {
            "": whole + end,
            " as they are": runs(few, bits, absolute=True) + end,
            " without an end": whole,
            " without a last end of row": whole[:-2] + end,
            " with neither": whole[:-2],
            " and bytes behind": whole + end + b"hello",
            " of short rows": runs(few[:, :8], bits) + end,
            " that end early": runs(few[:5], bits) + end,
            " that end early, cut": runs(few[:5], bits),
            " that are cut": whole[: len(whole) // 2],
            " with a move": runs(few[:3], bits)
            + b"\0\2\3\2"
            + runs(few[5:6, 3:], bits)
            + runs(few[6:], bits)
            + end,
        }
        colors = palette(1 << bits)
        found |= {
            f"runs of {bits} bits{n}": made(bits, b, colors, compression=kind) for n, b in of_bits.items()
        }
        found[f"runs of {bits} bits, longer than a row"] = made(
            bits, b"\xff\x33\0\1", colors, compression=kind
        )
    return found
