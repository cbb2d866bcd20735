"""Checks the sizes in the headers of Parquet pages, before Arrow allocates memory for them."""

from __future__ import annotations

from typing import NamedTuple

from jdali._storage import BadRecord

# Largest compression ratio of any codec. The file's codec is not looked up, because asking pyarrow for an unknown codec
# kills the process.
_RATIO = 1 << 16
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_DEEPEST = 16
# Field numbers of a page header.
_UNPACKED, _PACKED, _DATA, _DICTIONARY, _DATA_2 = 2, 3, 5, 7, 8
# Field numbers of the inner header of a page: number of values, encoding (version 1), encoding (version 2).
_COUNT, _ENCODING = 1, 2
_ENCODING_2 = 4
_PREFIXED = 7  # DELTA_BYTE_ARRAY: values share a prefix with the previous value


class Pages(NamedTuple):
    """Totals over the pages of a column chunk.

    Attributes:
        values: number of values.
        bytes: size of the uncompressed pages.
        repeated: largest number of bytes that a value can copy from a dictionary or from other values.
    """

    values: int
    bytes: int
    repeated: int


def pages_of(chunk: bytes, values: int) -> Pages:
    """Adds up the sizes of the pages of a column chunk, which should hold `values` values.

    Raises:
        BadRecord: a header is damaged, or claims more than its bytes can hold.
    """
    at = found = unpacked = repeated = 0
    while found < values:
        header = _Header(chunk, at)
        fields = header.struct(0)
        size, packed = fields.get(_UNPACKED), fields.get(_PACKED)
        if not isinstance(size, int) or not isinstance(packed, int) or size < 0 or packed < 0:
            raise BadRecord(f"the header of a page at byte {at} of its column has no sizes")
        if header.at + packed > len(chunk):
            raise BadRecord(f"a page at byte {at} of its column reaches past the column's end")
        if size > max(packed, 1) * _RATIO:
            raise BadRecord(f"a page of {packed} bytes cannot hold the {size} that it claims")
        unpacked += size
        count = 0
        for key, encoding in ((_DATA, _ENCODING), (_DATA_2, _ENCODING_2), (_DICTIONARY, 0)):
            inner = fields.get(key)
            if isinstance(inner, dict):
                claimed = inner.get(_COUNT)
                if not isinstance(claimed, int) or claimed < 0:
                    raise BadRecord(
                        f"the header of a page at byte {at} of its column has no number of values"
                    )
                if key == _DICTIONARY or inner.get(encoding) == _PREFIXED:
                    repeated = max(repeated, size)
                if key != _DICTIONARY:
                    count = claimed
        found += count
        at = header.at + packed
    return Pages(found, unpacked, repeated)


class _Header:
    """Parses a struct of Thrift's compact protocol; the attribute `at` is then the offset of the struct's end."""

    def __init__(self, data: bytes, at: int):
        self._data, self.at = data, at

    def _byte(self) -> int:
        if self.at >= len(self._data):
            raise BadRecord("its pages end before its values do")
        self.at += 1
        return self._data[self.at - 1]

    def _number(self) -> int:
        number = shift = 0
        while shift < 70:
            byte = self._byte()
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7
        raise BadRecord("the header of a page holds a number without an end")

    def _signed(self) -> int:
        number = self._number()
        return number >> 1 ^ -(number & 1)

    def struct(self, depth: int) -> dict[int, object]:
        if depth > _DEEPEST:
            raise BadRecord("the header of a page is nested too deeply")
        fields: dict[int, object] = {}
        last = 0
        while byte := self._byte():
            last = last + (byte >> 4) if byte >> 4 else self._signed()
            fields[last] = self._value(byte & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> object:
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in (_I16, _I32, _I64):
            return self._signed()
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_BYTE, _DOUBLE, _BINARY):
            size = {_BYTE: 1, _DOUBLE: 8}.get(kind) or self._number()
            self.at += size
            return None
        raise BadRecord("the header of a page holds what no such header has")
