"""Compiles programs for a TPU v5e where none is: `libtpu`, which `pip install jax[tpu]` brings, needs its name alone."""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Callable
from typing import Any

import jax
from jax.experimental import topologies

from support.h100 import programs_not_loaded

MISSING = "XLA's compiler for TPUs is not installed: pip install jax[tpu]"
# Otherwise libtpu asks the machine's cloud which TPUs it has, and refuses to be loaded by two processes.
_SETTINGS = {
    "TPU_SKIP_MDS_QUERY": "1", "TPU_ACCELERATOR_TYPE": "v5litepod-4", "TPU_WORKER_HOSTNAMES": "localhost",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
}  # fmt: skip


def is_installed() -> bool:
    return importlib.util.find_spec("libtpu") is not None


@functools.cache
def _sharding() -> jax.sharding.Sharding:
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    topology = topologies.get_topology_desc("v5e:2x2", platform="tpu")
    return jax.sharding.SingleDeviceSharding(topology.devices[0])


def compiled(function: Callable[..., Any], *shapes: Any) -> Any:
    """Compiles a function of arrays, or pytrees of them, of which only shapes and types count, for a TPU v5e."""
    jitted = jax.jit(function, in_shardings=_sharding(), out_shardings=_sharding())
    lowered = jitted.trace(*shapes).lower(lowering_platforms=("tpu",))
    with programs_not_loaded():
        return lowered.compile()
