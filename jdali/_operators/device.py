"""Operators that are compiled and see one sample: most of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from jdali._operators.base import Outputs, Setup, WholeBatch
from jdali._operators.compiled import USUAL_NANOSECONDS, CompiledOp, FreePadding, SetupNeeds
from jdali._operators.offers import Offer

TakesFrames: TypeAlias = Literal["first", "inputs", "arguments"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DeviceOp(CompiledOp):
    """A pure function of one padded sample; the engine maps it over the batch.

    Attributes:
        layouts: layouts that `run` understands, e.g. ("HWC",). The engine transposes other orders
            of the same axes (CHW), adds a missing C and maps over frames (FHWC, CFHW). Empty:
            `run` takes any layout (and may ask for it with the parameter `layout`).
        sequence: whether axes F are mapped over (only with `layouts`).
        takes_frames: where axes F may come from: from the first input, from any input, or from any input or
            argument. What has none is the same for all frames of a sample, see `frames.py`.
    """

    layouts: tuple[str, ...] = ()
    sequence: bool = True
    takes_frames: TakesFrames = "first"


def operator(
    *,
    name: str | None = None,
    setup: Setup | None = None,
    setup_needs: SetupNeeds | None = None,
    layouts: tuple[str, ...] = (),
    sequence: bool = True,
    takes_frames: TakesFrames = "first",
    outputs: Outputs = 1,
    output_per_optional: bool = False,
    devices: tuple[str, ...] = ("cpu", "gpu"),
    free_padding: FreePadding = "none",
    whole_batch: WholeBatch | None = None,
    nanoseconds: float = USUAL_NANOSECONDS,
    wide_vectors: bool = False,
    uses: tuple[type[Offer], ...] = (),
    source: str = "",
) -> Callable[[Callable[..., Any]], DeviceOp]:
    """Makes a `DeviceOp` of a pure function of one sample, and registers it; the options are its fields."""

    def decorate(run: Callable[..., Any]) -> DeviceOp:
        return DeviceOp.of(
            run, name, setup=setup, setup_needs=setup_needs, layouts=layouts, sequence=sequence, takes_frames=takes_frames,
            outputs=outputs, output_per_optional=output_per_optional, devices=devices, free_padding=free_padding,
            whole_batch=whole_batch, nanoseconds=nanoseconds, wide_vectors=wide_vectors, uses=uses, source=source,
        )  # fmt: skip

    return decorate
