"""Flags of XLA for the tests. Imported before JAX starts."""

from __future__ import annotations

import importlib.util
import mmap
from pathlib import Path

FLAGS = {
    "xla_force_host_platform_device_count": "8",
    # A test compiles many small programs and runs each of them once. Split in 32 modules, as is the rule, such a
    # program costs a fifth more of processor time; with XLA's newer loops, which the engine does not use, twice as
    # much.
    "xla_cpu_parallel_codegen_split_count": "1",
    "xla_cpu_use_fusion_emitters": "false",
}


def flags() -> str:
    """`FLAGS`, without those that this version of XLA does not know: they would end the process."""
    return " ".join(f"--{name}={value}" for name, value in FLAGS.items() if _known(name))


def _known(name: str) -> bool:
    spec = importlib.util.find_spec("jaxlib")
    assert spec is not None
    assert spec.origin is not None
    library = max(Path(spec.origin).parent.glob("*.so"), key=lambda file: file.stat().st_size)
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(name.encode()) >= 0
