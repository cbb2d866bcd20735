"""JAX's persistent compilation cache: on by default, so that a second start compiles nothing."""

from __future__ import annotations

import os

import jax

from jdali._system.cache_folder import cache_folder

# Programs that compile faster than this are not worth a file.
MIN_COMPILE_SECONDS = 0.05


def enable_compilation_cache() -> None:
    """Turns the cache on, unless the user has configured JAX's himself or set JDALI_COMPILATION_CACHE=0."""
    configured = getattr(jax.config, "jax_compilation_cache_dir", None)
    if os.environ.get("JDALI_COMPILATION_CACHE") == "0" or configured is not None:
        return
    folder = cache_folder() / "xla"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return  # a read-only home: compile again next time
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", MIN_COMPILE_SECONDS)
