"""Small files of records made on the spot, by writers that share nothing with jdali's readers."""

from __future__ import annotations

import io
import struct
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_MAGIC = 0xCED7230A


def varint(value: int) -> bytes:
    """Base 128, low digits first; negative numbers as 64 bits."""
    value &= (1 << 64) - 1
    digits = []
    while True:
        digits.append(value & 0x7F)
        value >>= 7
        if not value:
            return bytes([d | 0x80 for d in digits[:-1]] + digits[-1:])


def field(number: int, value: bytes | int) -> bytes:
    """One field of a protocol buffer: a number or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def crc32c(data: bytes) -> int:
    """Castagnoli's CRC, a bit at a time."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17 & 0xFFFFFFFF) + 0xA282EAD8) & 0xFFFFFFFF)


def example(
    features: Mapping[str, Sequence[int] | Sequence[float] | Sequence[bytes]], *, packed: bool = True
) -> bytes:
    """A tf.train.Example; the kind of each list follows from its first element (none: an empty feature)."""
    entries = b""
    for name, values in features.items():
        first = values[0] if len(values) else None
        if isinstance(first, bytes):
            feature = field(1, b"".join(field(1, v) for v in values))
        elif isinstance(first, float):
            numbers = [struct.pack("<f", v) for v in values]
            feature = field(
                2, field(1, b"".join(numbers)) if packed else b"".join(b"\x0d" + n for n in numbers)
            )
        elif isinstance(first, int):
            numbers = [varint(v) for v in values]
            feature = field(
                3, field(1, b"".join(numbers)) if packed else b"".join(b"\x08" + n for n in numbers)
            )
        else:
            feature = b""
        entries += field(1, field(1, name.encode()) + field(2, feature))
    return field(1, entries)


def tfrecord(path: Path, records: Iterable[bytes]) -> list[tuple[int, int]]:
    """Writes a TFRecord file; offset and size of each record."""
    spans, out = [], b""
    for data in records:
        length = struct.pack("<Q", len(data))
        record = length + masked(length) + data + masked(data)
        spans.append((len(out), len(record)))
        out += record
    path.write_bytes(out)
    return spans


def index(path: Path, rows: Iterable[Sequence[object]]) -> str:
    """Writes a text file of rows of words; its path."""
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    return str(path)


def image_record(image: bytes, labels: Sequence[float]) -> bytes:
    """The data of MXNet's image record."""
    if len(labels) == 1:
        return struct.pack("<IfQQ", 0, labels[0], 7, 0) + image
    return struct.pack(f"<IfQQ{len(labels)}f", len(labels), 0, 7, 0, *labels) + image


def recordio(path: Path, records: Iterable[bytes]) -> list[int]:
    """Writes a RecordIO file, split at the magic number as MXNet does; the offset of each record."""
    offsets, out = [], b""
    magic = struct.pack("<I", _MAGIC)
    for data in records:
        offsets.append(len(out))
        cuts = [i for i in range(0, len(data) - 3, 4) if data[i : i + 4] == magic]
        parts = [data[a:b] for a, b in zip([0, *[c + 4 for c in cuts]], [*cuts, len(data)], strict=True)]
        for i, part in enumerate(parts):
            position = 0 if len(parts) == 1 else 1 if i == 0 else 3 if i == len(parts) - 1 else 2
            out += magic + struct.pack("<I", position << 29 | len(part)) + part + bytes(-len(part) % 4)
    path.write_bytes(out)
    return offsets


def tar(path: Path, members: Iterable[tuple[str, bytes]], *, format: int = tarfile.USTAR_FORMAT) -> list[int]:
    """Writes an archive; the offset of the content of each member."""
    with tarfile.open(path, "w", format=format) as archive:
        for name, content in members:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    with tarfile.open(path) as archive:
        return [member.offset_data for member in archive]
