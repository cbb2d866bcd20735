"""Shared fixtures: eight virtual CPU devices, and a compilation cache for the test session."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # `make gpu` says otherwise
# Small programs, compiled once each: as one module, not in 32 that cost a fifth more of processor time.
for flag in ("xla_force_host_platform_device_count=8", "xla_cpu_parallel_codegen_split_count=1"):
    if flag.split("=")[0] not in os.environ.get("XLA_FLAGS", ""):
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --{flag}"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(tempfile.gettempdir()) / "jdali-test-jax-cache"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")

import jax
import pytest
from support.accelerator import accelerator  # noqa: F401


@pytest.fixture(scope="module", autouse=True)
def _programs_of_one_module_only():
    """Lets go of compiled programs after each module: a whole run would hold gigabytes of them."""
    yield
    jax.clear_caches()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The shared data pack; tests that use it are skipped where it is not there."""
    from support.data import SHARED

    if not SHARED.is_dir():
        pytest.skip("the shared data pack is not here")
    return SHARED
