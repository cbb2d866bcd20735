"""Defines the options of an engine."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import jax


@dataclasses.dataclass(frozen=True)
class EngineOptions:
    """Options of an engine, as `Pipeline` documents them."""

    batch_size: int
    threads: int
    most_idle: int  # maximum bytes of unused host memory that are kept for later batches
    seed: int
    devices: Mapping[str, jax.Device]  # JAX's devices for "cpu" and "gpu"
    on_error: str = "raise"
    max_compiles: int | None = None
    scaled_decoding: bool = False
    exact_shapes: bool = False
    compilation_cache: bool = False

    @property
    def one_device(self) -> bool:
        """True if "cpu" and "gpu" are the same device, because there is no accelerator."""
        return self.devices["cpu"] == self.devices["gpu"]
