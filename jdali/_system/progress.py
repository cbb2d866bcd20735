"""Shows progress bars for long calls, if stderr is a terminal and tqdm is installed."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

_AFTER_SECONDS = 1.0


@contextlib.contextmanager
def progress_bar(
    total: int | None, unit: str, title: str, *, wanted: bool = True
) -> Iterator[Callable[[int], object]]:
    """Shows a bar on stderr after one second; does nothing without a terminal or without tqdm.

    Args:
        total: number of units; None if it is unknown.
        unit: "batches", "files", or "B" for bytes.

    Yields: a function that adds a number of units.
    """
    if not wanted or not sys.stderr.isatty():
        yield lambda count: None
        return
    try:
        tqdm: Any = importlib.import_module("tqdm").tqdm
    except ImportError:
        yield lambda count: None
        return
    unit_text = unit if unit == "B" else f" {unit}"
    with tqdm(
        total=total, unit=unit_text, unit_scale=unit == "B", desc=title, delay=_AFTER_SECONDS, leave=False
    ) as bar:
        yield bar.update
