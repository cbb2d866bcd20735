"""JAX's persistent compilation cache: on by default, so that a second start compiles nothing."""

from __future__ import annotations

import os
from pathlib import Path

import jax

# Programs that compile faster than this are not worth a file.
MIN_COMPILE_SECONDS = 0.05


def cache_folder() -> Path:
    """$JDALI_CACHE_DIR, else `jdali` in the user's cache folder."""
    if folder := os.environ.get("JDALI_CACHE_DIR"):
        return Path(folder)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "jdali"


def enable_compilation_cache() -> None:
    """Turns the cache on, unless the user has configured JAX's himself or set JDALI_COMPILATION_CACHE=0."""
    if os.environ.get("JDALI_COMPILATION_CACHE") == "0" or jax.config.jax_compilation_cache_dir is not None:
        return
    folder = cache_folder() / "xla"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return  # a read-only home: compile again next time
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", MIN_COMPILE_SECONDS)
