"""Indexes that were built by scanning a file, kept in the user's cache folder for the next start."""

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
# A file that was changed so recently may be changed again with the same time: clocks of file systems are coarse.
_SETTLED_NS = 2_000_000_000
# Part of the names of the files: a change of what an index holds must change it.
_VERSION = 3


def always(index: Arrays) -> bool:
    """Accepts any index: for kinds that cannot be checked."""
    return True


def never(index: Arrays) -> bool:
    """Rejects any cached index, so that it is built again."""
    return False


def cached_index(
    kind: str, path: str, build: Callable[[], Arrays], fits: Callable[[Arrays], bool] = always
) -> Arrays:
    """Returns the index of a file from the cache, or builds it.

    A file is the same if its path, size, inode and times of change are, or what else a storage tells of its content.
    No such key is sure: readers also check what they read, and rebuild a wrong index (`never`).
    Without a writable cache folder the index is built each time.

    Args:
        kind: of the index, with what it depends on besides the file.
        path: of the file.
        build: makes the index, arrays by name.
        fits: whether an index of the cache fits the file, by a look at some places of it.
    """
    version = _storage.version(path)
    if version is None:
        return build()
    key = f"{_VERSION} {kind} {version}"
    name = hashlib.sha256(os.fsencode(key)).hexdigest()[:32] + ".npz"
    file = cache_folder() / "index" / name
    with contextlib.suppress(Exception):  # a bad cache file is built again
        index = _loaded(file)
        if fits(index):
            return index
    index = build()
    if not _is_settled(path, version):
        return index
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        # Renamed when complete: several processes may build the same index at once.
        descriptor, temporary = tempfile.mkstemp(dir=file.parent, suffix=".part")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                # No options: NumPy 2.1 stores them as arrays.
                np.savez(stream, **index)  # type: ignore[arg-type]
            os.replace(temporary, file)
        except OSError:
            os.unlink(temporary)
            raise
    return index


def _is_settled(path: str, version: str) -> bool:
    """Returns True if a file has not changed since its index was built, and gets another version when it changes."""
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
    """Loads the arrays of a .npz file from any thread. `numpy.load` may not: it parses headers with `ast`,
    whose calls disturb each other between threads in CPython 3.11.
    """
    with zipfile.ZipFile(file) as archive:
        return {name.removesuffix(".npy"): npy.decode(archive.read(name)) for name in archive.namelist()}


@contextlib.contextmanager
def scan_bar(path: str, *, wanted: bool = True) -> Iterator[Callable[[int], None]]:
    """Shows how much of a file was scanned, if the scan takes long.

    Args:
        path: of the file, or its URL.
        wanted: False: no bar.

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
