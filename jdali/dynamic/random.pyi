"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from numpy.typing import DTypeLike
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._tensor import Tensor
from jdali.dynamic._rng import RNG as RNG
from jdali.dynamic._rng import get_default_rng as get_default_rng
from jdali.dynamic._rng import set_seed as set_seed

def beta(
    shape_like: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    alpha: float | Tensor | Batch = 1.0,
    beta: float | Tensor | Batch = 1.0,
    dtype: DTypeLike | None = None,
    shape: typing.Sequence[int] | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Any: ...

def choice(
    a: Any,
    shape_like: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    p: typing.Sequence[float] | Tensor | Batch | None = None,
    shape: typing.Sequence[int] | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Any: ...

def coin_flip(
    shape_like: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | None = None,
    probability: float | Tensor | Batch = 0.5,
    shape: typing.Sequence[int] | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Any: ...

def normal(
    shape_like: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | None = None,
    mean: float | Tensor | Batch = 0.0,
    shape: typing.Sequence[int] | Tensor | Batch | None = None,
    stddev: float | Tensor | Batch = 1.0,
    rng: RNG | None = None,
) -> Any: ...

def uniform(
    shape_like: Any = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DTypeLike | None = None,
    range: typing.Sequence[float] | Tensor | Batch = ...,
    shape: typing.Sequence[int] | Tensor | Batch | None = None,
    values: typing.Sequence[float] | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Any: ...
