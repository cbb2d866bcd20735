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
        shape_like: anything whose shape the output is to have.
        alpha: above 0.
        beta: above 0.
        dtype: float32 or float64; None: float32.
        shape: shape of the output; None: that of `shape_like`, or a scalar.
        batch_size: size of the batch to make, where no input is one; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: where the random values are drawn from; None: the default of the thread.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: `shape`, `dtype`, from 0 to 1; NaN where `alpha` or `beta` is computed in the program that draws
        (so that its value cannot be checked before) and is not above 0.

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
        a: [n, ...], the elements; or an integer n, which stands for 0 to n-1.
        shape_like: anything whose shape the output is to have.
        p: [n], probability of each element, with sum 1; None: all are as likely. Samples may have a
            different n.
        shape: shape of the output; None: that of `shape_like`, or a single one.
        batch_size: size of the batch to make, where no input is one; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: where the random values are drawn from; None: the default of the thread.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: [*shape, ...], the type of `a`.

    Parity: DALI raises if n is not positive, or is not the number of probabilities; the value of a
    scalar input that is no constant is not known before the draw here, and of such an n, or p, the
    result is 0, or below the number of probabilities.

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
    """Draws 1 with a probability, else 0.

    Args:
        shape_like: anything whose shape the output is to have.
        dtype: type of the output; None: int32.
        probability: of a 1; never below 0, always from 1 up.
        shape: shape of the output; None: that of `shape_like`, or a scalar.
        batch_size: size of the batch to make, where no input is one; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: where the random values are drawn from; None: the default of the thread.
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
        shape_like: anything whose shape the output is to have.
        dtype: type of the output, float32 if None. Integers are rounded, half away from zero, and
            saturated.
        mean: centre of the distribution.
        shape: shape of the output; None: that of `shape_like`, or a scalar.
        stddev: standard deviation; a negative one mirrors the values.
        batch_size: size of the batch to make, where no input is one; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: where the random values are drawn from; None: the default of the thread.
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
    """Draws from a range, its end excluded, or from a list of values.

    Args:
        shape_like: anything whose shape the output is to have.
        dtype: type of the output, float32 if None. Integers are rounded, half away from zero, and
            saturated; so over [0, 10] the end occurs too, and 0 and 10 half as often as each number between them, as
            in DALI. `random.choice` of 11 draws 0 to 10 with equal chances.
        range: (begin, end), begin < end.
        shape: shape of the output; None: that of `shape_like`, or a scalar.
        values: the values to draw from; a range is ignored then.
        batch_size: size of the batch to make, where no input is one; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: where the random values are drawn from; None: the default of the thread.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: `shape`, `dtype`; 23 random bits a number, of a list 32.

    Parity: of integers DALI cuts off the fractions of the range first ([0.5, 2.5] gives 0, 1 and 2), and wraps it
    around where `dtype` cannot hold it.

    Example: values = fn.random.uniform(range=[-1.0, 1.0], shape=[3])
    """
