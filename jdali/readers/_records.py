"""Readers of files that hold many records: reading a piece of a file, and a base class."""

from __future__ import annotations

import abc
import bisect
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jdali._errors import SampleError
from jdali.readers._base import Reader

# More files than this are not held open all at once (a process may often have only 1024).
_MOST_OPEN = 256


class BadRecord(ValueError):
    """What is wrong with a record, said by code that knows only its bytes."""


class Records(NamedTuple):
    """Where the records of one file are.

    Attributes:
        offsets: int64 [n], bytes from the start of the file.
        sizes: int64 [n], bytes.
    """

    offsets: np.ndarray
    sizes: np.ndarray


class _Descriptor:
    """An open file that is closed when the last user lets go of it."""

    __slots__ = ("number",)

    def __init__(self, path: str):
        self.number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    # Bound here, because at the end of the process the module's names may be gone.
    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        if hasattr(self, "number"):
            close(self.number)


class RecordFiles:
    """Files of which many threads read pieces.

    Args:
        name: of the reader, for messages.
        paths: of the files.
    """

    def __init__(self, name: str, paths: Sequence[str]):
        self.paths = list(paths)
        self.sizes = []
        for path in self.paths:
            try:
                with open(path, "rb") as file:
                    self.sizes.append(file.seek(0, os.SEEK_END))
            except OSError as error:
                raise FileNotFoundError(f"{name}: cannot read {path}: {error.strerror}") from error
        self._open: dict[int, _Descriptor] = {}
        self._lock = threading.Lock()

    def read(self, file: int, offset: int, size: int) -> bytes:
        """Exactly `size` bytes from `offset` on; raises `BadRecord` if the file does not have them."""
        if offset < 0 or size < 0 or offset + size > self.sizes[file]:
            raise BadRecord(
                f"{size} bytes from byte {offset} on reach past the end at byte {self.sizes[file]}"
            )
        try:
            descriptor = self._open.get(file) or self._opened(file)
            data = os.pread(descriptor.number, size, offset)
            while len(data) < size:  # of one call at most 2 GiB
                more = os.pread(descriptor.number, size - len(data), offset + len(data))
                if not more:
                    raise BadRecord(
                        f"the file ends at byte {offset + len(data)}; it was longer when it was opened"
                    )
                data += more
        except OSError as error:
            raise BadRecord(f"cannot be read: {error.strerror or error}") from error
        return data

    def _opened(self, file: int) -> _Descriptor:
        descriptor = _Descriptor(self.paths[file])
        with self._lock:
            while len(self._open) >= _MOST_OPEN:
                # The oldest goes; a thread that is just reading from it still holds the descriptor.
                del self._open[next(iter(self._open))]
            self._open[file] = descriptor
        return descriptor

    def close(self) -> None:
        with self._lock:
            self._open.clear()


class RecordReader(Reader):
    """A reader each of whose samples is one record, a piece of one of its files.

    Args:
        name: of the reader, for messages.
        files: to read.
        records: of each file.
        options: of every reader.
    """

    def __init__(self, name: str, files: RecordFiles, records: Sequence[Records], options: Mapping[str, Any]):
        self._name, self._files = name, files
        self._starts = [0]
        for one in records:
            self._starts.append(self._starts[-1] + len(one.offsets))
        if not self._starts[-1]:
            raise ValueError(f"{name}: there are no records in {', '.join(files.paths)}")
        self._offsets = np.concatenate([r.offsets for r in records])
        self._sizes = np.concatenate([r.sizes for r in records])
        super().__init__(self._starts[-1], options)

    @abc.abstractmethod
    def parse(self, record: bytes) -> tuple[np.ndarray, ...]:
        """The outputs of one record; raises `BadRecord`."""

    def load(self, index: int) -> tuple[np.ndarray, ...]:
        offset = self._offsets.item(index)
        try:
            file = bisect.bisect_right(self._starts, index) - 1
            return self.parse(self._files.read(file, offset, self._sizes.item(index)))
        except BadRecord as error:
            raise SampleError(f"{self._name}: {self.source(index)}, at byte {offset}: {error}") from error

    def source(self, index: int) -> str:
        file = bisect.bisect_right(self._starts, index) - 1
        return f"{self._files.paths[file]}#record {index - self._starts[file]}"

    def close(self) -> None:
        self._files.close()


def path_list(name: str, argument: str, value: str | os.PathLike[str] | Sequence[Any] | None) -> list[str]:
    """The paths (or other strings) given as one or several; empty if None."""
    if value is None:
        return []
    values = [value] if isinstance(value, (str, os.PathLike)) else list(value)
    for path in values:
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"{name}: {argument} must be one or several strings, got {path!r}")
    return [os.fspath(path) for path in values]


def required_paths(name: str, argument: str, value: Any) -> list[str]:
    """As `path_list`, at least one."""
    paths = path_list(name, argument, value)
    if not paths:
        raise ValueError(f"{name}: {argument} is empty, it must name at least one file")
    return paths


def number_columns(name: str, path: str, columns: int) -> np.ndarray:
    """int64 [lines, columns] of a text file with that many numbers from 0 on in each line."""
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError as error:
        raise FileNotFoundError(f"{name}: cannot read the index {path}: {error.strerror}") from error
    lines = [line.split() for line in text.split(b"\n")]
    rows = [line for line in lines if line]
    if not rows:
        raise ValueError(f"{name}: the index {path} is empty")
    if all(len(row) == columns for row in rows):
        try:
            numbers = np.array([int(word) for row in rows for word in row], np.int64).reshape(-1, columns)
            if numbers.min() >= 0:
                return numbers
        except (ValueError, OverflowError):
            pass  # said below, with the line
    for number, row in enumerate(lines, 1):
        if row and not (len(row) == columns and all(word.isdigit() and len(word) < 19 for word in row)):
            shown = b" ".join(row)[:60].decode(errors="replace")
            raise ValueError(
                f"{name}: line {number} of the index {path} must be {columns} numbers from 0 on, but is "
                f"{shown!r}"
            )
    raise ValueError(f"{name}: the index {path} holds no numbers")


def check_starts(name: str, index: str, path: str, size: int, records: Records) -> None:
    """Raises if an index has a record that begins after the end of its file."""
    beyond = np.flatnonzero(records.offsets >= size)
    if len(beyond):
        first = beyond[0]
        raise ValueError(
            f"{name}: the index {index} does not fit {path}: its record {first} begins at byte "
            f"{records.offsets[first]}, but the file has {size} bytes"
        )
