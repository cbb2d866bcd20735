"""Parses chunks of Riegeli files, the container of ArrayRecord files.

Source: doc/riegeli_records_file_format.md of google/riegeli, cpp/layout.proto of google/array_record.
"""

from __future__ import annotations

import io
import struct
from typing import NamedTuple

import numpy as np

from jdali._storage import BadRecord
from jdali._system import limits
from jdali.readers.formats.arrow_columns import pa
from jdali.readers.formats.protobuf import varint, varints_of

BLOCK_BYTES = 1 << 16
# Size of a block header, bytes. Each block of the file begins with a header, even in the middle of a chunk.
_BLOCK_HEAD = 24
# Header of a chunk: hash of the header, size and hash of the data, kind and number of records, size of the decoded data.
_HEAD = struct.Struct("<QQQQQ")
HEAD_BYTES = _HEAD.size
RECORDS = ord("r")
_KINDS = {"s": "a signature", "m": "metadata", "p": "padding", "t": "transposed records, which are not read"}
_PLAIN, _BROTLI, _ZSTD, _SNAPPY = 0, ord("b"), ord("z"), ord("s")


class Chunk(NamedTuple):
    """The records of a chunk.

    Attributes:
        values: uint8 [bytes], the concatenated records.
        ends: int64 [records], end of each record.
    """

    values: np.ndarray
    ends: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        starts: np.ndarray = np.concatenate([[0], self.ends[:-1]])[: len(self.ends)]
        return starts


def parse_chunk(raw: bytes, offset: int) -> Chunk:
    """Parses a chunk of records; raises `BadRecord` if the chunk is damaged or of another kind.

    Hashes are not checked, because Python has no fast implementation of HighwayHash.

    Args:
        raw: the bytes of the chunk; further bytes may follow.
    """
    chunk = _without_block_heads(raw, offset)
    if len(chunk) < HEAD_BYTES:
        raise BadRecord(f"it has {len(chunk)} bytes, a chunk has at least {HEAD_BYTES}")
    _, size, _, kind, decoded = _HEAD.unpack_from(chunk)
    count = kind >> 8
    if kind & 0xFF != RECORDS:
        found = _KINDS.get(chr(kind & 0xFF), "no chunk")
        raise BadRecord(f"where a chunk of records should be is {found}")
    if size > len(chunk) - HEAD_BYTES:
        raise BadRecord(f"its chunk claims {size} bytes of {len(chunk) - HEAD_BYTES}")
    end = HEAD_BYTES + size
    length, at = varint(chunk, HEAD_BYTES + 1, end)
    if at + length > end:
        raise BadRecord("the sizes of its chunk reach past its end")
    compression = chunk[HEAD_BYTES]
    # Each size takes at most ten bytes.
    packed = np.frombuffer(_inflated(compression, chunk[at : at + length], 10 * count), np.uint8)
    values = np.frombuffer(_inflated(compression, chunk[at + length : end], decoded), np.uint8)
    sizes = np.zeros(0, np.int64)
    if len(packed):
        if packed[-1] >= 0x80:
            raise BadRecord("the sizes of its chunk are damaged")
        sizes, _ = varints_of(packed)
    ends = np.cumsum(sizes)
    if len(sizes) != count or (ends < 0).any() or (ends > decoded).any() or (ends[-1:] != decoded).any():
        raise BadRecord("the sizes of its chunk do not fit")
    if len(values) != decoded:
        raise BadRecord(f"its chunk has {len(values)} bytes of records, {decoded} were expected")
    return Chunk(values, ends)


def _without_block_heads(raw: bytes, offset: int) -> bytes:
    """Removes block headers from bytes that begin at `offset` in the file."""
    at = -offset % BLOCK_BYTES
    if at >= len(raw):
        return raw
    view = memoryview(raw)
    parts = [view[:at]]
    for begin in range(at, len(raw), BLOCK_BYTES):
        parts.append(view[begin + _BLOCK_HEAD : begin + BLOCK_BYTES])
    return b"".join(parts)


def _inflated(compression: int, data: bytes, most: int) -> bytes:
    """Decompresses bytes; raises `BadRecord`, without allocating the result, if it has more than `most` bytes."""
    if compression == _PLAIN:
        return data
    if compression not in (_BROTLI, _ZSTD, _SNAPPY):
        raise BadRecord(f"its chunk is compressed in an unknown way, {compression}")
    size, at = varint(data, 0, len(data))
    if size > most:
        raise BadRecord(f"its chunk claims to hold {size} bytes, at most {most} were expected")
    if size > limits.most("max_sample_bytes"):
        raise BadRecord(str(limits.exceeded("max_sample_bytes", f"its chunk of {size} bytes")))
    try:
        if compression == _SNAPPY:
            inflated: bytes = b""
            if varint(data, at, len(data))[0] == size:  # Snappy's data begin with their decompressed size
                inflated = pa.decompress(data[at:], size, "snappy", asbytes=True)
        elif compression == _ZSTD:
            inflated = pa.decompress(data[at:], size, "zstd", asbytes=True) if size else b""
        else:  # not `decompress`, which accepts a truncated stream
            inflated = pa.CompressedInputStream(io.BytesIO(data[at:]), "brotli").read(size + 1)
    except (ValueError, OSError, AssertionError) as error:
        raise BadRecord(f"its chunk cannot be decompressed: {error}") from error
    if len(inflated) != size:
        raise BadRecord(f"its chunk holds other than the {size} bytes that it claims")
    return inflated
