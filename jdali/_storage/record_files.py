"""Reads pieces of local and remote files from many threads. Many pieces are read into one array with few calls."""

from __future__ import annotations

import bisect
import contextlib
import errno
import itertools
import os
import threading
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from jdali._batches import empty
from jdali._storage import files as _storage
from jdali._storage.blocks import Blocks
from jdali._storage.scope import Scope
from jdali._system.open_files import keeps_open, make_room
from jdali._system.regular_file import check_size, is_of_machine, most_bytes, no_memory, open_regular, read_at
from jdali.storage import options

_File = TypeVar("_File")
# `Advice` requests at least this many bytes after the end of the furthest piece, and at most twice as many.
_AHEAD = 8 << 20
# Bytes per request. Linux truncates larger requests to the device's read-ahead size, 128 KiB by default.
_CALL = 128 << 10
# The largest number of bytes requested at once.
_MOST = 256 << 20


class Advice:
    """Asks the system to read files ahead while pieces are read back and forth within a moving window.

    The disk then reads sequentially. If the system has cached the data already, this costs 10 us per megabyte.

    Args:
        sizes: sizes of the files, bytes; the files are read one after another.
        ask: ask(file, offset, count) makes the system read these bytes ahead, as `posix_fadvise` does.
    """

    def __init__(self, sizes: Sequence[int], ask: Callable[[int, int, int], None]):
        self._starts = list(itertools.accumulate(sizes, initial=0))
        self._ask = ask
        self._asked = 0  # offset of the first byte not yet requested, counted through all files

    def reads(self, first: tuple[int, int], last: tuple[int, int]) -> None:
        """Requests the bytes from `first` to `last`, each a pair (file, offset), and some bytes after `last`."""
        begin, end = (self._starts[file] + offset for file, offset in (first, last))
        asked = self._asked
        if not begin <= asked <= end + 2 * _AHEAD:  # reading jumped to another part of the files
            asked = begin
        if asked >= min(end + _AHEAD, self._starts[-1]):
            return
        target = min(end + 2 * _AHEAD, self._starts[-1])
        self._asked = target
        at = max(asked, target - _MOST)
        while at < target:
            file = bisect.bisect_right(self._starts, at) - 1
            stop = min(at + _CALL, target, self._starts[file + 1])
            self._ask(file, at - self._starts[file], stop - at)
            at = stop


class BadRecord(ValueError):
    """A record is damaged. The caller adds the name of the file."""


class Misplaced(BadRecord):
    """An index entry points to no record, because the file is damaged or the index belongs to another file."""


class OpenFiles(Generic[_File]):
    """Keeps files open, within the process's limit of open files; `open_file` opens a file by its number."""

    def __init__(self, open_file: Callable[[int], _File]):
        self._open_file = open_file
        self._open: dict[int, _File] = {}
        self._lock = threading.Lock()
        keeps_open(self)

    def __len__(self) -> int:
        return len(self._open)

    def get(self, number: int) -> _File:
        known = self._open.get(number)
        if known is not None:
            return known
        make_room()
        file = self._open_file(number)
        with self._lock:
            self._open[number] = file
        return file

    def let_go(self) -> None:
        # While a thread reads from the file, it holds a reference, so the file stays open.
        with self._lock:
            if self._open:
                del self._open[next(iter(self._open))]

    def forget(self, file: int) -> None:
        """Drops a file, so that the next use reopens it."""
        with self._lock:
            self._open.pop(file, None)

    def close(self) -> None:
        with self._lock:
            self._open.clear()


class _Descriptor:
    """An open file that is closed when its last reference is gone."""

    __slots__ = ("number",)

    def __init__(self, path: str):
        self.number, _ = open_regular(path)

    # `close` is a default argument, because at the end of the process the module's names may be gone.
    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        if hasattr(self, "number"):
            close(self.number)


class RecordFiles:
    """Reads pieces of files from many threads.

    Attributes:
        names: the given paths.
        paths: the absolute paths.
        sizes: sizes of the files, bytes.
        in_order: True if pieces are mostly read in order, see `expect`. Remote files are then read in large blocks,
            and some blocks are fetched ahead. If False, each piece takes a request, except in files that fit into
            one block.
        lost: {file number: message}, the error for a piece past the end of a damaged file.
    """

    def __init__(self, name: str, paths: Sequence[str]):
        self.names = list(paths)
        self.paths = [_storage.placed(path) for path in self.names]
        try:
            self._remote = _storage.remote_files(self.paths)
            self.sizes: Sequence[int] = [
                self._remote[file].size if file in self._remote else _storage.size(path)
                for file, path in enumerate(self.paths)
            ]
        except OSError as error:
            path = str(error.filename)
            advice = "; patterns are not expanded, give glob.glob(...)" if "*" in path else ""
            advice = "; name the files in it" if isinstance(error, IsADirectoryError) else advice
            raise FileNotFoundError(
                f"{name}: cannot read {path}: {error.strerror}{advice}. File mapping failed: {path}"
            ) from error
        self.in_order = True
        self.lost: dict[int, str] = {}
        self._whole = options().block_size
        self._scope = Scope(options().requests)
        self._blocks = Blocks(self._remote, self.sizes, self._scope)
        paths = self.paths  # no reference to `self`, which would be a cycle
        self._open = OpenFiles(lambda file: _Descriptor(paths[file]))
        self._advice: Advice | None = None

    def expect(
        self, window: int, count: int, pieces: Callable[[], tuple[np.ndarray, np.ndarray, np.ndarray]]
    ) -> None:
        """Sets the order in which pieces will be read.

        Args:
            window: reads go back and forth among this many consecutive pieces; 1 if pieces are read in order.
            count: number of pieces, or an upper bound.
            pieces: returns the pieces' file numbers (int [n]), offsets and ends (int64 [n], bytes); called
                for remote files only.
        """
        self.in_order = window == 1
        if not self.in_order and self._remote:
            self.in_order = self._blocks.widen(self._blocks.span(*pieces(), window))
        if 1 < window < count and len(self._remote) < len(self.paths) and hasattr(os, "posix_fadvise"):
            self._advice = Advice(self.sizes, self._read_soon)

    def reads(self, first: tuple[int, int], last: tuple[int, int]) -> None:
        if self._advice is not None:
            self._advice.reads(first, last)

    def _read_soon(self, file: int, offset: int, size: int) -> None:
        if file not in self._remote:
            with contextlib.suppress(OSError):  # the read itself will raise the error
                descriptor = self._open.get(file)
                os.posix_fadvise(descriptor.number, offset, size, os.POSIX_FADV_WILLNEED)

    def read(self, file: int, offset: int, size: int) -> bytes:
        """Reads exactly `size` bytes from `offset` on.

        Raises:
            BadRecord: the bytes reach past the end of the file, or cannot be read.
            OSError: the machine, not the file, caused a failure.
        """
        if offset < 0 or size < 0 or offset + size > self.sizes[file]:
            if file in self.lost:
                raise BadRecord(self.lost[file])
            raise Misplaced(
                f"{size} bytes from byte {offset} on reach past the end at byte {self.sizes[file]}"
            )
        try:
            check_size(self.paths[file], size)
            if file in self._remote:
                if self.in_order or self.sizes[file] <= self._whole:
                    return self._blocks.read(file, offset, size)
                return self._remote[file].read(offset, size)
            try:
                return self._read_local(file, offset, size)
            except OSError as error:
                if error.errno != errno.ESTALE:
                    raise
            self._open.forget(file)  # the file was replaced on its server (NFS)
            return self._read_local(file, offset, size)
        except OSError as error:
            if is_of_machine(error):
                raise
            raise BadRecord(f"cannot be read: {error.strerror or error}") from error
        except MemoryError as error:
            raise no_memory(self.paths[file], size) from error

    def _read_local(self, file: int, offset: int, size: int) -> bytes:
        descriptor = self._open.get(file)
        data = read_at(descriptor.number, size, offset)
        if len(data) < size:
            raise Misplaced(f"the file ends at byte {offset + len(data)}; it was longer when it was opened")
        return data

    def read_runs(
        self, files: Sequence[int], offsets: Sequence[int], targets: Sequence[memoryview]
    ) -> list[int]:
        """Fills each target from its file and offset; returns the indices of targets that could not be filled."""
        bad = []
        last, descriptor = -1, None
        for run, (file, offset, target) in enumerate(zip(files, offsets, targets, strict=True)):
            try:
                if file in self._remote:
                    target[:] = self.read(file, offset, len(target))
                    continue
                if file != last or descriptor is None:
                    last, descriptor = file, self._open.get(file)
                if os.preadv(descriptor.number, (target,), offset) != len(target):
                    target[:] = self.read(file, offset, len(target))
            except (OSError, BadRecord):
                bad.append(run)
        return bad

    @property
    def reads_ahead(self) -> bool:
        return self.in_order and bool(self._remote)

    def is_local(self, file: int) -> bool:
        return file not in self._remote

    def reopen(self, file: int) -> bool:
        """Reopens a file; returns False if its size has changed."""
        self._open.forget(file)
        if file in self._remote:
            self._remote[file] = _storage.RemoteFile(self.paths[file])
            return self._remote[file].size == self.sizes[file]
        return _storage.size(self.paths[file]) == self.sizes[file]

    def interrupt(self) -> None:
        self._scope.end()

    def close(self) -> None:
        self._scope.close()
        self._open.close()


# Largest gap, in bytes, between two pieces that one call reads together. Reading a larger gap costs more than a second call.
_GAP = 4096
# Number of extra bytes after the pieces, so that reading a number near the end of a piece needs no bounds check.
SLACK = 64


class Pieces(NamedTuple):
    """Pieces of files in memory.

    Attributes:
        raw: uint8 [bytes], the pieces and gaps between them, and at least `SLACK` bytes more at the end.
        starts: int64 [n], the first byte of each piece in `raw`.
        sizes: int64 [n], bytes.
        known: bool [n], False for a piece that could not be read; the size of such a piece is 0.
    """

    raw: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray
    known: np.ndarray

    @property
    def ends(self) -> np.ndarray:
        ends: np.ndarray = self.starts + self.sizes
        return ends

    def select(self, chosen: np.ndarray) -> Pieces:
        return Pieces(self.raw, self.starts[chosen], self.sizes[chosen], self.known[chosen])

    def piece(self, index: int) -> bytes:
        start = self.starts.item(index)
        return self.raw[start : start + self.sizes.item(index)].tobytes()


def read_pieces(files: RecordFiles, file: np.ndarray, offset: np.ndarray, size: np.ndarray) -> Pieces:
    """Reads pieces of files; pieces that lie close together are read by one call.

    Args:
        file: int [n], the file number of each piece.
        offset, size: int64 [n], bytes.
    """
    limit = np.asarray(files.sizes, np.int64)[file]
    known = (offset >= 0) & (size >= 0) & (size <= np.minimum(limit, most_bytes())) & (offset <= limit - size)
    starts = np.zeros(len(offset), np.int64)
    order = np.flatnonzero(known)
    if len(order) < 2 or not _ascending(file[order], offset[order]):
        order = order[np.lexsort((offset[order], file[order]))]
    first, last, of = offset[order], offset[order] + size[order], file[order]
    if not len(order):
        return Pieces(np.zeros(SLACK, np.uint8), starts, np.where(known, size, 0), known)
    # With a wrong index, pieces may overlap; even then, each byte is read only once.
    span = of * (last.max() + 1)
    reach = np.maximum.accumulate(last + span) - span
    breaks = np.flatnonzero((of[1:] != of[:-1]) | (first[1:] - reach[:-1] > _GAP)) + 1
    runs = np.concatenate([[0], breaks])
    counts = np.diff(runs, append=len(order))
    begins, ends = first[runs], reach[runs + counts - 1]
    base = np.cumsum(ends - begins) - (ends - begins)
    try:
        raw = empty((int((ends - begins).sum()) + SLACK,), np.uint8)
    except MemoryError:  # there may be enough memory to read the pieces one by one
        known[:] = False
        return Pieces(np.zeros(SLACK, np.uint8), starts, np.zeros_like(size), known)
    files.reads((of.item(0), begins.item(0)), (of.item(-1), ends.item(-1)))
    view = raw.data
    targets = [view[at:end] for at, end in zip(base.tolist(), (base + ends - begins).tolist(), strict=True)]
    for run in files.read_runs(of[runs].tolist(), begins.tolist(), targets):
        # Marks all pieces of the failed call; the caller reads these again one by one, to find the bad piece.
        known[order[runs[run] : runs[run] + counts[run]]] = False
    starts[order] = first + np.repeat(base - begins, counts)
    starts[~known] = 0
    raw.flags.writeable = False
    return Pieces(raw, starts, np.where(known, size, 0), known)


def _ascending(file: np.ndarray, offset: np.ndarray) -> object:
    return ((file[1:] > file[:-1]) | ((file[1:] == file[:-1]) & (offset[1:] >= offset[:-1]))).all()
