"""Caches indexes that were built by scanning a file, in the user's cache folder."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from jdali._storage import files as _storage
from jdali._system.cache_folder import cache_folder
from jdali._system.progress import progress_bar
from jdali.codecs import npy

Arrays = Mapping[str, np.ndarray]
# File system clocks are coarse, so a file changed less than this time ago may change again without a new time stamp.
_SETTLED_NS = 2_000_000_000
# Part of the names of cached files. Change it whenever the content of an index changes.
_VERSION = 4


def always(index: Arrays) -> bool:
    """Accepts any cached index. Use it for kinds of indexes that cannot be checked."""
    return True


def never(index: Arrays) -> bool:
    return False


def cached_index(
    kind: str, path: str, build: Callable[[], Arrays], fits: Callable[[Arrays], bool] = always
) -> Arrays:
    """Returns the index of a file from the cache, or builds it.

    The cache key has the file's path, size, inode and times of change; for a URL, the result of `remote.version`. Some
    changes of a file do not alter the key, so readers also check the records they read. To rebuild a wrong index, they
    pass `fits=never`. Without a writable cache folder the index is built each time.

    Args:
        kind: name of the kind of index, including any settings that its content depends on.
        build: builds the index, a dict of arrays.
        fits: returns True if a cached index agrees with the file at some sampled places.
    """
    version = _storage.version(path)
    if version is None:
        return build()
    key = f"{_VERSION} {kind} {version}"
    name = hashlib.sha256(os.fsencode(key)).hexdigest()[:32] + ".npz"
    file = cache_folder() / "index" / name
    with contextlib.suppress(Exception):  # a bad cache file is replaced
        index = _loaded(file)
        if fits(index):
            return index
    index = build()
    if not _is_settled(path, version):
        return index
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        # The file is renamed when complete, because several processes may build the same index at once.
        descriptor, temporary = tempfile.mkstemp(dir=file.parent, suffix=".part")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                # `savez` gets no options, because NumPy 2.1 would store them as arrays.
                np.savez(stream, **index)  # type: ignore[arg-type]
            os.replace(temporary, file)
        except OSError:
            os.unlink(temporary)
            raise
    return index


def _is_settled(path: str, version: str) -> bool:
    """Returns True if the file still has this version, and is old enough that any later change will alter the version."""
    try:
        if _storage.version(path) != version:
            return False
        if _storage.is_url(path):
            return True
        facts = os.stat(path)
    except OSError:
        return False
    return time.time_ns() - max(facts.st_mtime_ns, facts.st_ctime_ns) >= _SETTLED_NS


def _loaded(file: Path) -> Arrays:
    """Loads the arrays of a .npz file; thread-safe.

    `numpy.load` is not thread-safe in CPython 3.11, because it parses headers with `ast`.
    """
    with zipfile.ZipFile(file) as archive:
        return {name.removesuffix(".npy"): npy.decode(archive.read(name)) for name in archive.namelist()}


@contextlib.contextmanager
def scan_bar(path: str, *, wanted: bool = True) -> Iterator[Callable[[int], None]]:
    """Shows a progress bar if scanning a file takes long.

    Yields: a function that takes the number of bytes scanned so far.
    """
    shown = wanted and sys.stderr.isatty()
    with progress_bar(_storage.size(path) if shown else None, "B", path, wanted=shown) as advance:
        last = 0

        def show(at: int) -> None:
            nonlocal last
            advance(at - last)
            last = at

        yield show
