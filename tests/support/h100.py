"""Compiles programs for an H100 where none is: XLA's GPU compiler needs a description of the device, and two wheels.

`pip install jdali[gpu-compile] jax==...` brings them, in the version of JAX. Neither a driver nor a library of NVIDIA's is
needed.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
from jax.experimental import topologies

MISSING = f"XLA's compiler for GPUs is not installed: pip install jdali[gpu-compile] jax=={jax.__version__}"
# There is no device to time kernels on.
_OPTIONS = {"xla_gpu_autotune_level": 0}


def is_installed() -> bool:
    return importlib.util.find_spec("jax_cuda12_plugin") is not None


@functools.cache
def _sharding() -> jax.sharding.Sharding:
    description = Path(__file__).with_suffix(".txtpb").read_text()
    topology = topologies.get_topology_desc(platform="cuda", target_config=description, topology="1x1x1")
    return jax.sharding.SingleDeviceSharding(topology.devices[0])


@contextlib.contextmanager
def programs_not_loaded() -> Iterator[None]:
    """Compiles again what JAX keeps on disk from an earlier run, for it cannot be loaded where its device is not."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Error reading persistent compilation cache")
        yield


def compiled(function: Callable[..., Any], *shapes: Any) -> Any:
    """Compiles a function of arrays, or pytrees of them, of which only shapes and types count, for an H100."""
    jitted = jax.jit(function, in_shardings=_sharding(), out_shardings=_sharding())
    lowered = jitted.trace(*shapes).lower(lowering_platforms=("cuda",))
    with programs_not_loaded():
        return lowered.compile(compiler_options=_OPTIONS)
