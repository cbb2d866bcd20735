"""Reads Zarr arrays, versions 2 and 3: parses their metadata, and decodes their chunks.

Metadata can only select codecs in `CODECS`. Decompression is limited to the sizes of chunks in the metadata.
Source: https://zarr-specs.readthedocs.io.
"""

from __future__ import annotations

import bz2
import functools
import math
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jdali._storage import BadRecord
from jdali._storage import files as _storage
from jdali._system.extras import install
from jdali._system.regular_file import is_of_machine
from jdali.readers.formats.chunked import ChunkedArray, check_array
from jdali.readers.formats.kept import KeptPieces

try:
    from numcodecs import blosc, lz4, zstd
except ImportError:
    blosc = lz4 = zstd = None
try:
    from crc32c import crc32c
except ImportError:
    crc32c = None

_TYPES = {
    name: np.dtype(name)
    for name in ("bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
                 "float16", "float32", "float64")
}  # fmt: skip
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# Stored in place of the offset and the size of a chunk that is missing in its shard.
_MISSING = (1 << 64) - 1
_CRC_BYTES = 4
# A compressed chunk may have at most twice the size of its content, plus this many bytes for headers.
_CODEC_BYTES = 1024


def need_numcodecs(name: str) -> None:
    if zstd is None:
        raise ImportError(
            f"{name}: the package numcodecs, which decompresses chunks, is missing: {install('zarr')}"
        )


def _to_size(decode: Callable[[bytes, np.ndarray], Any], size_of: Callable[[bytes], int | None]) -> _Codec:
    """Builds a codec from `decode`, which fills an array; `size_of` reads the size of the array from the data."""

    def decompressed(data: bytes, size: int) -> bytes:
        claimed = size_of(data)
        if claimed is not None and claimed != size:
            raise BadRecord(f"its data claim {claimed} bytes, {size} were expected")
        out = np.zeros(size, np.uint8)
        decode(data, out)
        return out.tobytes()

    return decompressed


def _zstd_size(data: bytes) -> int | None:
    """Reads the content size from the header of a Zstandard frame (RFC 8878); None if the size is not stored."""
    if data[:4] != _ZSTD_MAGIC or len(data) < 5:
        raise BadRecord("its data are not a frame of Zstandard")
    flags = data[4]
    single, width = flags >> 5 & 1, flags >> 6
    at = 5 + (not single) + (0, 1, 2, 4)[flags & 3]
    if not width and not single:
        return None
    count = 1 << width
    field = int.from_bytes(data[at : at + count], "little")
    return field + 256 if count == 2 else field


def _uint32(at: int, data: bytes) -> int:
    if len(data) < at + 4:
        raise BadRecord("its data are cut short")
    found: int = struct.unpack_from("<I", data, at)[0]
    return found


def _zlib(data: bytes, size: int) -> bytes:
    return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(data, size + 1)  # 32 accepts zlib and gzip


def _bz2(data: bytes, size: int) -> bytes:
    return bz2.BZ2Decompressor().decompress(data, size + 1)


def _crc32c(data: bytes, _: int) -> bytes:
    if len(data) < _CRC_BYTES:
        raise BadRecord("its data are cut short")
    content = data[:-_CRC_BYTES]
    if crc32c is not None and crc32c(content) != struct.unpack("<I", data[-_CRC_BYTES:])[0]:
        raise BadRecord("its CRC is wrong; the chunk is damaged")
    return content


_Codec = Callable[[bytes, int], bytes]
"""Decompresses bytes to a given size; may return one byte more if the data hold more."""
CODECS: dict[str, _Codec] = {
    "zstd": _to_size(lambda data, out: zstd.decompress(data, out), _zstd_size),
    "blosc": _to_size(lambda data, out: blosc.decompress(data, out), functools.partial(_uint32, 4)),
    "lz4": _to_size(lambda data, out: lz4.decompress(data, out), functools.partial(_uint32, 0)),
    "zlib": _zlib,
    "gzip": _zlib,
    "bz2": _bz2,
}


class Layout(NamedTuple):
    """The stored form of a chunk.

    Attributes:
        codecs: codecs in encoding order, which decoding reverses.
        dtype: stored type of the elements.
        order: order of the axes in the stored chunk.
        checked: a CRC follows the data.
    """

    codecs: tuple[str, ...]
    dtype: np.dtype
    order: tuple[int, ...]
    checked: bool

    def decode(self, data: bytes, shape: tuple[int, ...]) -> np.ndarray:
        """Decodes a chunk; raises `BadRecord` if it is damaged."""
        size = math.prod(shape) * self.dtype.itemsize
        try:
            if self.checked:
                data = _crc32c(data, size)
            for codec in reversed(self.codecs):
                data = CODECS[codec](data, size)
        except (ValueError, RuntimeError, OSError, EOFError, zlib.error) as error:
            if is_of_machine(error) or isinstance(error, BadRecord):
                raise
            raise BadRecord(f"it cannot be decompressed: {error}") from error
        if len(data) != size:
            raise BadRecord(f"it has {len(data)} bytes, {size} were expected")
        stored = np.frombuffer(data, self.dtype).reshape([shape[axis] for axis in self.order])
        array = stored.transpose(np.argsort(self.order)).astype(self.dtype.newbyteorder("="), copy=False)
        return array.view(np.uint8).astype(bool) if array.dtype == bool else array


class _Shard(NamedTuple):
    """A file of several chunks.

    Attributes:
        places: uint64 [*chunks, 2], offset and size of each chunk.
    """

    read: Callable[[int, int], bytes]
    places: np.ndarray


class ZarrArray(ChunkedArray):
    """A Zarr array.

    Args:
        shape, chunks: shapes of the array and of a chunk.
        fill: value of missing chunks.
        prefix, separator: parts of the names of chunk files.
        shard: shape of a shard; None: each chunk is a file.
        at_end: a shard has its index at the end; otherwise at the start.
        index_checked: a CRC follows the index of a shard.
    """

    def __init__(
        self,
        folder: str,
        shape: Sequence[int],
        chunks: Sequence[int],
        layout: Layout,
        fill: Any,
        prefix: str,
        separator: str,
        shard: tuple[int, ...] | None = None,
        at_end: bool = True,
        index_checked: bool = True,
    ):
        super().__init__(shape, chunks, layout.dtype.newbyteorder("="))
        self._folder, self._layout, self._prefix, self._separator = folder, layout, prefix, separator
        if self.dtype.kind != "f" and not float(fill).is_integer():
            raise ValueError(f"has the fill value {fill!r:.60} for integers")
        self._fill = np.full((), fill, self.dtype)
        self._shard, self._at_end, self._index_checked = shard, at_end, index_checked
        self._shards = KeptPieces[_Shard | None](
            16, lambda shard: 0 if shard is None else shard.places.nbytes
        )

    def read(self, chunk: tuple[int, ...]) -> np.ndarray:
        path = self._path(chunk if self._shard is None else self._of_shard(chunk))
        try:
            if self._shard is None:
                data: bytes | None = _storage.read(path)
            else:
                data = self._from_shard(path, chunk)
        except FileNotFoundError:
            data = None
        except OSError as error:
            if is_of_machine(error):
                raise
            raise BadRecord(f"{path} cannot be read: {error.strerror or error}") from error
        if data is None:
            return np.full(self.chunks, self._fill, self.dtype)
        try:
            return self._layout.decode(data, self.chunks)
        except BadRecord as error:
            raise BadRecord(f"the chunk at {list(chunk)}: {error}") from error

    def _path(self, position: tuple[int, ...]) -> str:
        name = self._separator.join(
            [self._prefix, *map(str, position)] if self._prefix else map(str, position)
        )
        return _storage.join(self._folder, _storage.plain(name or "0"))

    def _of_shard(self, chunk: tuple[int, ...]) -> tuple[int, ...]:
        assert self._shard is not None
        sizes = zip(chunk, self.chunks, self._shard, strict=True)
        return tuple(at * size // whole for at, size, whole in sizes)

    def _from_shard(self, path: str, chunk: tuple[int, ...]) -> bytes | None:
        assert self._shard is not None
        grid = tuple(whole // size for whole, size in zip(self._shard, self.chunks, strict=True))
        shard = self._shards.get(path, functools.partial(self._opened_shard, path, grid))
        if shard is None:
            return None
        inside = tuple(at % count for at, count in zip(chunk, grid, strict=True))
        offset, size = map(int, shard.places[inside])
        if offset == size == _MISSING:
            return None
        if size > 2 * math.prod(self.chunks) * self.dtype.itemsize + _CODEC_BYTES or offset >= 1 << 62:
            raise BadRecord(f"the index of {path} claims {size} bytes from byte {offset} on")
        return shard.read(offset, size)

    def _opened_shard(self, path: str, grid: tuple[int, ...]) -> _Shard | None:
        """Reads the index of a shard; None if the file is missing."""
        size = 16 * math.prod(grid) + _CRC_BYTES * self._index_checked
        try:
            total, read = _storage.parts_of(path)
        except FileNotFoundError:
            return None
        if total < size:
            raise BadRecord(f"{path} has {total} bytes, its index alone has {size}")
        data = read(total - size if self._at_end else 0, size)
        if self._index_checked:
            data = _crc32c(data, size)
        return _Shard(read, np.frombuffer(data, "<u8").reshape(*grid, 2))


def opened_array(folder: str, metadata: Mapping[str, Any], axis: int) -> ZarrArray:
    """Builds an array from its metadata; callers prefix ValueErrors with the name of the metadata file."""
    try:
        if metadata.get("zarr_format") == 2:
            array = _version_2(folder, metadata)
        elif metadata.get("zarr_format") == 3:
            array = _version_3(folder, metadata)
        else:
            raise ValueError(f"is of version {metadata.get('zarr_format')}; 2 and 3 are read")
    except (KeyError, TypeError, AttributeError, OverflowError, IndexError) as error:
        raise ValueError(f"has damaged metadata: {type(error).__name__} {error}") from error
    check_array(array.shape, array.chunks, array.dtype, axis)
    return array


def _sizes(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list) or any(type(v) is not int or not 0 <= v < 1 << 48 for v in values):
        raise ValueError(f"has damaged metadata: {values!r:.60} is not a shape")
    return tuple(values)


def _separator(value: object) -> str:
    if value not in ("/", "."):
        raise ValueError(f"has {value!r} in the names of its files, where '/' or '.' should be")
    return str(value)


def _codec(name: object) -> str:
    if name not in CODECS:
        raise ValueError(f"is compressed by {name!r}; {', '.join(CODECS)} are read")
    return str(name)


def _version_2(folder: str, facts: Mapping[str, Any]) -> ZarrArray:
    shape, chunks = _sizes(facts["shape"]), _sizes(facts["chunks"])
    text = facts["dtype"]
    if not isinstance(text, str) or text[1:2] not in tuple("biuf") or len(text) > 4:
        raise ValueError(f"is of type {text!r:.60}; numbers and booleans are read")
    if facts.get("filters"):
        raise ValueError(f"has filters, which are not read: {facts['filters']!r:.60}")
    compressor = facts.get("compressor")
    codecs = (_codec(compressor["id"]),) if compressor else ()
    order = tuple(range(len(shape)))
    layout = Layout(codecs, np.dtype(text), order[::-1] if facts.get("order") == "F" else order, False)
    fill = facts.get("fill_value")
    return ZarrArray(
        folder, shape, chunks, layout, _fill(fill), "", _separator(facts.get("dimension_separator", "."))
    )


def _version_3(folder: str, facts: Mapping[str, Any]) -> ZarrArray:
    if facts.get("node_type") != "array":
        raise ValueError(f"is a {facts.get('node_type')!r}, no array; name one in array=")
    grid, keys = facts["chunk_grid"], facts["chunk_key_encoding"]
    if grid["name"] != "regular" or facts.get("storage_transformers"):
        raise ValueError("has a grid or transformers that are not read")
    shape, chunks = _sizes(facts["shape"]), _sizes(grid["configuration"]["chunk_shape"])
    if facts["data_type"] not in _TYPES:
        raise ValueError(f"is of type {facts['data_type']!r:.60}; numbers and booleans are read")
    prefix = {"default": "c", "v2": ""}[keys["name"]]
    default = "/" if prefix else "."
    separator = _separator(keys.get("configuration", {}).get("separator", default))
    dtype, codecs = _TYPES[facts["data_type"]], facts["codecs"]
    fill = _fill(facts.get("fill_value"))
    if codecs[0]["name"] != "sharding_indexed":
        return ZarrArray(folder, shape, chunks, _layout(codecs, dtype, len(shape)), fill, prefix, separator)
    inner = codecs[0]["configuration"]
    parts = _sizes(inner["chunk_shape"])
    if (
        len(codecs) > 1
        or len(parts) != len(chunks)
        or any(min(p, c) < 1 or c % p for p, c in zip(parts, chunks, strict=True))
    ):
        raise ValueError(f"has shards of shape {list(chunks)} in chunks of {list(parts)}, which are not read")
    of_index = _layout(inner["index_codecs"], np.dtype("<u8"), len(shape) + 1)
    if of_index.codecs or of_index.dtype.byteorder == ">":
        raise ValueError("has shards with a compressed index, which is not read")
    return ZarrArray(
        folder, shape, parts, _layout(inner["codecs"], dtype, len(shape)), fill, prefix, separator,
        shard=chunks, at_end=inner.get("index_location", "end") == "end", index_checked=of_index.checked,
    )  # fmt: skip


def _layout(codecs: Sequence[Mapping[str, Any]], dtype: np.dtype, axes: int) -> Layout:
    order, names, checked, left = tuple(range(axes)), [], False, list(codecs)
    if left and left[0]["name"] == "transpose":
        given = left.pop(0)["configuration"]["order"]
        if sorted(given) != list(order):
            raise ValueError(f"has damaged metadata: {given!r:.60} is not an order of axes")
        order = tuple(given)
    if not left or left[0]["name"] != "bytes":
        raise ValueError(f"has codecs that are not read: {[codec['name'] for codec in codecs]!r:.80}")
    endian = left.pop(0).get("configuration", {}).get("endian", "little")
    if left and left[-1]["name"] == "crc32c":
        left.pop()
        checked = True
    for codec in left:
        names.append(_codec(codec["name"]))
    return Layout(tuple(names), dtype.newbyteorder("<" if endian == "little" else ">"), order, checked)


def _fill(value: Any) -> Any:
    """Parses a fill value; raises ValueError for a value that is neither a number nor null."""
    if value is None:
        return 0
    if isinstance(value, (bool, int, float)):
        return value
    if value in ("NaN", "Infinity", "-Infinity"):
        return float(value)
    raise ValueError(f"has the fill value {value!r:.60}, which is not a number")
