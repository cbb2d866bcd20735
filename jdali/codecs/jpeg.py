"""Decodes JPEG. simplejpeg decodes all files that DALI can decode; Pillow and imagecodecs decode all others."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np
import simplejpeg
from PIL import JpegImagePlugin

from jdali._batches import empty
from jdali._system import limits
from jdali.codecs.base import (
    UINT8,
    UINT16,
    Format,
    ImageInfo,
    Request,
    as_stored,
    begins,
    corrupt,
    need_imagecodecs,
    open_with_pillow,
    with_channels,
)
from jdali.codecs.color import cmyk_to_rgb, gray_float, gray_truncated
from jdali.codecs.exif import orientation
from jdali.codecs.jpeg_segments import (
    APP1,
    APP14,
    ARITHMETIC_FRAMES,
    END_OF_IMAGE,
    FRAMES,
    LOSSLESS_FRAMES,
    PROGRESSIVE_FRAMES,
    RESTART_INTERVAL,
    SEQUENTIAL_FRAMES,
    START_OF_SCAN,
    WHOLE_BLOCKS,
    count_scans,
    put_right,
    segments,
    up_to_end,
)
from jdali.codecs.jpeg_tiles import Coded, cut_tiles
from jdali.types import ANY_DATA, GRAY

# Each block of 64 pixels takes at least one bit, the length of the shortest Huffman code.
MOST_PIXELS_PER_BYTE = 512
# Chroma layouts of the TurboJPEG interface, which simplejpeg uses.
_TURBO_SAMPLING = frozenset({(1, 1), (2, 1), (2, 2), (1, 2), (4, 1), (1, 4)})
# libjpeg's warning about data after the last block of the picture.
_LEFT_OVER = "extraneous bytes before marker 0xd9"
_READ_AHEAD = bytes(8)  # size of libjpeg's bit buffer
# libjpeg may give these warnings for undamaged pictures, even after `put_right`.
_HARMLESS = ("extraneous bytes", "Inconsistent progression")


class _JpegDetail(NamedTuple):
    """Fields of the header that `decode` needs.

    Attributes:
        lossless: the frame type is lossless.
        adobe: CMYK is stored inverted.
        spectrum_at: offset of the coefficient range in the scan header, if libjpeg would warn about the range; otherwise 0.
        coded: layout of the file; None if parts of the picture cannot be decoded alone.
    """

    lossless: bool
    adobe: bool
    spectrum_at: int
    coded: Coded | None


def header(view: memoryview) -> ImageInfo:
    if view[2] != 0xFF:
        raise corrupt("JPEG", "no marker at byte 2")
    turned, adobe, frame, height_at, interval = 1, False, None, 0, 0
    for marker, position, body in segments(view):
        if marker == START_OF_SCAN:
            scan_components = body[0]
            spectrum_at = position + 5 + 2 * scan_components
            coded_at = position + 4 + len(body)
            break
        if marker in FRAMES and frame is None:
            frame = (marker, *struct.unpack_from(">BHHB", body))
            if frame[-1] not in (1, 3, 4):
                raise corrupt("JPEG", f"{frame[-1]} components")
            sampling = _sampling(body)
            height_at = position + 5
        elif marker == RESTART_INTERVAL:
            interval = int.from_bytes(body[:2])
        elif marker == APP1 and turned == 1 and begins(body, b"Exif\0\0"):
            turned = orientation(body[6:])
        elif marker == APP14 and begins(body, b"Adobe"):
            adobe = True
        elif marker == END_OF_IMAGE:
            raise corrupt("JPEG", "it ends before the first scan")
    else:
        raise corrupt("JPEG", "its header is cut off")
    if frame is None:
        raise corrupt("JPEG", "it has no frame header")
    marker, precision, height, width, components = frame
    if marker not in ARITHMETIC_FRAMES and height * width > MOST_PIXELS_PER_BYTE * len(view):
        raise corrupt("JPEG", f"{len(view)} bytes cannot hold {height}x{width} pixels")
    interleaved = scan_components == components
    usual = marker not in SEQUENTIAL_FRAMES or begins(view, WHOLE_BLOCKS, spectrum_at)
    if marker in PROGRESSIVE_FRAMES or not interleaved:
        scans = count_scans(view)
        limits.check("max_jpeg_scans", scans, f"JPEG image of {height}x{width} of at least {scans} scans")
    return info_of(
        marker, precision, height, width, components, sampling=sampling,
        height_at=height_at if interleaved else 0, coded_at=coded_at, interval=interval, turned=turned, adobe=adobe,
        spectrum_at=0 if usual else spectrum_at,
    )  # fmt: skip


def info_of(
    marker: int, precision: int, height: int, width: int, components: int, *,
    sampling: tuple[int, int] | None, height_at: int, coded_at: int, interval: int, turned: int = 1,
    adobe: bool = False, spectrum_at: int = 0,
) -> ImageInfo:  # fmt: skip
    """Builds an `ImageInfo` from the fields of a header; see also `Coded` and `_JpegDetail`.

    Args:
        height_at: see `Coded`; 0 if parts of the picture cannot be decoded alone.
        sampling: result of `_sampling`.
        adobe: the file has an Adobe segment.
    """
    lossless = marker in LOSSLESS_FRAMES
    scales = precision == 8 and not lossless and sampling in _TURBO_SAMPLING
    coded = None
    if height_at and scales and sampling and marker in SEQUENTIAL_FRAMES:
        coded = Coded(height_at, coded_at, (8 * sampling[1], 8 * sampling[0]), interval)
    return ImageInfo(
        "jpeg",
        height,
        width,
        components,
        UINT8 if precision == 8 else UINT16,
        turned,
        float((1 << precision) - 1),
        8 if scales else 1,
        _JpegDetail(lossless, adobe, spectrum_at, coded),
    )


def _sampling(frame: memoryview) -> tuple[int, int] | None:
    """Returns the luma's sampling factors; None unless both chroma planes have the factors 1 x 1."""
    components = frame[5]
    if components == 1:
        return 1, 1
    factors = [frame[7 + 3 * c] for c in range(components)]
    chroma = factors[1]
    if factors[2] != chroma or chroma != 0x11:
        return None
    return factors[0] >> 4, factors[0] & 15


def decode(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    """Decodes a picture. For GRAY, it returns gray directly, since JPEG stores the luminance. Only ANY_DATA returns CMYK."""
    wanted = request.output_type
    if info.dtype != UINT8:
        codecs = need_imagecodecs("a JPEG image of more than 8 bits")
        return with_channels(codecs.jpeg8_decode(up_to_end(view)))
    if info.channels == 4:
        picture = _decode_turbo(view, info, request, "CMYK", None)
        if wanted == ANY_DATA:
            return picture
        picture = cmyk_to_rgb(picture, info.detail.adobe)
        return gray_truncated(picture)[..., None] if wanted == GRAY else picture
    if info.detail.lossless:
        return _decode_with_pillow(view, info, request)
    is_gray = wanted == GRAY or (wanted == ANY_DATA and info.channels == 1)
    return _decode_turbo(view, info, request, "GRAY" if is_gray else "RGB", request.out)


def _decode_turbo(
    view: memoryview, info: ImageInfo, request: Request, space: str, out: np.ndarray | None
) -> np.ndarray:
    options: dict[str, Any] = {"colorspace": space, "fastdct": request.fast_idct, "fastupsample": False}
    if request.denominator > 1:
        # simplejpeg chooses the smallest scale at which the picture has at least this height and width.
        options["min_height"] = -(-info.height // request.denominator)
        options["min_width"] = -(-info.width // request.denominator)
        options["min_factor"] = request.denominator
    if info.detail.spectrum_at:
        # Some cameras write a wrong coefficient range. Without this correction, libjpeg would warn, and the picture
        # would be decoded a second time.
        data = bytearray(view)
        start = info.detail.spectrum_at
        data[start : start + len(WHOLE_BLOCKS)] = WHOLE_BLOCKS
        view = memoryview(data)
    part = _decode_part(view, info, request, options)
    if part is not None:
        return part
    options["buffer"] = picture = _empty(info.height, info.width, request, space) if out is None else out
    try:
        return simplejpeg.decode_jpeg(view, **options)
    except ValueError as error:
        reason = str(error)
    if "subsampling" in reason:
        return _decode_with_pillow(view, info, request)
    plain = put_right(view, info.channels)
    if not reason.endswith(_LEFT_OVER):
        try:
            return simplejpeg.decode_jpeg(plain, **options)
        except ValueError as error:
            reason = str(error)
    if not any(words in reason for words in _HARMLESS):
        raise corrupt("JPEG", reason)
    return picture  # the picture is complete in spite of the warning


def _decode_part(
    view: memoryview, info: ImageInfo, request: Request, options: dict[str, Any]
) -> np.ndarray | None:
    """Decodes a part of a picture that contains the window; returns None if the whole picture must be decoded.

    The part is decoded from a smaller file. libjpeg may warn that this file has leftover data. After any other warning
    or error, the whole picture must be decoded, so that the error describes the whole file.
    """
    coded: Coded | None = info.detail.coded
    if coded is None or request.window is None:
        return None
    if not coded.interval:
        return _decode_first_rows(view, info, request, options, coded)
    scale = request.denominator
    part = cut_tiles(view, coded, (info.height, info.width), request.window, scale)
    if part is None:
        return None
    data, top, left, height, width = part
    picture = _empty(height, width, request, options["colorspace"])
    if not _decode_smaller(data, picture, request, options):
        return None
    y, x, rows, columns = request.window
    y, x = y - top // scale, x - left // scale
    return picture[y : y + rows, x : x + columns]


def _decode_first_rows(
    view: memoryview, info: ImageInfo, request: Request, options: dict[str, Any], coded: Coded
) -> np.ndarray | None:
    """Decodes only the first `request.rows` rows of a picture; skips even the entropy decoding of the other rows."""
    # Decodes one more row of blocks, since chroma is interpolated between blocks.
    height = (-(-request.rows // coded.unit[0]) + 1) * coded.unit[0]
    if height >= info.height:
        return None
    data = bytearray(view)
    struct.pack_into(">H", data, coded.height_at, height)
    picture = _empty(info.height, info.width, request, options["colorspace"])
    first = picture[: -(-height // request.denominator)]
    return picture if _decode_smaller(data, first, request, options) else None


def _decode_smaller(data: bytearray, out: np.ndarray, request: Request, options: dict[str, Any]) -> bool:
    """Decodes into `out`; returns False after any warning or error except the warning about leftover data."""
    if request.denominator > 1:
        options = options | {"min_height": out.shape[0], "min_width": out.shape[1]}
    try:
        simplejpeg.decode_jpeg(data, **options, buffer=out)
    except ValueError as error:
        return str(error).endswith(_LEFT_OVER)
    return True


def _empty(height: int, width: int, request: Request, space: str) -> np.ndarray:
    """Allocates a picture at the requested scale; `height` and `width` are its size before scaling."""
    height, width = (-(-n // request.denominator) for n in (height, width))
    return empty((height, width, {"GRAY": 1, "RGB": 3, "CMYK": 4}[space]), np.uint8)


def _decode_with_pillow(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    whole = up_to_end(view) if info.detail.lossless else memoryview(put_right(view, info.channels))
    _check_end(whole, info)
    picture = open_with_pillow(JpegImagePlugin.JpegImageFile, whole, info)
    if request.output_type == GRAY and not info.detail.lossless:
        picture.draft("L", picture.size)
    stored = with_channels(as_stored(picture))
    # Undoes Pillow's inversion. Pillow inverts all CMYK, because Adobe's CMYK is stored inverted.
    return 255 - stored if info.channels == 4 else stored


def _check_end(view: memoryview, info: ImageInfo) -> None:
    """Raises `SampleError` if a picture of one scan lacks more than a few bytes.

    Pillow accepts missing data if the file has an end marker, but not without the marker. So this function decodes a copy
    in which zeros replace the marker. The zeros fill libjpeg's bit buffer.
    """
    if count_scans(view) == 1:
        try:
            open_with_pillow(
                JpegImagePlugin.JpegImageFile, memoryview(bytes(view[:-2]) + _READ_AHEAD), info
            ).load()
        except OSError as error:
            raise corrupt("JPEG", f"premature end of data segment ({error})") from error


FORMAT = Format("jpeg", lambda view: begins(view, b"\xff\xd8"), header, decode, gray_float)
