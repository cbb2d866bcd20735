"""Data sets of the examples: made on the first call, kept in the user's cache folder."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


def made_once(name: str, write: Callable[[Path, Path], None]) -> Path:
    """The folder of this name in the cache.

    Args:
        name: of the folder.
        write: write(making, folder) fills `making`, which is then renamed to `folder`: so nobody ever sees
            half of a data set.
    """
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = caches / "jdali-examples" / name
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder.parent))
    try:
        write(making, folder)
        os.rename(making, folder)
    except OSError:
        if not folder.is_dir():  # else somebody was faster
            raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return folder
