"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import Literal
from typing import overload
from numpy.typing import NDArray
from numpy.typing import ArrayLike
from jdali.data_node import DataNode

@overload
def gaussian(
    data: DataNode | ArrayLike,
    /,
    *,
    mean: float | DataNode = 0.0,
    stddev: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> DataNode:
    """Adds normally distributed noise to each element. Results are rounded half away from zero and saturated.

    Args:
        data: any shape and type.
        mean: mean of the noise, in units of the data.
        stddev: standard deviation of the noise, in units of the data.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: shape and type of `data`.

    Example: images = fn.noise.gaussian(images, stddev=40.0)
    """

@overload
def gaussian(
    data: list[DataNode],
    /,
    *,
    mean: float | DataNode = 0.0,
    stddev: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[DataNode]: ...

@overload
def salt_and_pepper(
    data: DataNode | ArrayLike,
    /,
    *,
    pepper_val: float | DataNode | None = None,
    per_channel: bool = False,
    prob: float | DataNode = 0.05,
    salt_val: float | DataNode | None = None,
    salt_vs_pepper: float | DataNode = 0.5,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> DataNode:
    """Replaces random pixels by "salt" or "pepper".

    Args:
        data: any shape and type; without a layout, the last axis has the channels.
        pepper_val: value of pepper, rounded and saturated; None: the smallest value of integer types, -1 for floats.
        per_channel: True: replace channels independently; False: whole pixels.
        prob: probability that a pixel is replaced, 0 to 1.
        salt_val: value of salt, rounded and saturated; None: the largest value of integer types, 1 for floats.
        salt_vs_pepper: probability that a replaced pixel becomes salt, 0 to 1.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: shape and type of `data`.

    Parity: DALI wraps values that an integer type cannot hold.

    Example: images = fn.noise.salt_and_pepper(images, prob=0.1)
    """

@overload
def salt_and_pepper(
    data: list[DataNode],
    /,
    *,
    pepper_val: float | DataNode | None = None,
    per_channel: bool = False,
    prob: float | DataNode = 0.05,
    salt_val: float | DataNode | None = None,
    salt_vs_pepper: float | DataNode = 0.5,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[DataNode]: ...

@overload
def shot(
    data: DataNode | ArrayLike,
    /,
    *,
    factor: float | DataNode = 12.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> DataNode:
    """Replaces each element by `factor` times a Poisson variate, whose mean is the element divided by `factor`.

    out = poisson(max(0, in / factor)) · factor, rounded half away from zero and saturated.

    Args:
        data: any shape and type. NaN, infinite and negative values count as 0.
        factor: value that one event adds; a larger value adds more noise. 0 leaves the data unchanged.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: shape and type of `data`.

    Parity: DALI documents a default of 20 and uses 12 (measured: all outputs are multiples of 12). With a
    factor of 0 DALI returns zeros, though its code is meant to leave the data unchanged. DALI hangs if a mean is 2³²
    or more; jdali has no such limit.

    Example: images = fn.noise.shot(images, factor=20.0)
    """

@overload
def shot(
    data: list[DataNode],
    /,
    *,
    factor: float | DataNode = 12.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[DataNode]: ...
