"""A progress bar for scans of whole files, which make indexes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from jdali._storage import files as _storage
from jdali._system.progress import progress_bar


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
