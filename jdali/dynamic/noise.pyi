"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
from typing import Any
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._rng import RNG
from jdali.dynamic._tensor import Tensor

def gaussian(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    mean: float | Tensor | Batch = 0.0,
    stddev: float | Tensor | Batch = 1.0,
    rng: RNG | None = None,
) -> Any: ...

def salt_and_pepper(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    pepper_val: float | Tensor | Batch | None = None,
    per_channel: builtins.bool = False,
    prob: float | Tensor | Batch = 0.05,
    salt_val: float | Tensor | Batch | None = None,
    salt_vs_pepper: float | Tensor | Batch = 0.5,
    rng: RNG | None = None,
) -> Any: ...

def shot(
    data: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    factor: float | Tensor | Batch = 12.0,
    rng: RNG | None = None,
) -> Any: ...
