"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from numpy.typing import DTypeLike
from numpy.typing import NDArray
from jdali import types
from numpy.typing import ArrayLike
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._dtype import DType
from jdali.dynamic._tensor import Tensor
from jdali.dynamic._rng import RNG as RNG
from jdali.dynamic._rng import get_default_rng as get_default_rng
from jdali.dynamic._rng import set_seed as set_seed

def beta(
    shape_like: Tensor | Batch | ArrayLike | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    alpha: float | Tensor | Batch = 1.0,
    beta: float | Tensor | Batch = 1.0,
    dtype: DType | types.DALIDataType | DTypeLike | None = None,
    shape: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    rng: RNG | None = None,
    key: Any = None,
) -> Tensor | Batch:
    """Draws from the beta distribution, with density proportional to x^(alpha-1) (1-x)^(beta-1).

    Args:
        shape_like: tensor whose shape the output takes.
        alpha: first parameter of the distribution, above 0.
        beta: second parameter of the distribution, above 0.
        dtype: float32 or float64; None: float32.
        shape: shape of the output; None: the shape of `shape_like`, or a scalar.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: generator of random values; None: the thread's default one.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: `shape`, `dtype`, from 0 to 1. An `alpha` or `beta` that is not above 0 raises an error. If the
        compiled program itself computes the parameter, it cannot raise errors, and the result is NaN.

    Example: values = fn.random.beta(alpha=2.0, beta=5.0, shape=[3])
    """

def choice(
    a: Tensor | Batch | ArrayLike,
    shape_like: Tensor | Batch | ArrayLike | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    p: float | typing.Sequence[float] | NDArray[Any] | Tensor | Batch | None = None,
    shape: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    rng: RNG | None = None,
    key: Any = None,
) -> Tensor | Batch:
    """Draws elements of an array, with replacement.

    Args:
        a: [n, ...], the elements; or an integer n, for the elements 0 to n-1.
        shape_like: tensor whose shape the output takes.
        p: [n], probability of each element, with sum 1; None: equal probabilities. n may differ by sample.
        shape: shape of the output; None: the shape of `shape_like`, or one element.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: generator of random values; None: the thread's default one.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: [*shape, ...], the type of `a`.

    Parity: DALI raises if n is not positive, or differs from the number of probabilities. jdali does not check a
        scalar `a` that is computed in the pipeline: with `p`, the scalar has no effect, and n is the number of
        probabilities; without `p`, the result is 0 if the scalar is below 1.

    Example: value = fn.random.choice(5)
    """

def coin_flip(
    shape_like: Tensor | Batch | ArrayLike | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DType | types.DALIDataType | DTypeLike | None = None,
    probability: float | Tensor | Batch = 0.5,
    shape: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    rng: RNG | None = None,
    key: Any = None,
) -> Tensor | Batch:
    """Draws 1 with the probability `probability`, else 0.

    Args:
        shape_like: tensor whose shape the output takes.
        dtype: type of the output; None: int32.
        probability: probability of a 1; values outside of 0 to 1 are clipped.
        shape: shape of the output; None: the shape of `shape_like`, or a scalar.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: generator of random values; None: the thread's default one.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: `shape`, `dtype`.

    Example: flip = fn.random.coin_flip(probability=0.3)
    """

def normal(
    shape_like: Tensor | Batch | ArrayLike | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DType | types.DALIDataType | DTypeLike | None = None,
    mean: float | Tensor | Batch = 0.0,
    shape: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    stddev: float | Tensor | Batch = 1.0,
    rng: RNG | None = None,
    key: Any = None,
) -> Tensor | Batch:
    """Draws from a normal distribution.

    Args:
        shape_like: tensor whose shape the output takes.
        dtype: type of the output; None: float32. Integers round half away from zero and saturate.
        mean: centre of the distribution.
        shape: shape of the output; None: the shape of `shape_like`, or a scalar.
        stddev: standard deviation; a negative one mirrors values about the mean.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: generator of random values; None: the thread's default one.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: `shape`, `dtype`; within 5.5 standard deviations of the mean.

    Example: values = fn.random.normal(mean=1.0, stddev=0.5, shape=[3])
    """

def uniform(
    shape_like: Tensor | Batch | ArrayLike | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    dtype: DType | types.DALIDataType | DTypeLike | None = None,
    range: float | typing.Sequence[float] | NDArray[Any] | Tensor | Batch = (-1.0, 1.0),
    shape: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    values: float | typing.Sequence[float] | NDArray[Any] | Tensor | Batch | None = None,
    rng: RNG | None = None,
    key: Any = None,
) -> Tensor | Batch:
    """Draws from a range, excluding its end, or from a list of values.

    Args:
        shape_like: tensor whose shape the output takes.
        dtype: type of the output; None: float32. Integers round half away from zero and saturate. For the range
            [0, 10], 10 may therefore be drawn, and 0 and 10 have half the probability of the other integers, as in
            DALI. `random.choice(11)` draws 0 to 10 with equal probabilities.
        range: (begin, end), begin < end.
        shape: shape of the output; None: the shape of `shape_like`, or a scalar.
        values: values to draw from; `range` is then ignored.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: generator of random values; None: the thread's default one.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: `shape`, `dtype`; numbers from a range have 23 random bits, choices from a list 32.

    Parity: for integers, DALI truncates the limits of the range first ([0.5, 2.5] gives 0, 1 and 2), and wraps
    limits that `dtype` cannot hold.

    Example: values = fn.random.uniform(range=[-1.0, 1.0], shape=[3])
    """
