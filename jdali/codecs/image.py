"""Reads the headers of encoded images, and decodes pictures or parts of them.

The format is detected from the content. To add a format, write a module like `png.py` and add its `FORMAT` to `FORMATS`.
"""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from jdali._batches import contiguous as contiguous_copy
from jdali._errors import SampleError
from jdali._system import limits
from jdali.codecs import bmp as _bmp
from jdali.codecs import gif as _gif
from jdali.codecs import heif as _heif
from jdali.codecs import jpeg as _jpeg
from jdali.codecs import jpeg2000 as _jpeg2000
from jdali.codecs import jpegxl as _jpegxl
from jdali.codecs import png as _png
from jdali.codecs import pnm as _pnm
from jdali.codecs import tiff as _tiff
from jdali.codecs import webp as _webp
from jdali.codecs.base import Format, ImageInfo, Request, begins, corrupt
from jdali.codecs.color import DTYPES, convert
from jdali.codecs.exif import Window, is_turned, stored_window, upright
from jdali.types import ANY_DATA, BGR, GRAY, INDEX, RGB, DALIImageType, YCbCr

__all__ = ["FORMATS", "MAX_PIXELS", "ImageInfo", "check_dtype", "decode", "output_shape", "probe"]

FORMATS: tuple[Format, ...] = (
    _jpeg.FORMAT, _png.FORMAT, _webp.FORMAT, _bmp.FORMAT, _tiff.FORMAT, _jpeg2000.FORMAT, _pnm.FORMAT,
    _gif.FORMAT, _heif.AVIF, _heif.HEIC, _jpegxl.FORMAT,
)  # fmt: skip
_BY_NAME = {f.name: f for f in FORMATS}
# First bytes and names of unsupported formats, for the error.
_UNSUPPORTED = {b"SIMPLE": "FITS"}

# TIFF samples may be NaN or too large for the element type of the result; NumPy would warn about them.
_convert_floats = np.errstate(over="ignore", invalid="ignore")(convert)

MAX_PIXELS: int
"""Older name of the limit `max_pixels` of `jdali.storage.configure`. May be set."""
limits.older_names(__name__, {"MAX_PIXELS": "max_pixels"})


def probe(data: Any) -> ImageInfo:
    """Reads the header of an encoded image; `data` are bytes, or a contiguous uint8 array.

    Raises `SampleError` if the format is unknown, or the header is damaged or exceeds the limits.
    """
    whole = memoryview(data)
    view = whole.cast("B")
    for candidate in FORMATS:
        if candidate.matches(view):
            break
    else:
        decoded = f", an array of {whole.ndim} axes: has it been decoded already?" if whole.ndim > 1 else ""
        raise SampleError(f"not an image of a known format: {_describe(view)}{decoded}")
    try:
        info = candidate.header(view)
    except SampleError:
        raise
    except (IndexError, struct.error):
        raise corrupt(candidate.name.upper(), "its header is cut off") from None
    except Exception as error:  # a damaged header can raise any exception
        raise corrupt(candidate.name.upper(), f"its header cannot be read ({error})") from error
    if info.height < 1 or info.width < 1 or info.channels < 1:
        size = f"{info.height}x{info.width}x{info.channels}"
        raise corrupt(candidate.name.upper(), f"the header says {size}")
    _check_size(info, (info.height, info.width, info.channels), info.dtype)
    return info


def _check_size(info: ImageInfo, shape: tuple[int, int, int], dtype: np.dtype) -> None:
    what = f"{info.format.upper()} image of {info.height}x{info.width}x{info.channels}"
    limits.check("max_pixels", info.height * info.width, what)
    limits.check("max_channels", info.channels, what)
    limits.check("max_sample_bytes", math.prod(shape) * dtype.itemsize, f"{what} as {dtype}")


def _describe(view: memoryview) -> str:
    if len(view) == 0:
        return "no data"
    for magic, name in _UNSUPPORTED.items():
        if begins(view, magic):
            return f"{name} is not supported"
    return f"{len(view)} bytes that begin with {bytes(view[:8])!r}"


def check_dtype(name: str, dtype: np.dtype) -> None:
    if dtype not in DTYPES:
        raise ValueError(f"{name}: dtype {dtype} is not supported; use {', '.join(map(str, DTYPES))}")


def output_shape(
    info: ImageInfo,
    output_type: DALIImageType = RGB,
    adjust_orientation: bool = True,
    window: Window | None = None,
    denominator: int = 1,
) -> tuple[int, int, int]:
    """Returns (height, width, channels) of the picture that `decode` returns for these arguments."""
    _, (_, _, height, width) = _scaled_window(info, adjust_orientation, window, denominator)
    return height, width, _channels(info, output_type)


def _channels(info: ImageInfo, output_type: DALIImageType) -> int:
    return info.channels if output_type == ANY_DATA else 1 if output_type in (GRAY, INDEX) else 3


def _check_indices(info: ImageInfo) -> None:
    """Raises `SampleError` unless a picture stores either palette indices or lossless gray values."""
    if info.format == "jpeg":
        raise SampleError(
            "a JPEG image holds no indices: its compression changes values. output_type=types.GRAY decodes it"
        )
    if not info.indexed and (info.channels > 2 or info.dtype.kind == "f"):
        held = "floats" if info.dtype.kind == "f" else f"{info.channels} channels"
        raise SampleError(
            f"this {info.format.upper()} image has no palette but {held}, so it holds no indices; decode it with another "
            "output_type"
        )


def _scaled_window(
    info: ImageInfo, adjust_orientation: bool, window: Window | None, denominator: int
) -> tuple[int, Window]:
    """Returns the denominator to decode with, and the window in the upright picture at this scale."""
    if denominator not in (1, 2, 4, 8):
        raise ValueError(f"denominator {denominator} is not one of 1, 2, 4, 8")
    denominator = min(denominator, info.max_denominator)
    height, width = info.height, info.width
    if adjust_orientation and is_turned(info.orientation):
        height, width = width, height
    y, x, rows, columns = (0, 0, height, width) if window is None else (int(n) for n in window)
    if min(y, x, rows, columns) < 0 or y + rows > height or x + columns > width:
        raise SampleError(
            f"the window at ({y}, {x}) of size ({rows}, {columns}) reaches out of the picture of "
            f"{height}x{width}"
        )
    if denominator == 1:
        return 1, (y, x, rows, columns)
    y, rows = _scaled(y, rows, height, denominator)
    x, columns = _scaled(x, columns, width, denominator)
    return denominator, (y, x, rows, columns)


def _scaled(start: int, size: int, whole: int, denominator: int) -> tuple[int, int]:
    """Scales a start (rounded down) and a size (rounded to nearest; at least 1 unless it was 0)."""
    limit = -(-whole // denominator)
    if size == whole:
        return 0, limit
    scaled = min(max((size + denominator // 2) // denominator, min(size, 1)), limit)
    return min(start // denominator, limit - scaled), scaled


def decode(
    data: Any,
    *,
    output_type: DALIImageType = RGB,
    dtype: DTypeLike = np.uint8,
    adjust_orientation: bool = True,
    window: Window | None = None,
    denominator: int = 1,
    fast_idct: bool = False,
    out: np.ndarray | None = None,
    info: ImageInfo | None = None,
    contiguous: bool = True,
) -> np.ndarray:
    """Decodes an image, or a window of it.

    Args:
        data: bytes, or a contiguous uint8 array.
        output_type: RGB, BGR, YCbCr (studio range), GRAY, ANY_DATA for the stored channels, or INDEX for palette
            indices or gray values without rescaling.
        dtype: uint8, int8, uint16, int16, uint32, int32 or float32; full intensity becomes the
            largest value of the type, 1 for floats.
        adjust_orientation: rotate the picture as its EXIF data say.
        window: (y, x, height, width) in the upright picture; None: all of it. In some formats, only a part of the file
            is decoded and checked for damage: in TIFF, the strips or tiles that the window touches; in JPEG with
            restart markers, the segments (from marker to marker) that it touches; in PNG and other JPEG, often only
            the rows down to the end of the window; in BMP and raw PNM, the window.
        denominator: 1, 2, 4 or 8: decode at this fraction of the size (rounded up), at less cost.
            Formats other than JPEG ignore it. `output_shape` returns the resulting shape.
        fast_idct: for JPEG, use a faster, less exact inverse DCT.
        out: array of `output_shape` and `dtype` for the result.
        info: result of `probe`, if the caller has it.
        contiguous: if False, a window of at least a quarter of the picture may be returned as a view of the picture.

    Returns: [H, W, C], `out` if given.

    Raises `SampleError` for damaged data; a partly decoded picture is never returned.
    """
    view = memoryview(data).cast("B")
    dtype = np.dtype(dtype)
    check_dtype("image", dtype)
    info = info or probe(view)
    coding = _BY_NAME[info.format]
    turned = info.orientation if adjust_orientation else 1
    denominator, scaled = _scaled_window(info, adjust_orientation, window, denominator)
    shape = *scaled[2:], _channels(info, output_type)
    if out is not None and (out.shape != shape or out.dtype != dtype):
        raise ValueError(f"out is {out.dtype}{list(out.shape)}, the picture {dtype}{list(shape)}")
    if out is None:
        _check_size(info, shape, dtype)
    if output_type == INDEX:
        _check_indices(info)
    as_stored = (
        window is None and turned == 1 and dtype == np.uint8 and output_type not in (BGR, YCbCr, INDEX)
    )
    direct = as_stored and out is not None and out.flags.c_contiguous
    whole = tuple(-(-n // denominator) for n in (info.height, info.width))
    up_height, up_width = whole[::-1] if is_turned(turned) else whole
    y, x, height, width = stored_window(scaled, up_height, up_width, turned)
    request = Request(
        output_type,
        denominator,
        # DALI always uses the exact DCT for pictures that it rotates.
        fast_idct=fast_idct and turned == 1,
        window=(y, x, height, width) if (height, width) != whole else None,
        turned=turned != 1,
        out=out if direct else None,
    )
    try:
        picture = coding.decode(view, info, request)
    except (SampleError, ImportError, MemoryError):
        raise
    except Exception as error:  # each library raises its own exceptions
        raise SampleError(
            f"cannot decode the {info.format.upper()} image of {info.height}x{info.width}: {error}"
        ) from error
    if picture.shape[:2] == whole:
        picture = picture[y : y + height, x : x + width]
    elif request.window is None or picture.shape[:2] != (height, width):
        raise corrupt(info.format.upper(), f"decoded to {picture.shape[:2]}, its header says {whole}")
    picture = upright(picture, turned)
    change = _convert_floats if picture.dtype.kind == "f" else convert
    picture = change(picture, info.maximum, coding.gray, output_type, dtype)
    if picture.shape != shape:
        raise corrupt(
            info.format.upper(), f"decoded to {picture.shape[2]} channels, its header says {shape[2]}"
        )
    if out is None:
        # A view keeps the whole picture in memory, so only a large window is returned as a view.
        as_view = not contiguous and 4 * height * width >= whole[0] * whole[1]
        return picture if as_view else contiguous_copy(picture)
    if not (direct and np.may_share_memory(picture, out)):
        np.copyto(out, picture)
    return out
