"""Caches parts of remote files on the local disk; all processes of a machine share the cache, whose size is limited.

Each part is a file with the part's content and a checksum. The file `lock` contains the total size of all parts. To add
a part, a writer takes the lock, adds the part's size to the total, writes the part to the file `new` and renames this
file. A killed process may leave the total too high, but never too low; each process corrects the total when it starts.
A reader takes no lock. It sets the part's modification time to now, because the cache removes the oldest files first.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import os
import stat
import struct
import sys
import time
import zlib
from collections.abc import Iterator

from jdali._storage.scope import Ended, current_scope
from jdali._system.cache_folder import cache_folder
from jdali._system.open_files import opening
from jdali.storage import Options, options

if sys.platform != "win32":
    import fcntl

log = logging.getLogger("jdali")
# Part of the names of cached files. Change it whenever their format changes.
_VERSION = 1
_LOCK, _NEW, _PART = "lock", "new", ".part"
_TOTAL, _CHECKSUM = struct.Struct("<Q"), struct.Struct("<I")
# Eviction scans all files. So that it runs rarely, each run frees 1/_SPARE of the size limit.
_SPARE = 16
# Seconds to wait for the lock, which another process holds while it writes a part.
_PATIENCE = 10.0
_LONGEST_PAUSE = 0.05
# Warnings already logged in this process.
_SAID: dict[str, object] = {}
# The options of the last call of `disk_cache`, and its result.
_current: tuple[Options | None, DiskCache | None] = (None, None)


def disk_cache() -> DiskCache | None:
    """Returns the cache for the current options; None if they disable it."""
    global _current
    settings = options()
    known, cache = _current
    if known is not settings:
        folder = cache_folder() if settings.cache_folder is None else settings.cache_folder
        wanted = settings.cache_bytes and sys.platform != "win32"  # Windows lacks flock
        cache = DiskCache(os.path.join(folder, "remote"), settings.cache_bytes) if wanted else None
        _current = settings, cache
    return cache


class DiskCache:
    """A folder with parts of remote files. A failure is logged once, and reading continues without the cache.

    Args:
        folder: readable by this user only; made if it is missing.
    """

    def __init__(self, folder: str, most: int):
        self._folder, self._most = folder, most
        self._began = self._reads = self._writes = False

    def get(self, key: str) -> bytes | None:
        """Returns the content that is stored under a key; None if the content is missing or damaged."""
        self._begin()
        if not self._reads:
            return None
        name = _name(key)
        path = os.path.join(self._folder, name)
        try:
            with opening(lambda: open(path, "rb")) as file:
                data = file.read(max(os.fstat(file.fileno()).st_size - _CHECKSUM.size, 0))
                is_whole = file.read() == _checksum(name, data)
            if is_whole:
                with contextlib.suppress(OSError):  # the disk may have become read-only
                    _set_time(path)
                return data
            os.unlink(path)
            self._say("damaged parts are fetched again")
        except FileNotFoundError:
            pass
        except OSError as error:
            self._say(f"parts that cannot be read are fetched again: {error.strerror}")
        return None

    def put(self, key: str, data: bytes) -> None:
        """Stores content under a key if the size limit allows it; removes older content to make room."""
        self._begin()
        if not self._writes:
            return
        name = _name(key)
        path, new = os.path.join(self._folder, name), os.path.join(self._folder, _NEW)
        with self._writing(), self._locked() as lock:
            if os.path.exists(path) or not self._reserve(lock, len(data) + _CHECKSUM.size):
                return
            try:
                with opening(lambda: open(new, "wb")) as file:
                    file.write(data)
                    file.write(_checksum(name, data))
                _set_time(new)
                os.replace(new, path)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(new)
                raise

    def _begin(self) -> None:
        if self._began:
            return
        with self._writing():
            os.makedirs(os.path.dirname(self._folder), exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.mkdir(self._folder, 0o700)
            facts = os.lstat(self._folder)
            if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o077:
                raise OSError(errno.EPERM, f"it must be a folder of user {os.geteuid()} alone (mode 0700)")
            with self._locked() as lock:
                if not self._began:
                    self._evict(lock, self._most - self._overhead(lock))
                    self._began = self._reads = self._writes = True

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Logs an error that is raised within the context, and disables all later writes."""
        try:
            yield
        except Ended:
            pass
        except OSError as error:
            self._began, self._writes = True, False
            self._say(f"it cannot be written, reading goes on without: {error.strerror}")

    def _say(self, text: str) -> None:
        text = f"cache of remote files in {self._folder}: {text}"
        mine = object()
        if _SAID.setdefault(text, mine) is mine:
            log.warning(text)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[int]:
        """Holds the folder's lock within the context; the system releases the lock if the process dies."""
        path = os.path.join(self._folder, _LOCK)
        lock = opening(lambda: os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        try:
            end, pause = time.monotonic() + _PATIENCE, 0.001
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise TimeoutError(
                            errno.ETIMEDOUT, "another process does not let go of its lock"
                        ) from None
                current_scope().wait(path, pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            try:
                yield lock
            finally:
                # Closing the file is not enough, because a forked process may keep it open.
                fcntl.flock(lock, fcntl.LOCK_UN)
        finally:
            os.close(lock)

    def _reserve(self, lock: int, size: int) -> bool:
        """Adds `size` bytes to the total before a file is written; returns False if the file is larger than the limit."""
        block = _block(lock)
        # Adds a block for the file system's metadata of the file.
        need = -(-size // block) * block + block
        room = self._most - self._overhead(lock) - need
        if room < 0:
            self._say(f"parts larger than cache_bytes={self._most} of jdali.storage are not kept")
            return False
        total = os.pread(lock, _TOTAL.size, 0)
        held = _TOTAL.unpack(total)[0] if len(total) == _TOTAL.size else self._most
        if held > room:
            held = self._evict(lock, room - min(room, self._most // _SPARE))
        os.pwrite(lock, _TOTAL.pack(held + need), 0)
        return True

    def _overhead(self, lock: int) -> int:
        """Returns how many bytes the lock file and the folder itself take on disk after one more file is added."""
        return os.stat(self._folder).st_blocks * 512 + 3 * _block(lock)

    def _evict(self, lock: int, most: int) -> int:
        """Removes the oldest files until at most `most` bytes remain; returns the number of remaining bytes."""
        block, found = _block(lock), []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.name == _NEW:  # left by a process that died
                    os.unlink(entry)
                elif entry.name.endswith(_PART):
                    with contextlib.suppress(FileNotFoundError):  # a reader removed the damaged file
                        facts = entry.stat(follow_symlinks=False)
                        # Some file systems count a file's blocks only after writing them to disk, so the file's size is used too.
                        size = max(facts.st_blocks * 512, -(-facts.st_size // block) * block)
                        found.append((facts.st_mtime_ns, entry.path, size))
        held = sum(size for _, _, size in found)
        for _, path, size in sorted(found):
            if held <= most:
                break
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            held -= size
        os.pwrite(lock, _TOTAL.pack(held), 0)
        return held


def _block(file: int) -> int:
    return os.fstatvfs(file).f_frsize


def _set_time(path: str) -> None:
    """Sets a file's modification time to now; Python's clock has a finer resolution than the file system's."""
    os.utime(path, ns=(time.time_ns(),) * 2)


def _name(key: str) -> str:
    return hashlib.sha256(os.fsencode(f"{_VERSION} {key}")).hexdigest() + _PART


def _checksum(name: str, data: bytes) -> bytes:
    return _CHECKSUM.pack(zlib.crc32(data, zlib.crc32(name.encode())))
