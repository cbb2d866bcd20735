"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
from typing import Any
from numpy.typing import ArrayLike
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._rng import RNG
from jdali.dynamic._tensor import Tensor

def gaussian(
    data: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    mean: float | Tensor | Batch = 0.0,
    stddev: float | Tensor | Batch = 1.0,
    rng: RNG | None = None,
    key: Any = None,
) -> Tensor | Batch:
    """Adds normally distributed noise to each element. Results are rounded half away from zero and saturated.

    Args:
        data: any shape and type.
        mean: mean of the noise, in units of the data.
        stddev: standard deviation of the noise, in units of the data.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: generator of random values; None: the thread's default one.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: shape and type of `data`.

    Example: images = fn.noise.gaussian(images, stddev=40.0)
    """

def salt_and_pepper(
    data: Tensor | Batch | ArrayLike,
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
    key: Any = None,
) -> Tensor | Batch:
    """Replaces random pixels by "salt" or "pepper".

    Args:
        data: any shape and type; without a layout, the last axis has the channels.
        pepper_val: value of pepper, rounded and saturated; None: the smallest value of integer types, -1 for floats.
        per_channel: True: replace channels independently; False: whole pixels.
        prob: probability that a pixel is replaced, 0 to 1.
        salt_val: value of salt, rounded and saturated; None: the largest value of integer types, 1 for floats.
        salt_vs_pepper: probability that a replaced pixel becomes salt, 0 to 1.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: generator of random values; None: the thread's default one.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: shape and type of `data`.

    Parity: DALI wraps values that an integer type cannot hold.

    Example: images = fn.noise.salt_and_pepper(images, prob=0.1)
    """

def shot(
    data: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    factor: float | Tensor | Batch = 12.0,
    rng: RNG | None = None,
    key: Any = None,
) -> Tensor | Batch:
    """Replaces each element by `factor` times a Poisson variate, whose mean is the element divided by `factor`.

    out = poisson(max(0, in / factor)) · factor, rounded half away from zero and saturated.

    Args:
        data: any shape and type. NaN, infinite and negative values count as 0.
        factor: value that one event adds; a larger value adds more noise. 0 leaves the data unchanged.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: generator of random values; None: the thread's default one.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: shape and type of `data`.

    Parity: DALI documents a default of 20 and uses 12 (measured: all outputs are multiples of 12). With a
    factor of 0 DALI returns zeros, though its code is meant to leave the data unchanged. DALI hangs if a mean is 2³²
    or more; jdali has no such limit.

    Example: images = fn.noise.shot(images, factor=20.0)
    """
