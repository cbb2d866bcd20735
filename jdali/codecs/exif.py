"""Reads the orientation from EXIF data, and turns pictures upright."""

from __future__ import annotations

import struct

import numpy as np

Window = tuple[int, int, int, int]
"""y, x, height, width"""

_ORIENTATION_TAG = 0x0112


def orientation(block: memoryview) -> int:
    """Reads the orientation, 1 to 8, from a block of EXIF data (a small TIFF file); returns 1 if the block has none.

    Damaged EXIF data and values out of range are ignored, because the pixels may be fine.
    """
    order = {b"II": "<", b"MM": ">"}.get(bytes(block[:2]))
    if order is None or len(block) < 8:
        return 1
    (start,) = struct.unpack_from(order + "I", block, 4)
    if start + 2 > len(block):
        return 1
    (count,) = struct.unpack_from(order + "H", block, start)
    for entry in range(start + 2, min(start + 2 + 12 * count, len(block) - 11), 12):
        tag, _, _, value = struct.unpack_from(order + "HHIH", block, entry)
        if tag == _ORIENTATION_TAG:
            return value if 1 <= value <= 8 else 1
    return 1


def is_turned(orientation: int) -> bool:
    return orientation >= 5


def upright(picture: np.ndarray, orientation: int) -> np.ndarray:
    """Turns a stored picture [H, W, ...] upright; returns a view."""
    if orientation >= 5:
        picture = picture.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        picture = picture[::-1]
    if orientation in (2, 3, 6, 7):
        picture = picture[:, ::-1]
    return picture


def stored_window(window: Window, height: int, width: int, orientation: int) -> Window:
    """Converts a window in the upright picture, whose size is `height` x `width`, to a window in the stored picture."""
    y, x, rows, columns = window
    if orientation in (2, 3, 6, 7):
        x = width - x - columns
    if orientation in (3, 4, 7, 8):
        y = height - y - rows
    return (x, y, columns, rows) if is_turned(orientation) else (y, x, rows, columns)


def stored(picture: np.ndarray, orientation: int) -> np.ndarray:
    """Undoes `upright`."""
    # Only quarter turns differ from their inverses.
    return upright(picture, {6: 8, 8: 6}.get(orientation, orientation))
