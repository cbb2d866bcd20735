"""Decodes AVIF and HEIC with Pillow, imagecodecs or pillow-heif."""

from __future__ import annotations

import functools
import importlib
import io
import struct
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from jdali._system import limits
from jdali._system.extras import install
from jdali.codecs.av1_size import sizes
from jdali.codecs.base import (
    UINT8,
    UINT16,
    Format,
    ImageInfo,
    Request,
    corrupt,
    imagecodecs,
    need_imagecodecs,
    open_with_pillow,
    with_channels,
)
from jdali.codecs.color import gray_15bit
from jdali.codecs.jpeg2000 import boxes

_AVIF, _HEIC = (b"avif", b"avis"), (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx")
# A picture may have at most _LARGER times as many coded pixels as its boxes claim; a claim below _SMALL counts as
# _SMALL.
_LARGER, _SMALL = 4, 1 << 16
# Decoder configurations, "av1C" and "hvcC" boxes. Byte 2 of av1C has flags for 10 or 12 bits, for 12 bits and for gray;
# in hvcC, byte 16 has the chroma format (0 is gray) and byte 17 the bit depth.
_AV1_DEEP, _AV1_TWELVE, _AV1_GRAY, _HEVC_CHROMA, _HEVC_BITS = 0x40, 0x20, 0x10, 16, 17
# Types of auxiliary pictures ("auxC" boxes) that are the alpha of the primary picture.
_ALPHA = (b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", b"urn:mpeg:hevc:2015:auxid:1")
# For each number of channels in a header: which of a library's channels (RGB and alpha, even for gray) they are.
_KEPT = {1: [0], 2: [0, 3], 3: [0, 1, 2]}
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
# EXIF orientation for each pair (counterclockwise quarter turns, mirror axis or -1). The picture is mirrored last.
_ORIENTATION = {
    (0, -1): 1, (0, 0): 4, (0, 1): 2, (1, -1): 8, (1, 0): 5, (1, 1): 7, (2, -1): 3, (2, 0): 2, (2, 1): 4, (3, -1): 6,
    (3, 0): 7, (3, 1): 5,
}  # fmt: skip


def _brands(view: memoryview) -> list[bytes]:
    """Returns the brands of a file, the major brand first."""
    if bytes(view[4:8]) != b"ftyp":
        return []
    end = min(int.from_bytes(view[:4], "big"), len(view), 256)
    return [bytes(view[8:12]), *(bytes(view[at : at + 4]) for at in range(16, end - 3, 4))]


def _matches(view: memoryview, own: tuple[bytes, ...], others: tuple[bytes, ...]) -> bool:
    brand = next((brand for brand in _brands(view) if brand in own + others), None)
    return brand in own


def _inside(view: memoryview) -> dict[bytes, memoryview]:
    """Returns the boxes in the "meta" box, by type; raises `SampleError` without this box."""
    meta = next((content[4:] for kind, content in boxes(view) if kind == b"meta"), None)
    if meta is None:
        raise corrupt("HEIF", "it has no list of pictures")
    return dict(boxes(meta))


def _primary(
    inside: Mapping[bytes, memoryview],
) -> tuple[list[tuple[bytes, memoryview]], dict[bytes, memoryview]]:
    """Returns all properties, and the properties of the primary picture by kind."""
    wide = inside[b"pitm"][0] > 0
    primary = int.from_bytes(inside[b"pitm"][4 : 8 if wide else 6], "big")
    lists = dict(boxes(inside[b"iprp"]))
    properties = list(boxes(lists[b"ipco"]))
    links = lists[b"ipma"]
    of_item, of_link = ">I" if links[0] else ">H", ">H" if links[3] & 1 else ">B"
    (count,) = struct.unpack_from(">I", links, 4)
    at, found = 8, dict[bytes, memoryview]()
    for _ in range(count):
        (item,) = struct.unpack_from(of_item, links, at)
        at += struct.calcsize(of_item)
        number, at = links[at], at + 1
        for _ in range(number):
            (link,) = struct.unpack_from(of_link, links, at)
            at += struct.calcsize(of_link)
            index = link & (0x7FFF if of_link == ">H" else 0x7F)
            if item == primary and 1 <= index <= len(properties):
                kind, content = properties[index - 1]
                found.setdefault(kind, content)
        if item == primary:
            break
    return properties, found


def _bits(kind: bytes, content: memoryview) -> int:
    """Returns the bit depth if the property is a decoder configuration, else 8."""
    if kind == b"av1C":
        return (12 if content[2] & _AV1_TWELVE else 10) if content[2] & _AV1_DEEP else 8
    return (content[_HEVC_BITS] & 7) + 8 if kind == b"hvcC" else 8


def _channels(properties: list[tuple[bytes, memoryview]], own: Mapping[bytes, memoryview]) -> int:
    """Returns the number of channels of the primary picture: gray or RGB, and alpha."""
    # A picture in tiles has no configuration of its own.
    grays = _grays(own.items()) or _grays(properties)
    has_alpha = any(kind == b"auxC" and bytes(content[4:]).startswith(_ALPHA) for kind, content in properties)
    return (1 if grays and all(grays) else 3) + has_alpha


def _grays(properties: Iterable[tuple[bytes, memoryview]]) -> list[bool]:
    """Returns for each decoder configuration whether it is of a gray picture."""
    return [
        bool(content[2] & _AV1_GRAY) if kind == b"av1C" else not content[_HEVC_CHROMA] & 3
        for kind, content in properties
        if kind in (b"av1C", b"hvcC")
    ]


def header(view: memoryview, *, name: str) -> ImageInfo:
    inside = _inside(view)
    properties, own = _primary(inside)
    if b"ispe" not in own:
        raise corrupt(name.upper(), "it does not say its size")
    width, height = struct.unpack_from(">II", own[b"ispe"], 4)
    bits = max((_bits(kind, content) for kind, content in properties), default=8)
    turns = own[b"irot"][0] & 3 if b"irot" in own else 0
    orientation = _ORIENTATION[turns, own[b"imir"][0] & 1 if b"imir" in own else -1]
    if name == "heic":  # the decoder crops and rotates the picture
        limits.check("max_pixels", height * width, f"HEIC image of {height}x{width}")
        if b"clap" in own:
            width, width_of, height, height_of = struct.unpack_from(">IIII", own[b"clap"])
            width, height = round(width / max(width_of, 1)), round(height / max(height_of, 1))
        height, width = (width, height) if orientation > 4 else (height, width)
        orientation = 1
    else:
        # Check the coded size, because the decoder decodes the whole picture, then scales it to the size in the boxes.
        for rows, columns in sizes(view, inside):
            if rows * columns > _LARGER * max(height * width, _SMALL):
                reason = f"its data are {rows}x{columns} pixels, its header says {height}x{width}"
                raise corrupt("AVIF", reason)
    dtype, most = (UINT8, 255) if bits == 8 or name == "heic" else (UINT16, (1 << bits) - 1)
    channels = _channels(properties, own)
    return ImageInfo(name, height, width, channels, dtype, orientation, most, detail=bits)


@functools.cache
def _pillow_avif() -> Any | None:
    """Returns Pillow's AVIF plugin; None if Pillow was built without it."""
    try:
        features = importlib.import_module("PIL.features")
        plugin = importlib.import_module("PIL.AvifImagePlugin")
    except ImportError:
        return None
    return plugin.AvifImageFile if features.check("avif") else None


def _decode_avif(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    plugin = _pillow_avif()
    if info.dtype == UINT8 and plugin is not None:
        return with_channels(np.asarray(open_with_pillow(plugin, view, info).convert(_MODES[info.channels])))
    codecs = need_imagecodecs(
        f"an AVIF image of {info.detail} bits" if plugin is not None else "an AVIF image, or Pillow 11.3,"
    )
    return _as_told(codecs.avif_decode(view, index=0, numthreads=1), info)


def _as_told(picture: np.ndarray, info: ImageInfo) -> np.ndarray:
    """Returns the channels that the header tells of."""
    picture = with_channels(picture)
    return picture[..., _KEPT[info.channels]] if picture.shape[2] > info.channels else picture


def _decode_heic(view: memoryview, info: ImageInfo, request: Request) -> np.ndarray:
    try:
        heif: Any = importlib.import_module("pillow_heif")
    except ImportError:
        codecs = imagecodecs()
        if codecs is None or not codecs.HEIF.available:
            raise ImportError(f"a HEIC image needs the package pillow-heif: {install('heif')}") from None
        return _as_told(codecs.heif_decode(view, index=0), info)
    picture = heif.open_heif(io.BytesIO(view), convert_hdr_to_8bit=True)
    if picture.size != (info.width, info.height):
        width, height = picture.size
        raise corrupt("HEIC", f"its header says two sizes, {height}x{width} and {info.height}x{info.width}")
    # A copy, because older versions free the pixels together with `picture`.
    return _as_told(np.array(picture), info)


AVIF = Format(
    "avif",
    lambda view: _matches(view, _AVIF, _HEIC),
    functools.partial(header, name="avif"),
    _decode_avif,
    gray_15bit,
)
HEIC = Format(
    "heic",
    lambda view: _matches(view, _HEIC, _AVIF),
    functools.partial(header, name="heic"),
    _decode_heic,
    gray_15bit,
)
