"""Decodes BMP with NumPy alone."""

from __future__ import annotations

import functools
import struct
from typing import NamedTuple

import numpy as np

from jdali.codecs.base import Format, ImageInfo, Request, begins, corrupt
from jdali.codecs.color import gray_14bit, gray_truncated
from jdali.types import GRAY, INDEX

_FILE_HEADER, _OLD_HEADER, _FULL_HEADER, _ALPHA_HEADER = 14, 12, 40, 56  # bytes
_PLAIN, _RUNS_8, _RUNS_4, _FIELDS, _ALPHA_FIELDS = 0, 1, 2, 3, 6
_MASKS = {16: (0x7C00, 0x3E0, 0x1F), 32: (0xFF0000, 0xFF00, 0xFF)}  # defaults for red, green, blue
_KINDS = frozenset(
    {(bits, _PLAIN) for bits in (1, 2, 4, 8, 16, 24, 32)}
    | {(8, _RUNS_8), (4, _RUNS_4)}
    | {(bits, kind) for bits in (16, 32) for kind in (_FIELDS, _ALPHA_FIELDS)}
)
_END_OF_ROW, _END, _MOVE = 0, 1, 2  # meanings of the byte after a run of length 0
# Runs may end before the picture does, so a small file could claim a huge picture. A picture of runs may have at most
# _MANY_PIXELS pixels, plus _MOST_PIXELS_PER_BYTE pixels for each byte of data.
_MANY_PIXELS, _MOST_PIXELS_PER_BYTE = 1 << 20, 1 << 12


class _BmpDetail(NamedTuple):
    start: int  # offset of the pixels
    bits: int
    compression: int
    bottom_up: bool
    colors: np.ndarray  # palette, uint8 [256, 4]; its last channel is 0
    masks: tuple[int, int, int]
    four_masks: bool  # pixels have 32 bits, and the header has an alpha mask


def header(view: memoryview) -> ImageInfo:
    start, size = struct.unpack_from("<II", view, 10)
    compression = count = 0
    if size == _OLD_HEADER:
        width, height, _, bits = struct.unpack_from("<HHHH", view, 18)
    else:
        width, height, _, bits = struct.unpack_from("<iiHH", view, 18)
    if size >= _FULL_HEADER:
        compression, _, _, _, count = struct.unpack_from("<IIiiI", view, 30)
    if width <= 0 or height == 0:
        raise corrupt("BMP", f"size {height}x{width}")
    if (bits, compression) not in _KINDS:
        raise corrupt("BMP", f"{bits} bits with compression {compression} are not supported")
    end = _FILE_HEADER + size
    masks, colors, channels = _MASKS.get(bits, (0, 0, 0)), np.zeros((256, 4), np.uint8), 3
    if compression in (_FIELDS, _ALPHA_FIELDS):
        most = (1 << bits) - 1
        masks = tuple(mask & most for mask in struct.unpack_from("<III", view, _FILE_HEADER + _FULL_HEADER))
        end = max(end, _FILE_HEADER + _FULL_HEADER + 12)
    if bits <= 8:
        entry = 3 if size == _OLD_HEADER else 4
        count = min(count or 1 << bits, 1 << bits)
        palette = np.frombuffer(view[end : end + count * entry], np.uint8)
        palette = palette[: len(palette) // entry * entry].reshape(-1, entry)[:, 2::-1]
        end += count * entry
        channels = 1 if (palette == palette[:, :1]).all() else 3
        colors[: len(palette), :3] = palette
    detail = _BmpDetail(
        start if start >= _FILE_HEADER + size else end, bits, compression, height > 0, colors, masks,
        four_masks=bits == 32 and compression == _FIELDS and size >= _ALPHA_HEADER,
    )  # fmt: skip
    return ImageInfo("bmp", abs(height), width, channels, indexed=bits <= 8, detail=detail)


def decode(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    """Decodes a picture without its alpha channel, which is meaningless in most 32-bit files."""
    detail: _BmpDetail = info.detail
    rows = _rows(view, info)
    rows = rows[::-1] if detail.bottom_up else rows
    y, x, height, width = request.window or (0, 0, info.height, info.width)
    samples = _samples(rows[y : y + height], detail, info.width)[:, x : x + width]
    if detail.four_masks and request.output_type == GRAY:
        # DALI reads four channels here, through OpenCV, and truncates the luminance.
        return gray_truncated(samples)[..., None]
    if samples.ndim == 3:
        return samples
    if request.output_type == INDEX:
        return samples[..., None]
    colors = detail.colors if detail.bits <= 8 else _colors_of_16_bits(detail.masks)
    # Looking up 4-byte words is several times as fast as looking up three bytes.
    words = np.take(colors.view(np.uint32)[:, 0], samples, mode="clip")
    return words.view(np.uint8).reshape(*samples.shape, 4)[..., : info.channels]


def _rows(view: memoryview, info: ImageInfo) -> np.ndarray:
    """Returns the rows in file order, uint8 [H, bytes of a row]; for compressed files, the expanded indices, [H, W]."""
    start, bits, compression, *_ = info.detail
    data = np.frombuffer(view, np.uint8)[start:]
    if compression in (_RUNS_8, _RUNS_4):
        if info.height * info.width > _MANY_PIXELS + _MOST_PIXELS_PER_BYTE * len(data):
            raise corrupt("BMP", f"{len(data)} bytes cannot hold {info.height}x{info.width} pixels")
        return _unpacked(data.tobytes(), info.height, info.width, bits)
    row = (info.width * bits + 31) // 32 * 4
    # The padding of the last row may be missing.
    least = row * (info.height - 1) + (info.width * bits + 7) // 8
    if len(data) < least:
        raise corrupt("BMP", f"it is cut off: {len(data)} bytes of {least}")
    data = data[: row * info.height]
    if len(data) < row * info.height:
        data = np.pad(data, (0, row * info.height - len(data)))
    return data.reshape(info.height, row)


def _samples(rows: np.ndarray, detail: _BmpDetail, width: int) -> np.ndarray:
    """Unpacks rows into [H, W] (indices or 16-bit pixels) or uint8 [H, W, 3]."""
    bits = detail.bits
    if bits == 8 or detail.compression in (_RUNS_8, _RUNS_4):
        return rows[:, :width]
    if bits < 8:
        shifts = np.arange(8 - bits, -1, -bits, dtype=np.uint8)
        return (rows[..., None] >> shifts & (1 << bits) - 1).reshape(len(rows), -1)[:, :width]
    if bits == 24 or (bits == 32 and detail.masks == _MASKS[32]):
        step = bits // 8
        return rows[:, : width * step].reshape(len(rows), width, step)[..., 2::-1]
    pixels = rows.view(f"<u{bits // 8}")[:, :width]
    return pixels if bits == 16 else _fields(pixels, detail.masks)


@functools.lru_cache(maxsize=8)
def _colors_of_16_bits(masks: tuple[int, int, int]) -> np.ndarray:
    """Returns a table of the colours of all 16-bit pixels, uint8 [65536, 4]."""
    return _fields(np.arange(1 << 16), (*masks, 0))


def _fields(pixels: np.ndarray, masks: tuple[int, ...]) -> np.ndarray:
    """Extracts the bits of each mask, and scales them to 0..255, truncated as in Pillow; returns uint8 [..., masks]."""
    out = np.empty((*pixels.shape, len(masks)), np.uint8)
    for channel, mask in enumerate(masks):
        lowest = max(mask & -mask, 1)
        value = (pixels.astype(np.uint64) & np.uint64(mask)) // np.uint64(lowest)
        out[..., channel] = value * np.uint64(255) // np.uint64(max(mask // lowest, 1))
    return out


def _unpacked(runs: bytes, height: int, width: int, bits: int) -> np.ndarray:
    """Expands runs into indices, uint8 [H, W]; pixels outside all runs are 0.

    Raises `SampleError` if the data end before the last pixel and have no end code.
    """
    out = bytearray(height * width)
    at = y = x = 0
    while at + 2 <= len(runs):
        count, value = runs[at : at + 2]
        at += 2
        if count:
            stretch = bytes([value]) if bits == 8 else bytes([value >> 4, value & 15])
            stretch = (stretch * count)[:count]
        elif value == _END_OF_ROW:
            x, y = 0, y + 1
            continue
        elif value == _END:
            break
        elif value == _MOVE and at + 2 <= len(runs):
            x, y, at = x + runs[at], y + runs[at + 1], at + 2
            continue
        else:
            size = (value * bits + 7) // 8
            stretch = runs[at : at + size]
            if bits == 4:
                stretch = bytes(half for byte in stretch for half in (byte >> 4, byte & 15))[:value]
            at += size + size % 2
        if y < height:
            stretch = stretch[: max(width - x, 0)]
            out[y * width + x : y * width + x + len(stretch)] = stretch
        x += len(stretch)
    else:
        if y < height - 1 or (y == height - 1 and x < width):
            raise corrupt("BMP", f"its runs are cut off in row {y} of {height}")
    return np.frombuffer(out, np.uint8).reshape(height, width)


FORMAT = Format("bmp", lambda view: begins(view, b"BM"), header, decode, gray_14bit)
