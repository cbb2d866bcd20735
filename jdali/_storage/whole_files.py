"""Reads many whole files into one array."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jdali._batches import BatchSpec, RaggedBlock, Store, empty
from jdali._errors import SampleError
from jdali._storage import files as _storage
from jdali._storage.files import missing_advice
from jdali._storage.name_table import take
from jdali._system.open_files import lacks_descriptors
from jdali._system.regular_file import (
    OPEN_FLAGS,
    check_size,
    is_of_machine,
    most_bytes,
    no_memory,
    open_regular,
)

# Alignment of each file in memory, in bytes; it suits any element type.
_ALIGNMENT = 64
_PADDING = [bytes(n) for n in range(_ALIGNMENT)]
# Smaller files are read without `fstat`, which takes a quarter as long as reading such a file.
_SMALL_BYTES = 1 << 14
# Maximum number of files that a call of `read_files` keeps open. Further files are opened twice: for the size, and to read.
_MOST_OPEN = 16


class FileContents(NamedTuple):
    """The contents of some files.

    Attributes:
        raw: uint8 [bytes], the contents of all files.
        positions: int64 [n], for each file that could be read, its index in the list of requested files.
        starts, sizes: int64 [n], first byte in `raw` and size of each of these files.
        failures: errors of the files that could not be read, by index in the list of requested files. Each is a
            `SampleError` unless the machine failed.
    """

    raw: np.ndarray
    positions: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray
    failures: dict[int, Exception]

    def column(self) -> Store:
        extents = self.sizes.reshape(-1, 1)
        return Store.of_block(RaggedBlock(self.raw, self.starts, extents), BatchSpec(extents, self.raw.dtype))

    def content(self, index: int) -> np.ndarray:
        start = self.starts.item(index)
        return self.raw[start : start + self.sizes.item(index)]


def read_file(path: str) -> np.ndarray:
    """Reads a whole file or URL into uint8 [bytes]; raises `SampleError`, or `OSError` if the machine failed."""
    try:
        return np.frombuffer(_storage.read(path), np.uint8)
    except (OSError, ValueError) as error:
        if is_of_machine(error):
            raise
        raise _unreadable(path, error) from error


def read_files(paths: Sequence[str]) -> FileContents:
    """Reads whole files or URLs.

    Raises:
        OSError: there is too little memory for the contents.
    """
    sources: list[int | bytes | None] = []  # None: the file must be opened again
    held = 0
    positions: list[int] = []
    sizes: list[int] = []
    failures: dict[int, Exception] = {}
    most = most_bytes()
    is_small = most >= _SMALL_BYTES  # guesses that a file is small if the file before it was
    try:
        for position, path in enumerate(paths):
            content = _small(path) if is_small else b""
            if content:
                sources.append(content)
                positions.append(position)
                sizes.append(len(content))
                continue
            source: int | bytes | None
            try:
                try:
                    source, size = _opened(path, most)
                except OSError as error:
                    if not lacks_descriptors(error):
                        raise
                    _close(sources)
                    source, size = _opened(path, most)
            except (OSError, ValueError) as error:
                failures[position] = _unreadable(path, error)
                continue
            if isinstance(source, int):
                held += 1
                if held > _MOST_OPEN:
                    os.close(source)
                    source = None
            sources.append(source)
            positions.append(position)
            sizes.append(size)
            is_small = size < _SMALL_BYTES <= most
        if len(sources) == len(paths) and all(type(source) is bytes for source in sources):
            return _together(sources)  # type: ignore[arg-type]
        raw, starts = _room(paths, positions, sizes)
        _fill_all(raw, starts, sizes, sources, paths, positions, failures)
    finally:
        _close(sources)
    raw.flags.writeable = False
    read = FileContents(raw, np.array(positions, np.int64), starts, np.array(sizes, np.int64), failures)
    if not failures:
        return read
    good = np.array([position not in failures for position in positions], bool)
    return read._replace(positions=read.positions[good], starts=starts[good], sizes=read.sizes[good])


def _close(sources: list[int | bytes | None]) -> None:
    for i, source in enumerate(sources):
        if isinstance(source, int):
            sources[i] = None
            os.close(source)


def read_named(folder: str, names: Sequence[str], indices: np.ndarray) -> FileContents:
    """Reads files of a folder as `read_files` does; a name may be a URL or an absolute path, see `names.join`."""
    return read_files(_storage.join_all(folder, take(names, indices)))


def _small(path: str) -> bytes:
    """Returns the content of a small local file; b"" for anything else and for unreadable files.

    FIFOs and sockets count as unreadable, since `pread` fails for them. An endless file is not small.
    """
    if ":" in path and _storage.is_url(path):
        return b""
    try:
        descriptor = os.open(path, OPEN_FLAGS)
    except (OSError, ValueError):
        return b""
    try:
        content = os.pread(descriptor, _SMALL_BYTES, 0)
        # A short read does not mean the end of a file in /proc; only an empty read does.
        is_whole = len(content) < _SMALL_BYTES and not os.pread(descriptor, 1, len(content))
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return content if is_whole else b""


def _together(contents: Sequence[bytes]) -> FileContents:
    sizes = np.array([len(content) for content in contents], np.int64)
    padding = -sizes & _ALIGNMENT - 1
    parts = [
        part for content, n in zip(contents, padding.tolist(), strict=True) for part in (content, _PADDING[n])
    ]
    raw = np.frombuffer(b"".join(parts), np.uint8)
    return FileContents(raw, np.arange(len(sizes)), np.cumsum(sizes + padding) - sizes - padding, sizes, {})


def _opened(path: str, most: int) -> tuple[int | bytes, int]:
    """Opens a file; returns (descriptor, size in bytes), or (content, size) for a URL or a file without a size."""
    if ":" not in path or not _storage.is_url(path):
        descriptor, size = open_regular(path)
        if 0 < size <= most:
            return descriptor, size
        os.close(descriptor)
        check_size(path, size)  # only empty files, and files in /proc, get past this line
    content = _storage.read(path)
    return content, len(content)


def _room(
    paths: Sequence[str], positions: Sequence[int], sizes: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Allocates one array for files of these sizes; returns the array and the offset of each file."""
    room = np.array(sizes, np.int64) + (_ALIGNMENT - 1) & -_ALIGNMENT
    try:
        return empty((int(room.sum()),), np.uint8), np.cumsum(room) - room
    except MemoryError as error:
        largest = int(room.argmax())
        raise no_memory(paths[positions[largest]], sizes[largest]) from error


def _fill_all(
    raw: np.ndarray, starts: np.ndarray, sizes: Sequence[int], sources: list[int | bytes | None],
    paths: Sequence[str], positions: Sequence[int], failures: dict[int, Exception],
) -> None:  # fmt: skip
    """Reads each file into `raw`; adds errors to `failures`."""
    memory, readv = raw.data, os.readv
    for i, (position, start, size) in enumerate(zip(positions, starts.tolist(), sizes, strict=True)):
        target, source = memory[start : start + size], sources[i]
        try:
            if isinstance(source, bytes):
                target[:] = source
                continue
            if source is None:
                source, _ = sources[i], _ = open_regular(paths[position])
            done = readv(source, [target])
            if done < size:
                _fill_rest(target, source, done)
        except OSError as error:
            failures[position] = _unreadable(paths[position], error)
        if isinstance(source, int):
            sources[i] = None
            os.close(source)


def _fill_rest(target: memoryview, source: int, done: int) -> None:
    """Reads the rest of a file with further calls, because one call returns at most 2 GiB."""
    while done < len(target):
        count = os.readv(source, [target[done:]])
        if not count:
            raise OSError(None, f"it ends at byte {done}; it was longer when it was opened")
        done += count


def _unreadable(path: str, error: Exception) -> Exception:
    """Returns the exception for a file that could not be read. A `ValueError` means that the file's name is invalid."""
    if is_of_machine(error):
        return error
    if isinstance(error, OSError):
        # DALI's message ends with the same words.
        words = "" if error.errno == errno.EFBIG else f". File mapping failed: {path}"
        return SampleError(
            f"cannot read {path}: {error.strerror or error}{missing_advice(path, error)}{words}"
        )
    return SampleError(f"cannot read {path!r}: {error}")
