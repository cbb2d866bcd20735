"""Flags of XLA for the tests. Imported before JAX starts."""

from __future__ import annotations

import os
import subprocess
import sys

FLAGS = {
    "xla_force_host_platform_device_count": "8",
    # A test compiles many small programs and runs each of them once. Split in 32 modules, as is the rule, such a
    # program costs a fifth more of processor time; with XLA's newer loops, where there are others, twice as much.
    "xla_cpu_parallel_codegen_split_count": "1",
    "xla_cpu_use_fusion_emitters": "false",
}
# Processes that tests start, pytest-xdist's among them, take what the first one found out.
_FOUND = "JDALI_TESTS_XLA_FLAGS"


def flags() -> str:
    """`FLAGS`, without those that this version of XLA does not know: they would end the process."""
    if _FOUND not in os.environ:
        every = [f"--{name}={value}" for name, value in FLAGS.items()]
        known = every if _starts_with(every) else [flag for flag in every if _starts_with([flag])]
        os.environ[_FOUND] = " ".join(known)
    return os.environ[_FOUND]


def _starts_with(flags: list[str]) -> bool:
    """True if XLA starts in a process of its own."""
    environment = os.environ | {"XLA_FLAGS": " ".join(flags), "JAX_PLATFORMS": "cpu"}
    trial = subprocess.run(
        [sys.executable, "-c", "import jax; jax.devices()"], env=environment, capture_output=True, check=False
    )
    return trial.returncode == 0
