"""Operators that are compiled and see one sample: most of them."""

from __future__ import annotations

import dataclasses
from typing import Literal, TypeAlias

from jdali._operators.base import decorator
from jdali._operators.compiled import CompiledOp, CompiledOptions

TakesFrames: TypeAlias = Literal["first", "inputs", "arguments"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DeviceOptions(CompiledOptions):
    """Options of `operator`.

    Attributes:
        layouts: layouts that `run` understands, e.g. ("HWC",). The engine transposes other orders
            of the same axes (CHW), adds a missing C and maps over frames (FHWC, CFHW). Empty:
            `run` takes any layout (and may ask for it with the parameter `layout`).
        sequence: axes F are mapped over (only with `layouts`).
        takes_frames: where axes F may come from: from the first input, from any input, or from any input or
            argument. What has none is the same for all frames of a sample, see `frames.py`.
    """

    layouts: tuple[str, ...] = ()
    sequence: bool = True
    takes_frames: TakesFrames = "first"


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DeviceOp(CompiledOp, DeviceOptions):
    """A pure function of one padded sample; the engine maps it over the batch."""


operator = decorator(
    "operator",
    DeviceOp,
    DeviceOptions,
    "Makes a `DeviceOp` of a pure function of one sample, and registers it.",
)
