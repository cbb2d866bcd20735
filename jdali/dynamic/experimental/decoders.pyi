"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
import typing
from typing import Any
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._tensor import Tensor

def video(
    encoded: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    affine: builtins.bool = True,
    build_index: builtins.bool = True,
    end_frame: int | Tensor | Batch | None = None,
    fill_value: int | typing.Sequence[int] = ...,
    frames: typing.Sequence[int] | Tensor | Batch | None = None,
    pad_mode: typing.Sequence[str] | str | Tensor | Batch = 'constant',
    sequence_length: int | Tensor | Batch | None = None,
    start_frame: int | Tensor | Batch | None = None,
    stride: int | Tensor | Batch | None = None,
) -> Any: ...
