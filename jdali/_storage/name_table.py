"""Stores the names of millions of files in one buffer, without a Python object per name."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import overload

import numpy as np

_NEWLINE, _ZERO, _NINE = ord("\n"), ord("0"), ord("9")
_SPACES = np.zeros(256, bool)
_SPACES[list(b" \t\n\r\f\v")] = True
_ENCODING = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()  # as in `os.fsdecode`
# Bytes of text that are split into lines at a time; keeps temporary arrays small.
_CHUNK_BYTES = 1 << 22
# Maximum number of digits of a label; a longer label might not fit into 64 bits.
MOST_DIGITS = 18


class NameTable(Sequence[str]):
    """A sequence of names, each decoded when it is read.

    Args:
        text: all names, in the file system's encoding.
        starts: uint32 or int64 [n], the first byte of each name in `text`.
        sizes: int32 [n], bytes of each name.
        others: {index: name}, names that replace the names in `text`.
    """

    def __init__(
        self,
        text: bytes | memoryview,
        starts: np.ndarray,
        sizes: np.ndarray,
        others: Mapping[int, str] | None = None,
    ):
        self.text = text
        self._starts, self._sizes = starts, sizes.astype(np.int32, copy=False)
        self.others = dict(others or {})

    def __reduce__(self) -> tuple[object, ...]:
        # Converts the text to an array, because arrays are pickled without a copy.
        return _received, (np.frombuffer(self.text, np.uint8), self._starts, self._sizes, self.others)

    @classmethod
    def of(cls, names: Iterable[str]) -> NameTable:
        others: dict[int, str] = {}
        encoded = []
        for index, name in enumerate(names):
            try:
                encoded.append(os.fsencode(name))
            except UnicodeEncodeError:  # no file can have such a name, so opening it will raise
                others[index] = name
                encoded.append(b"")
        sizes = np.fromiter(map(len, encoded), np.int64, len(encoded))
        # A newline ends each name, so `holding` finds no match across two names.
        starts = np.cumsum(sizes + 1) - sizes - 1
        return cls(b"\n".join(encoded), starts, sizes, others)

    @classmethod
    def joined(cls, tables: Sequence[NameTable]) -> NameTable:
        shifts = np.cumsum([0, *(len(table.text) for table in tables)])
        counts = np.cumsum([0, *(len(table) for table in tables)])
        starts = [
            table._starts.astype(np.int64) + shift
            for table, shift in zip(tables, shifts.tolist(), strict=False)
        ]
        sizes = [table._sizes for table in tables]
        others = {
            index + first: name
            for table, first in zip(tables, counts.tolist(), strict=False)
            for index, name in table.others.items()
        }
        start, size = (np.concatenate([*parts, np.zeros(0, np.int64)]) for parts in (starts, sizes))
        return cls(b"".join(table.text for table in tables), start, size, others)

    def with_others(self, others: Mapping[int, str]) -> NameTable:
        """Returns a copy of the table with other names at some indices."""
        return NameTable(self.text, self._starts, self._sizes, self.others | dict(others))

    @property
    def nbytes(self) -> int:
        return len(self.text) + self._starts.nbytes + self._sizes.nbytes

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        position = range(len(self))[index]
        return self.others[position] if position in self.others else os.fsdecode(self.encoded(position))

    def encoded(self, index: int) -> bytes:
        """Returns an encoded name from `text`; ignores `others`."""
        start = self._starts.item(index)
        return bytes(self.text[start : start + self._sizes.item(index)])

    def take(self, indices: np.ndarray) -> list[str]:
        text, starts = self.text, self._starts[indices]
        ends = starts + self._sizes[indices]
        names = [str(text[a:b], *_ENCODING) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        if self.others:
            for position, index in enumerate(indices.tolist()):
                names[position] = self.others.get(index, names[position])
        return names

    def __iter__(self) -> Iterator[str]:
        return iter(self.take(np.arange(len(self))))

    def holding(self, pattern: re.Pattern[bytes]) -> list[int]:
        """Returns the indices of the names that match a one-line pattern, in ascending order; ignores `others`."""
        found = np.fromiter((match.start() for match in pattern.finditer(self.text)), np.int64)
        if not len(found):
            return []
        indices = np.unique(np.searchsorted(self._starts, found, "right") - 1)
        indices = indices[indices >= 0]
        ends = self._starts[indices] + self._sizes[indices]
        first = found[np.searchsorted(found, self._starts[indices])]
        return indices[first < ends].tolist()

    def starting_with(self, letter: str) -> list[int]:
        """Returns the indices of the names that start with a given ASCII letter, in ascending order."""
        full = np.flatnonzero(self._sizes)
        firsts = np.frombuffer(self.text, np.uint8)[self._starts[full]]
        return full[firsts == ord(letter)].tolist()


def _received(
    text: np.ndarray, starts: np.ndarray, sizes: np.ndarray, others: Mapping[int, str]
) -> NameTable:
    return NameTable(text.data, starts, sizes, others)


def take(names: Sequence[str], indices: np.ndarray) -> list[str]:
    return names.take(indices) if isinstance(names, NameTable) else [names[i] for i in indices.tolist()]


class BadLine(ValueError):
    """A line of a list is invalid. `number` is the line number, from 1; `line` is its bytes."""

    def __init__(self, number: int, line: bytes):
        super().__init__(number, line)
        self.number, self.line = number, line


class ListedNames:
    """Parses a text file that has a name, and optionally a label, on each line; skips blank lines.

    Args:
        labelled: the last word of each line is a label.

    Attributes:
        starts: uint32 or int64 [n], the first byte of each name in `text`.
        sizes: int32 [n], bytes of the names.
        labels: int32 [n]; empty if not `labelled`.

    Raises:
        BadLine: a line has no name or no label, a label that is too large, or a zero byte in its name.
    """

    def __init__(self, text: bytes, *, labelled: bool, largest_label: int = 0):
        self._bytes = np.frombuffer(text, np.uint8)
        self._text, self._labelled, self._largest = text, labelled, largest_label
        # Allocates each column once, because joining the columns of all chunks would fragment the heap.
        most = text.count(b"\n") + (not text.endswith(b"\n"))
        offset = np.uint32 if len(text) <= np.iinfo(np.uint32).max else np.int64
        self.starts: np.ndarray = np.empty(most, offset)
        self.sizes: np.ndarray = np.empty(most, np.int32)
        self.labels: np.ndarray = np.empty(most if labelled else 0, np.int32)
        blank: list[np.ndarray] = []  # numbers of the blank lines, from 0
        size = line = 0
        for starts, ends, labels, without in self._parts():
            here = slice(size, size + len(starts))
            self.starts[here], self.sizes[here] = starts, ends - starts
            if labelled:
                self.labels[here] = labels
            blank.append(without + line)
            size += len(starts)
            line += len(starts) + len(without)
        self.starts, self.sizes, self.labels = (
            column if len(column) == size else column[:size].copy()
            for column in (self.starts, self.sizes, self.labels)
        )
        self._blank = np.concatenate([*blank, np.zeros(0, np.int64)])

    def table(self) -> NameTable:
        return NameTable(self._text, self.starts, self.sizes)

    def line(self, index: int) -> int:
        names_before = self._blank - np.arange(len(self._blank))  # for each blank line
        return index + 1 + int(np.searchsorted(names_before, index, "right"))

    def _parts(self) -> Iterator[tuple[np.ndarray, ...]]:
        start, line = 0, 0
        while start < len(self._text):
            end = self._text.find(b"\n", start + _CHUNK_BYTES)
            end = len(self._text) if end < 0 else end + 1
            ends = np.flatnonzero(self._bytes[start:end] == _NEWLINE) + start
            if not len(ends) or ends[-1] != end - 1:
                ends = np.append(ends, end)  # the last line of a file may have no newline
            starts = np.concatenate([[start], ends[:-1] + 1])
            yield self._lines(starts, ends, line)
            start, line = end, line + len(ends)

    def _lines(self, starts: np.ndarray, ends: np.ndarray, line: int) -> tuple[np.ndarray, ...]:
        """Returns starts, ends and labels of the names in some lines, and the indices of the blank lines.

        `line` is the number of lines in the file before the first of these lines.
        """
        stripped = self._without_spaces(starts, ends)
        full = stripped > starts
        line_ends, blank, numbers = ends[full], np.flatnonzero(~full), np.flatnonzero(full)
        starts, ends = starts[full], stripped[full]
        if not self._labelled:
            return self._without_leading_spaces(starts, ends), ends, np.zeros(0, np.int64), blank
        labels, digits = self._labels(starts, ends)
        gaps = ends - digits
        name_ends = self._without_spaces(starts, gaps)
        bad = (digits == 0) | (name_ends == gaps) | (name_ends == starts) | (labels > self._largest)
        bad |= self._with_nul(starts, name_ends)
        if bad.any():
            first = int(bad.argmax())
            raise BadLine(line + 1 + int(numbers[first]), self._text[starts[first] : line_ends[first]])
        return starts, name_ends, labels, blank

    def _without_spaces(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Excludes trailing white space: moves `ends` back, at most to `starts`."""
        ends = ends.copy()
        left = np.flatnonzero(ends > starts)
        while len(left):
            left = left[_SPACES[self._bytes[ends[left] - 1]]]
            ends[left] -= 1
            left = left[ends[left] > starts[left]]
        return ends

    def _without_leading_spaces(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Excludes leading white space: moves `starts` forward. No line may be blank."""
        starts, left = starts.copy(), np.arange(len(starts))
        while len(left):
            left = left[_SPACES[self._bytes[starts[left]]]]
            starts[left] += 1
        return starts

    def _labels(self, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Parses the numbers at the ends of lines; returns the numbers and their digit counts (at most `MOST_DIGITS`)."""
        labels, digits = np.zeros(len(ends), np.int64), np.zeros(len(ends), np.int64)
        left = np.arange(len(ends))
        for number in range(MOST_DIGITS):
            left = left[ends[left] - number > starts[left]]
            letters = self._bytes[ends[left] - number - 1]
            is_digit = (letters >= _ZERO) & (letters <= _NINE)
            left, letters = left[is_digit], letters[is_digit]
            labels[left] += (letters.astype(np.int64) - _ZERO) * 10**number
            digits[left] += 1
        return labels, digits

    def _with_nul(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Returns bool [n], True for names with a zero byte, which no file name can have."""
        if not len(starts):
            return np.zeros(0, bool)
        nul = np.flatnonzero(self._bytes[starts[0] : ends[-1]] == 0) + starts[0]
        if not len(nul):
            return np.zeros(len(starts), bool)
        return np.searchsorted(nul, ends) > np.searchsorted(nul, starts)
