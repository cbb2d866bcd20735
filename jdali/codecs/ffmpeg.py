"""FFmpeg, through the optional package PyAV: where it is, and how it opens files."""

from __future__ import annotations

import functools
import importlib
from typing import Any

# From this version on, text in an encoding that PyAV does not expect is never an error, and cannot be asked about.
_ANY_ENCODING = 19


@functools.cache
def pyav() -> Any | None:
    """The package, or None if it is not installed."""
    try:
        return importlib.import_module("av")
    except ImportError:
        return None


def open_file(source: object, **arguments: Any) -> Any:
    """Opens a file for reading, whatever encoding the text of its metadata has.

    Args:
        source: as `av.open` takes it.
        arguments: others of `av.open`.

    Returns: the container.
    """
    package = importlib.import_module("av")
    if int(package.__version__.split(".")[0]) < _ANY_ENCODING:
        arguments["metadata_errors"] = "ignore"
    return package.open(source, **arguments)
