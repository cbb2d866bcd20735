"""Files of records: reading pieces of them from many threads, be they local or remote."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Callable, Sequence

import numpy as np

from jdali._storage import files as _storage
from jdali._storage.advice import Advice
from jdali._storage.blocks import Blocks
from jdali._storage.scope import Scope
from jdali._system.open_files import keeps_open, make_room
from jdali._system.regular_file import check_size, is_of_machine, no_memory, open_regular
from jdali.storage import options


class BadRecord(ValueError):
    """Damage of a record, raised by code that knows only its bytes."""


class Misplaced(BadRecord):
    """The index points at no record: the file is damaged, or the index belongs to another file."""


class _OpenFiles:
    """Files that stay open, within the budget of the process.

    Args:
        paths: of all files, by number.
    """

    def __init__(self, paths: Sequence[str]):
        self._paths = paths
        self._open: dict[int, _Descriptor] = {}
        self._lock = threading.Lock()
        keeps_open(self)

    def __len__(self) -> int:
        return len(self._open)

    def descriptor(self, file: int) -> _Descriptor:
        """Opens a file, if it is not open."""
        return self._open.get(file) or self._opened(file)

    def _opened(self, file: int) -> _Descriptor:
        make_room()
        descriptor = _Descriptor(self._paths[file])
        with self._lock:
            self._open[file] = descriptor
        return descriptor

    def let_go(self) -> None:
        # A thread that is just reading from the file still holds the descriptor.
        with self._lock:
            if self._open:
                del self._open[next(iter(self._open))]

    def forget(self, file: int) -> None:
        """Reopens a file on its next use."""
        with self._lock:
            self._open.pop(file, None)

    def close(self) -> None:
        with self._lock:
            self._open.clear()


class _Descriptor:
    """An open file, closed when its last user releases it."""

    __slots__ = ("number",)

    def __init__(self, path: str):
        self.number, _ = open_regular(path)

    # Bound here, because at the end of the process the module's names may be gone.
    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        if hasattr(self, "number"):
            close(self.number)


class RecordFiles:
    """Files that many threads read pieces of.

    Args:
        name: of the reader, for messages.
        paths: of the files, which may be URLs.

    Attributes:
        names: the paths as they were given.
        paths: of the files, which stay the same in another working folder.
        sizes: of the files, bytes.
        in_order: whether pieces are mostly read from front to end, as `expect` says. Then remote files are read in
            large blocks, some of them ahead; else just the pieces, except for files that are no larger than a block.
        lost: by the number of a file, what is wrong with it where a piece is asked for that it cannot have.
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
            raise FileNotFoundError(
                f"{name}: cannot read {error.filename}: {error.strerror}. File mapping failed: {error.filename}"
            ) from error
        self.in_order = True
        self.lost: dict[int, str] = {}
        self._whole = options().block_size
        self._scope = Scope(options().requests)
        self._blocks = Blocks(self._remote, self.sizes, self._scope)
        self._open = _OpenFiles(self.paths)
        self._advice: Advice | None = None

    def expect(
        self, window: int, count: int, pieces: Callable[[], tuple[np.ndarray, np.ndarray, np.ndarray]]
    ) -> None:
        """Says in which order pieces will be read.

        Args:
            window: the next ones are among this many that follow each other, from front to end.
            count: how many there are, at most.
            pieces: returns for each the number of its file, int [n], and its offset and end, int64 [n], bytes; called
                for remote files only.
        """
        self.in_order = window == 1
        if not self.in_order and self._remote:
            self.in_order = self._blocks.widen(self._blocks.span(*pieces(), window))
        if 1 < window < count and len(self._remote) < len(self.paths) and hasattr(os, "posix_fadvise"):
            self._advice = Advice(self.sizes, self._read_soon)

    def reads(self, first: tuple[int, int], last: tuple[int, int]) -> None:
        """Announces reads between two positions, each a file and an offset in it."""
        if self._advice is not None:
            self._advice.reads(first, last)

    def _read_soon(self, file: int, offset: int, size: int) -> None:
        if file not in self._remote:
            with contextlib.suppress(OSError):  # said when it is read
                descriptor = self._open.descriptor(file)
                os.posix_fadvise(descriptor.number, offset, size, os.POSIX_FADV_WILLNEED)

    def read(self, file: int, offset: int, size: int) -> bytes:
        """Reads exactly `size` bytes from `offset` on.

        Raises:
            BadRecord: the file does not have them, or they cannot be read.
            OSError: it is the machine that cannot read them.
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
                return self._read_remote(file, offset, size)
            try:
                return self._read_local(file, offset, size)
            except OSError as error:
                if error.errno != errno.ESTALE:
                    raise
            self._open.forget(file)  # the server replaced the file
            return self._read_local(file, offset, size)
        except OSError as error:
            if is_of_machine(error):
                raise
            raise BadRecord(f"cannot be read: {error.strerror or error}") from error
        except MemoryError as error:
            raise no_memory(self.paths[file], size) from error

    def _read_local(self, file: int, offset: int, size: int) -> bytes:
        descriptor = self._open.descriptor(file)
        data = os.pread(descriptor.number, size, offset)
        while len(data) < size:  # of one call at most 2 GiB
            more = os.pread(descriptor.number, size - len(data), offset + len(data))
            if not more:
                raise Misplaced(
                    f"the file ends at byte {offset + len(data)}; it was longer when it was opened"
                )
            data += more
        return data

    def read_runs(
        self, files: Sequence[int], offsets: Sequence[int], targets: Sequence[memoryview]
    ) -> list[int]:
        """Fills each target from a file, from an offset on; returns the numbers of those that it could not fill."""
        bad = []
        last, descriptor = -1, None
        for run, (file, offset, target) in enumerate(zip(files, offsets, targets, strict=True)):
            try:
                if file in self._remote:
                    target[:] = self.read(file, offset, len(target))
                    continue
                if file != last or descriptor is None:
                    last, descriptor = file, self._open.descriptor(file)
                if os.preadv(descriptor.number, (target,), offset) != len(target):
                    target[:] = self.read(file, offset, len(target))
            except (OSError, BadRecord):
                bad.append(run)
        return bad

    def _read_remote(self, file: int, offset: int, size: int) -> bytes:
        if self.in_order or self.sizes[file] <= self._whole:
            return self._blocks.read(file, offset, size)
        return self._remote[file].read(offset, size)

    @property
    def reads_ahead(self) -> bool:
        return self.in_order and bool(self._remote)

    def is_local(self, file: int) -> bool:
        return file not in self._remote

    def reopen(self, file: int) -> bool:
        """Reopens the path; returns False if the file's size has changed."""
        self._open.forget(file)
        if file in self._remote:
            self._remote[file] = _storage.RemoteFile(self.paths[file])
            return self._remote[file].size == self.sizes[file]
        return _storage.size(self.paths[file]) == self.sizes[file]

    def interrupt(self) -> None:
        """Makes all reads of remote files fail, now and later."""
        self._scope.end()

    def close(self) -> None:
        self._scope.close()
        self._open.close()
