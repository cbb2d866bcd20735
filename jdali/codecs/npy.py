"""Reads the headers and arrays of NumPy's .npy files, or windows of the arrays.

The format is NumPy's `lib.format`, versions 1.0 to 3.0: a magic string, the version, the length of the header, the
header (a Python dictionary as text), then the elements. Regular expressions parse the header, so no code in a file is
evaluated or unpickled.
"""

from __future__ import annotations

import functools
import math
import re
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jdali._errors import SampleError

_MAGIC = b"\x93NUMPY"
# Format of the field with the header's length, by major version.
_LENGTH = {1: struct.Struct("<H"), 2: struct.Struct("<I"), 3: struct.Struct("<I")}
_VERSION_END = len(_MAGIC) + 2
# Maximum size of a header, bytes. NumPy writes some hundred, and by default rejects more than 10,000.
_LONGEST_HEADER = 1 << 16
# A first read of this many bytes contains nearly every header.
FIRST_READ = 1024
_MOST_AXES = 32
_MOST_BYTES = 1 << 62

_KEY = re.compile(r"\s*(['\"])(descr|fortran_order|shape)\1\s*:\s*")
_TEXT = re.compile(r"(['\"])([^'\"\\]*)\1")
_FLAG = re.compile(r"True|False")
# As in Python, a single extent needs a comma. Python 2 wrote an L after each extent.
_SHAPE = re.compile(r"\(\s*((?:\d{1,19}L?\s*,\s*)*)(\d{1,19}L?\s*)?\)")
_EXTENT = re.compile(r"\d+")
_COMMA = re.compile(r"\s*(,|(?=\}))\s*")
_TYPES = {
    f"{kind}{size}": np.dtype(f"<{kind}{size}")
    for kind, sizes in (("b", (1,)), ("i", (1, 2, 4, 8)), ("u", (1, 2, 4, 8)), ("f", (2, 4, 8)))
    for size in sizes
}  # fmt: skip

Read = Callable[[int, int], Any]
# In a window, gaps of up to this many bytes are cheaper to read than to skip. One call reads at least one row, and as
# many rows as fit in _GAPS_AT_ONCE * SMALL_GAP bytes. This size outweighs the cost of a call, and fits in the
# processor's caches.
SMALL_GAP = 1 << 14
_GAPS_AT_ONCE = 16


class Header(NamedTuple):
    """The header of a file.

    Attributes:
        dtype: stored type of the elements, possibly big-endian.
        shape: shape of the array.
        fortran: the first axis varies fastest in the file.
        start: offset of the elements, bytes.
    """

    dtype: np.dtype
    shape: tuple[int, ...]
    fortran: bool
    start: int

    @property
    def size(self) -> int:
        """Size of all elements, bytes."""
        return math.prod(self.shape) * self.dtype.itemsize


def header_size(head: Any) -> int:
    """Returns the number of bytes before the elements.

    Args:
        head: the first bytes of the file, at least 12 unless the file is shorter.
    """
    first = bytes(head[: _VERSION_END + 4])
    if first[: len(_MAGIC)] != _MAGIC:
        raise SampleError(
            f"Got bad magic string for numpy header 0x{first[: len(_MAGIC)].hex()}, expected 0x{_MAGIC.hex()}: "
            + (
                "it is empty, no .npy file"
                if not first
                else f"it is not a .npy file: it begins with {first[:8]!r}"
            )
        )
    if len(first) < _VERSION_END:
        raise SampleError(f"the .npy file is cut short after {len(first)} bytes")
    length = _LENGTH.get(first[len(_MAGIC)])
    if length is None:
        raise SampleError(
            f"Unsupported numpy file version: version {first[len(_MAGIC)]}.{first[len(_MAGIC) + 1]} of the .npy format "
            "is not known (1.0 to 3.0 are)"
        )
    if len(first) < _VERSION_END + length.size:
        raise SampleError(f"the .npy file is cut short after {len(first)} bytes")
    size = length.unpack_from(first, _VERSION_END)[0]
    if size > _LONGEST_HEADER:
        raise SampleError(
            f"the .npy header says that it has {size} bytes; more than {_LONGEST_HEADER} are damage"
        )
    return _VERSION_END + length.size + int(size)


def parse_header(head: Any, file_size: int) -> Header:
    """Parses the header of a file, and checks it against the size of the file.

    Args:
        head: the first bytes of the file, at least the whole header (`header_size`) unless the file is shorter.

    Raises:
        SampleError: the file is not a .npy file, it is damaged or truncated, or its elements are not numbers.
    """
    start = header_size(head)
    if start > min(len(head), file_size):
        raise SampleError(
            f"Header length exceeds input size: the header of {start} bytes reaches past the end of the file of {file_size} bytes"
        )
    header = _parsed(bytes(head[:start]))
    if header.size > file_size - start:
        raise SampleError(
            f"Expected data numpy size {start + header.size} bytes does not match the actual size {file_size} bytes: "
            f"the header promises {header.size} bytes of elements ({header.dtype.str} {list(header.shape)}) "
            f"from byte {start} on, but the file has {file_size} bytes; it is damaged or cut short"
        )
    return header


def _parsed(head: bytes) -> Header:
    # Caches parsed headers, since a data set has few distinct ones. Long headers are not cached; NumPy writes none.
    return _parsed_once(head) if len(head) <= FIRST_READ else _parsed_once.__wrapped__(head)


@functools.lru_cache(maxsize=4096)
def _parsed_once(head: bytes) -> Header:
    text = head[_VERSION_END + _LENGTH[head[len(_MAGIC)]].size :].decode("latin-1")
    entries: dict[str, str] = {}
    opening = re.match(r"\s*\{", text)
    at = opening.end() if opening else 0
    while opening and (key := _KEY.match(text, at)):
        name = key[2]
        if name == "descr" and text[key.end() : key.end() + 1] in ("[", "("):
            raise SampleError("the array has a structured type, whose elements are not numbers")
        pattern = {"descr": _TEXT, "fortran_order": _FLAG, "shape": _SHAPE}[name]
        value = pattern.match(text, key.end())
        comma = _COMMA.match(text, value.end()) if value else None
        if value is None or comma is None or name in entries:
            raise SampleError(f"the .npy header is damaged at {text[key.start() : key.start() + 60]!r}")
        entries[name] = value[0]
        at = comma.end()
        if not comma[1]:
            break
    if not opening or not re.fullmatch(r"\s*\}\s*", text[at:]):
        raise SampleError(f"the .npy header is damaged at {text[at : at + 60]!r}")
    missing = {"descr", "fortran_order", "shape"} - set(entries)
    if missing:
        raise SampleError(f"the .npy header lacks {', '.join(sorted(missing))}")
    dtype = _element_type(entries["descr"][1:-1])
    shape = tuple(int(extent) for extent in _EXTENT.findall(entries["shape"]))
    _check_shape(entries["shape"], shape, dtype)
    return Header(dtype, shape, entries["fortran_order"] == "True", len(head))


def _element_type(descr: str) -> np.dtype:
    order, code = (descr[0], descr[1:]) if descr and descr[0] in "<>=|" else ("=", descr)
    if code[:1] == "O":
        raise SampleError(
            f"Unknown Numpy type string: {code[:40]}: the array holds Python objects, which are never unpickled"
        )
    if code not in _TYPES:
        raise SampleError(
            f"Unknown Numpy type string: {code[:40]}: the array has elements of type {descr[:40]!r}; only numbers and "
            "booleans can be read"
        )
    return _TYPES[code].newbyteorder(">") if order == ">" else _TYPES[code]


def _check_shape(text: str, shape: tuple[int, ...], dtype: np.dtype) -> None:
    if len(shape) == 1 and "," not in text:
        raise SampleError(f"the .npy header is damaged: its shape {text} is not a tuple")
    if len(shape) > _MOST_AXES:
        raise SampleError(f"the array has {len(shape)} axes; at most {_MOST_AXES} can be read")
    # Ignores axes of length 0, which would hide an overflow.
    if math.prod(extent for extent in shape if extent) * dtype.itemsize > _MOST_BYTES:
        raise SampleError(f"the .npy header is damaged: no array has the shape {text[:60]}")


def decode(content: Any, *, exact: bool = False) -> np.ndarray:
    """Decodes the array in a file's bytes, in this machine's byte order and C order.

    Args:
        exact: raise `SampleError` if bytes follow the elements.
    """
    header = parse_header(content, len(content))
    end = header.start + header.size
    if exact and end != len(content):
        raise SampleError(
            f"Expected data numpy size {end} bytes does not match the actual size {len(content)} bytes: "
            f"{len(content) - end} bytes follow the elements"
        )
    flat = np.frombuffer(content, header.dtype, count=math.prod(header.shape), offset=header.start)
    return native(flat.reshape(header.shape[::-1]).T if header.fortran else flat.reshape(header.shape))


def native(array: np.ndarray) -> np.ndarray:
    """Converts an array to C order and this machine's byte order; normalizes booleans to 0 and 1."""
    if array.flags.c_contiguous and array.dtype.isnative and array.dtype.kind != "b":
        return array
    if array.dtype.kind == "b":
        return np.not_equal(array.view(np.uint8), 0, order="C")
    return np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)


def read_header(read: Read, file_size: int) -> Header:
    head = read(0, min(FIRST_READ, file_size))
    if len(head) < file_size and header_size(head) > len(head):
        head = read(0, min(header_size(head), file_size))
    return parse_header(head, file_size)


def read_window(
    read: Read, header: Header, anchor: tuple[int, ...], sizes: tuple[int, ...], gap: int = SMALL_GAP
) -> np.ndarray:
    """Reads a window of an array; skips most elements outside the window.

    Args:
        anchor, sizes: start and size of the window, which must lie inside the array.
        gap: gaps of up to this many bytes between parts of the window are read, larger gaps are skipped.
    """
    shape = header.shape
    if header.fortran:
        shape, anchor, sizes = shape[::-1], anchor[::-1], sizes[::-1]
    out = np.empty(sizes, header.dtype)
    if out.size:
        item = header.dtype.itemsize
        strides = [item * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        start = header.start + sum(a * s for a, s in zip(anchor, strides, strict=True))
        _fill(out, read, start, tuple(strides), gap)
    return native(out.T if header.fortran else out)


def _fill(out: np.ndarray, read: Read, start: int, strides: tuple[int, ...], gap: int) -> None:
    """Reads the elements of `out`. In the file, they begin at byte `start` and have strides of `strides` bytes."""
    item = out.itemsize
    row = item + sum((n - 1) * s for n, s in zip(out.shape[1:], strides[1:], strict=True))
    if not out.ndim:
        out[...] = np.frombuffer(read(start, item), out.dtype)[0]
    elif strides[0] - row > gap:  # the outermost axis has the largest gaps
        for i in range(len(out)):
            _fill(out[i : i + 1].reshape(out.shape[1:]), read, start + i * strides[0], strides[1:], gap)
    else:
        rows = max(1, _GAPS_AT_ONCE * gap // strides[0])
        for i in range(0, len(out), rows):
            part = out[i : i + rows]
            data = read(start + i * strides[0], row + (len(part) - 1) * strides[0])
            part[...] = np.ndarray(part.shape, out.dtype, data, strides=strides)
