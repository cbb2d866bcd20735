"""Finds the folder for caches of compiled programs and of indexes."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Returns $JDALI_CACHE_DIR, else `jdali` in the user's cache folder."""
    if folder := os.environ.get("JDALI_CACHE_DIR"):
        return Path(folder)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "jdali"
