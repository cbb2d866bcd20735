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
    """Adds a number of a normal distribution to each element; rounds half away from zero, saturates.

    Args:
        data: any shape and type.
        mean: of the noise, in units of the data.
        stddev: standard deviation of the noise, likewise.
        batch_size: size of the batch to make, where no input is one; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: where the random values are drawn from; None: the default of the thread.
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
    """Replaces pixels by "salt" or by "pepper".

    Args:
        data: any shape and type; without a layout its last axis is taken for the channels.
        pepper_val: value of pepper, rounded and saturated; None: the least of the type, -1 for floats.
        per_channel: decide for each channel, not for the whole pixel.
        prob: probability of a pixel to be replaced, 0 to 1.
        salt_val: value of salt, rounded and saturated; None: the largest of the type, 1 for floats.
        salt_vs_pepper: probability of a replaced pixel to become salt, 0 to 1.
        batch_size: size of the batch to make, where no input is one; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: where the random values are drawn from; None: the default of the thread.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: shape and type of `data`.

    Parity: DALI wraps a value that an integer type cannot hold around.

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
    """Replaces each element by a Poisson variate with that mean, in units of `factor`.

    out = poisson(max(0, in / factor)) · factor; rounds half away from zero, saturates.

    Args:
        data: any shape and type.
        factor: what one event adds; the larger, the more noise. 0 leaves the data as they are.
        batch_size: size of the batch to make, where no input is one; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: where the random values are drawn from; None: the default of the thread.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: shape and type of `data`; of NaN, an infinite or a negative value it is that of a mean of 0.

    Parity: DALI documents a default of 20 and uses 12 (measured: all outputs are multiples of 12). With a
    factor of 0 DALI gives zeros, though its source means to leave the data as they are; for means of 2³² and
    more it never ends, while here there is no limit.

    Example: images = fn.noise.shot(images, factor=20.0)
    """
