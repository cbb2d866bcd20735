"""JPEG: simplejpeg for all that DALI reads, Pillow and imagecodecs for what it cannot."""

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
from jdali.types import ANY_DATA, GRAY

# A Huffman code has at least one bit, and there is one for each block of 64 pixels.
MOST_PIXELS_PER_BYTE = 512
# Chroma layouts known to the TurboJPEG interface that simplejpeg is built on.
_TURBO_SAMPLING = frozenset({(1, 1), (2, 1), (2, 2), (1, 2), (4, 1), (1, 4)})
# The first and only words of libjpeg about data behind the last block of the picture.
_LEFT_OVER = "extraneous bytes before marker 0xd9"
_READ_AHEAD = bytes(8)  # as many as libjpeg's buffer of bits holds
# Words of libjpeg about a picture of which nothing is missing, once its segments are put right.
_HARMLESS = ("extraneous bytes", "Inconsistent progression")


class _JpegDetail(NamedTuple):
    """Fields of the header that `decode` needs.

    Attributes:
        lossless: the frame type is one of those.
        adobe: CMYK is stored inverted.
        height_at: byte where the frame header has the height, if only the first rows can be decoded; else 0.
        block: rows that are coded together.
        spectrum_at: byte where the scan has the range of its coefficients, if libjpeg warns of it; else 0.
    """

    lossless: bool
    adobe: bool
    height_at: int
    block: int
    spectrum_at: int


def header(view: memoryview) -> ImageInfo:
    if view[2] != 0xFF:
        raise corrupt("JPEG", "no marker at byte 2")
    turned, adobe, frame, height_at, restarts = 1, False, None, 0, False
    for marker, position, body in segments(view):
        if marker == START_OF_SCAN:
            scan_components = body[0]
            spectrum_at = position + 5 + 2 * scan_components
            break
        if marker in FRAMES and frame is None:
            frame = (marker, *struct.unpack_from(">BHHB", body))
            if frame[-1] not in (1, 3, 4):
                raise corrupt("JPEG", f"{frame[-1]} components")
            sampling = _sampling(body)
            height_at = position + 5
        elif marker == RESTART_INTERVAL:
            restarts = True
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
        height_at=height_at if interleaved and not restarts else 0, turned=turned, adobe=adobe,
        spectrum_at=0 if usual else spectrum_at,
    )  # fmt: skip


def info_of(
    marker: int, precision: int, height: int, width: int, components: int, *,
    sampling: tuple[int, int] | None, height_at: int, turned: int = 1, adobe: bool = False, spectrum_at: int = 0,
) -> ImageInfo:  # fmt: skip
    """Returns the content of a header.

    Args:
        marker: of the frame.
        precision: bits of a sample.
        height, width, components: of the frame.
        sampling: as of `_sampling`.
        height_at: byte where the height is; 0: not only the first rows can be decoded, whatever the frame.
        turned: EXIF orientation.
        adobe: there is a segment of Adobe's.
        spectrum_at: as of `_JpegDetail`.
    """
    lossless = marker in LOSSLESS_FRAMES
    scales = precision == 8 and not lossless and sampling in _TURBO_SAMPLING
    cuts = scales and marker in SEQUENTIAL_FRAMES
    return ImageInfo(
        "jpeg",
        height,
        width,
        components,
        UINT8 if precision == 8 else UINT16,
        turned,
        float((1 << precision) - 1),
        8 if scales else 1,
        _JpegDetail(
            lossless, adobe, height_at if cuts else 0, 8 * sampling[1] if sampling else 0, spectrum_at
        ),
    )


def _sampling(frame: memoryview) -> tuple[int, int] | None:
    """Ratio of the luma's sampling factors to the chroma's; None if the chroma planes differ."""
    components = frame[5]
    if components == 1:
        return 1, 1
    factors = [frame[7 + 3 * c] for c in range(components)]
    chroma = factors[1]
    if factors[2] != chroma or chroma != 0x11:
        return None
    return factors[0] >> 4, factors[0] & 15


def decode(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    """Gray if that is asked for, since libjpeg has the luminance; CMYK only for ANY_DATA."""
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
        # simplejpeg takes the smallest scale with at least this size.
        options["min_height"] = -(-info.height // request.denominator)
        options["min_width"] = -(-info.width // request.denominator)
        options["min_factor"] = request.denominator
    if info.detail.spectrum_at:
        # Some cameras write it so. Decoding once more after a warning would take twice as long.
        data = bytearray(view)
        start = info.detail.spectrum_at
        data[start : start + len(WHOLE_BLOCKS)] = WHOLE_BLOCKS
        view = memoryview(data)
    cut = _decode_first_rows(view, info, request, options)
    if cut is not None:
        return cut
    options["buffer"] = picture = _empty(info, request, space) if out is None else out
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
    return picture  # libjpeg has filled it in


def _decode_first_rows(
    view: memoryview, info: ImageInfo, request: Request, options: dict[str, Any]
) -> np.ndarray | None:
    """The picture with no more than `request.rows` rows of it filled in; None if all must be decoded.

    What follows those rows is not even entropy decoded: the decoder gets the data with a smaller height in
    the header. It then finds data left over before the end of the file, and says so; any other word of
    it, a broken or cut file, is left to the decoding of the whole, which words it rightly.
    """
    block = info.detail.block
    # One row of blocks more, since chroma is interpolated between them.
    height = (-(-request.rows // block) + 1) * block if block else 0
    if not info.detail.height_at or height >= info.height:
        return None
    data = bytearray(view)
    struct.pack_into(">H", data, info.detail.height_at, height)
    rows = -(-height // request.denominator)
    picture = _empty(info, request, options["colorspace"])
    if request.denominator > 1:
        options = options | {"min_height": rows}
    try:
        simplejpeg.decode_jpeg(data, **options, buffer=picture[:rows])
    except ValueError as error:
        if not str(error).endswith(_LEFT_OVER):
            return None
    return picture


def _empty(info: ImageInfo, request: Request, space: str) -> np.ndarray:
    """Room for the picture."""
    height, width = (-(-n // request.denominator) for n in (info.height, info.width))
    return empty((height, width, {"GRAY": 1, "RGB": 3, "CMYK": 4}[space]), np.uint8)


def _decode_with_pillow(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    whole = up_to_end(view) if info.detail.lossless else memoryview(put_right(view, info.channels))
    _check_end(whole, info)
    picture = open_with_pillow(JpegImagePlugin.JpegImageFile, whole, info)
    if request.output_type == GRAY and not info.detail.lossless:
        picture.draft("L", picture.size)
    stored = with_channels(as_stored(picture))
    # Pillow turns all CMYK around, for most is Adobe's.
    return 255 - stored if info.channels == 4 else stored


def _check_end(view: memoryview, info: ImageInfo) -> None:
    """Raises if more than a few bytes of the data of a picture of one scan are missing.

    Before an end marker Pillow says nothing of it. Without one it waits for data that the picture still needs;
    what libjpeg reads ahead are zeros.
    """
    if count_scans(view) == 1:
        try:
            open_with_pillow(
                JpegImagePlugin.JpegImageFile, memoryview(bytes(view[:-2]) + _READ_AHEAD), info
            ).load()
        except OSError as error:
            raise corrupt("JPEG", f"premature end of data segment ({error})") from error


FORMAT = Format("jpeg", lambda view: begins(view, b"\xff\xd8"), header, decode, gray_float)
