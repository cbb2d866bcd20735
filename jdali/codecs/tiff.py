"""Decodes TIFF with imagecodecs if it is installed, else with Pillow, which decodes only common kinds."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
from PIL import TiffImagePlugin

from jdali.codecs import tiff_directory as tiff
from jdali.codecs.base import (
    UINT8,
    UINT16,
    Format,
    ImageInfo,
    Request,
    as_stored,
    corrupt,
    imagecodecs,
    need_imagecodecs,
    open_with_pillow,
    with_channels,
)
from jdali.codecs.color import cmyk_to_rgb, full_intensity, gray_14bit, gray_float
from jdali.types import ANY_DATA, GRAY, INDEX

_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _PALETTE, _CMYK, _YCBCR, _LAB = 0, 1, 2, 3, 5, 6, 8
_SUPPORTED = frozenset({_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _PALETTE, _YCBCR, _LAB})
_UNSIGNED, _SIGNED, _FLOAT = 1, 2, 3
_PLAIN_ALPHA = 2
# Maximum pixels of a tile: this number, or 4 times the pixels of the picture if that is more.
_LARGEST_TILE = 1 << 24
# Largest compression ratio of each method: none, LZW, Deflate (two codes), PackBits.
_RATIOS = {1: 1, 5: 4096, 8: 1032, 32946: 1032, 32773: 64}


class _TiffDetail(NamedTuple):
    bits: int
    photometric: int
    planar: bool
    color_map: np.ndarray | None  # uint16 [entries, 3]


def header(view: memoryview) -> ImageInfo:
    tags = tiff.read(view)
    if not (tags.values(tiff.WIDTH) and tags.values(tiff.HEIGHT)):
        raise corrupt("TIFF", "the first page has no size")
    one = tags.one
    width, height, channels = one(tiff.WIDTH, 0), one(tiff.HEIGHT, 0), one(tiff.CHANNELS, 1)
    if one(tiff.TILE_WIDTH, 0) * one(tiff.TILE_HEIGHT, 0) > max(_LARGEST_TILE, 4 * width * height):
        raise corrupt("TIFF", f"its tiles are far larger than the picture of {height}x{width}")
    bits, kind = one(tiff.BITS, 1), one(tiff.SAMPLE_FORMAT, _UNSIGNED)
    depths = tags.values(tiff.BITS)
    if len(set(depths)) > 1:
        raise corrupt("TIFF", f"channels of different bit depth {depths} are not supported")
    dtype = _dtype(bits, kind)
    maximum = full_intensity(dtype)
    if kind == _UNSIGNED and 1 < bits < 8:
        maximum = float((1 << bits) - 1)
    photometric = one(tiff.PHOTOMETRIC, _BLACK_IS_ZERO)
    # Subsampled chroma takes fewer bits.
    _check_data(tags, height * width * (1 if photometric == _YCBCR else channels) * bits)
    color_map = None
    if photometric == _PALETTE:
        color_map = np.array(tags.values(tiff.COLOR_MAP), np.uint16).reshape(3, -1).T
        if bits not in (1, 2, 4, 8) or len(color_map) < 1 << bits:
            reason = f"a palette of {len(color_map)} entries for {bits} bits"
            raise corrupt("TIFF", reason)
        channels, dtype, maximum = 3, UINT16, 65535
    if photometric == _LAB:
        dtype, maximum = UINT8, 255
    planar = one(tiff.PLANAR, 1) == 2 and one(tiff.CHANNELS, 1) > 1
    turned = one(tiff.ORIENTATION, 1)
    return ImageInfo(
        "tiff",
        height,
        width,
        channels,
        dtype,
        turned if 1 <= turned <= 8 else 1,
        maximum,
        indexed=color_map is not None,
        detail=_TiffDetail(bits, photometric, planar, color_map),
    )


def _check_data(tags: tiff.Directory, bits: int) -> None:
    """Raises `SampleError` if the strips or tiles cannot hold `bits` bits of samples, even at the largest compression ratio."""
    sizes = tags.values(tiff.TILE_SIZES) or tags.values(tiff.STRIP_SIZES)
    ratio = _RATIOS.get(tags.one(tiff.COMPRESSION, 1))
    # Ignores the stored sizes of uncompressed data: some writers leave them at 0, and libtiff computes them.
    size = len(tags.view) if ratio == 1 else sum(sizes)
    if ratio and sizes and all(sizes) and bits > 8 * ratio * size:
        raise corrupt("TIFF", f"{size} bytes of data cannot hold {bits // 8} bytes of samples")


def _dtype(bits: int, kind: int) -> np.dtype:
    if kind == _FLOAT and bits in (16, 32, 64):
        return np.dtype(f"f{bits // 8}")
    if kind == _SIGNED and bits in (8, 16, 32):
        return np.dtype(f"i{bits // 8}")
    if kind == _UNSIGNED and (1 <= bits <= 16 or bits == 32):
        return UINT8 if bits <= 8 else UINT16 if bits <= 16 else np.dtype(np.uint32)
    raise corrupt("TIFF", f"samples of format {kind} with {bits} bits are not supported")


def decode(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    detail: _TiffDetail = info.detail
    is_cmyk = detail.photometric == _CMYK and info.channels == 4 and info.dtype in (UINT8, UINT16)
    is_cmyk &= detail.bits in (8, 16)
    if not is_cmyk and detail.photometric not in _SUPPORTED:
        raise corrupt("TIFF", f"photometric interpretation {detail.photometric} is not supported")
    if detail.photometric == _LAB and (info.channels != 3 or detail.bits not in (8, 16) or detail.planar):
        raise corrupt(
            "TIFF", "CIE Lab by planes, or of other than three channels of 8 or 16 bits, is not supported"
        )
    held = None if request.window is None else tiff.part(view, request.window)
    if held is not None:
        view, (top, left, height, width) = held
        info = dataclasses.replace(info, height=height, width=width)
    picture = _decode_page(view, info, is_cmyk)
    if held is not None and request.window is not None:
        y, x, rows, columns = request.window
        picture = picture[y - top : y - top + rows, x - left : x - left + columns]
    if request.output_type == INDEX:
        return with_channels(picture // 255 if detail.bits == 1 and detail.color_map is None else picture)
    if detail.color_map is not None:
        picture = detail.color_map[with_channels(picture)[..., 0]]
    if is_cmyk and request.output_type != ANY_DATA:
        picture = cmyk_to_rgb(picture, inverted=False)
    deep = 8 < detail.bits < 16
    # For these kinds of TIFF, DALI uses a library with a different formula for gray.
    other = deep or detail.planar or request.turned or is_cmyk or detail.photometric == _LAB
    if request.output_type == GRAY and info.channels > 2 and other:
        picture = gray_14bit(picture)
    if deep:
        # As in DALI, shifts the stored bits to the top of 16.
        picture = picture << (16 - detail.bits)
    return with_channels(picture)


def _decode_page(view: memoryview, info: ImageInfo, is_cmyk: bool) -> np.ndarray:
    """Decodes the stored samples, [H, W] or [H, W, C], with 0 as black; does not look up indices in the palette."""
    detail: _TiffDetail = info.detail
    codecs = imagecodecs()
    if codecs is None:
        return _decode_with_pillow(view, info)
    if is_cmyk:  # else imagecodecs would convert to RGB, and round differently from DALI
        view = _rewritten(view, info, _RGB)
    picture: np.ndarray
    if detail.photometric in (_YCBCR, _LAB):
        # Removes the orientation, because libtiff would apply it in its conversion to RGB.
        picture = codecs.tiff_decode(tiff.not_turned(view), asrgb=detail.photometric == _LAB)
        return picture[..., :3]
    picture = codecs.tiff_decode(view)
    if detail.planar:
        picture = np.moveaxis(picture, 0, -1)
    if picture.dtype == np.bool_:
        picture = picture.astype(np.uint8) * (1 if detail.color_map is not None else 255)
    if detail.photometric == _WHITE_IS_ZERO:
        picture = (info.maximum - picture).astype(picture.dtype)
    return picture


def _decode_with_pillow(view: memoryview, info: ImageInfo) -> np.ndarray:
    detail: _TiffDetail = info.detail
    bits, channels = detail.bits, 1 if detail.color_map is not None else info.channels
    # Pillow decodes a fourth channel correctly only if it is plain alpha. If it is premultiplied alpha, Pillow divides
    # the colours by it; if its meaning is unspecified, Pillow drops it.
    alpha = channels == 4 and tiff.read(view).one(tiff.EXTRA, _PLAIN_ALPHA) == _PLAIN_ALPHA
    simple = bits == 8 and info.dtype.kind == "u" and (channels in (1, 3) or alpha)
    # Pillow takes 0 as black in all 16-bit pictures.
    deep = bits == 16 and detail.photometric != _WHITE_IS_ZERO
    if not (simple or (channels == 1 and (bits == 1 or deep or info.dtype == np.float32))):
        need_imagecodecs(f"a TIFF image with {channels} channels of {bits} bits")
    if detail.planar and detail.photometric == _YCBCR:  # Pillow would read it as RGB, or fail
        need_imagecodecs("a TIFF image in YCbCr by planes")
    # Drops tags that the samples do not depend on, because Pillow would warn if such a tag is damaged.
    plain = _rewritten(view, info, detail.photometric)
    picture = open_with_pillow(TiffImagePlugin.TiffImageFile, plain, info)
    if picture.mode in ("YCbCr", "LAB"):  # Pillow's conversion to RGB differs from DALI's
        need_imagecodecs(f"a TIFF image in {picture.mode}")
    return as_stored(picture)


def _rewritten(view: memoryview, info: ImageInfo, photometric: int) -> memoryview:
    """Rewrites a file with only the tags that its samples depend on; sets the photometric interpretation."""
    plain = tiff.part(view, (0, 0, info.height, info.width), True, photometric)
    if plain is None:
        raise corrupt("TIFF", "its strips or tiles are outside of the file")
    return plain[0]


def _matches(view: memoryview) -> bool:
    return bytes(view[:4]) in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


FORMAT = Format("tiff", _matches, header, decode, gray_float)
