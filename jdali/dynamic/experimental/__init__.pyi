"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._tensor import Tensor
from jdali.dynamic.experimental import decoders as decoders
from jdali.dynamic.experimental import readers as readers

def dilate(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    anchor: typing.Sequence[int] | Tensor | Batch = ...,
    border_mode: str = 'constant',
    iterations: int = 1,
    mask_size: typing.Sequence[int] | Tensor | Batch = ...,
) -> Any: ...

def erode(
    image: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    anchor: typing.Sequence[int] | Tensor | Batch = ...,
    border_mode: str = 'constant',
    iterations: int = 1,
    mask_size: typing.Sequence[int] | Tensor | Batch = ...,
) -> Any: ...
