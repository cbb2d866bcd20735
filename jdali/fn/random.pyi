"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import Literal
from typing import overload
from numpy.typing import DTypeLike
from numpy.typing import NDArray
from jdali import types
from numpy.typing import ArrayLike
from jdali.data_node import DataNode

def beta(
    shape_like: DataNode | ArrayLike | None = None,
    /,
    *,
    alpha: float | DataNode = 1.0,
    beta: float | DataNode = 1.0,
    dtype: types.DALIDataType | DTypeLike | None = None,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> DataNode:
    """Draws from the beta distribution, with density proportional to x^(alpha-1) (1-x)^(beta-1).

    Args:
        shape_like: anything whose shape the output is to have.
        alpha: above 0.
        beta: above 0.
        dtype: float32 or float64; None: float32.
        shape: shape of the output; None: that of `shape_like`, or a scalar.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: one is made up.
        bytes_per_sample_hint: without effect.
        preserve: the operator runs also if none of its outputs is used.
        seed: seed of this operator alone; -1: it follows from the pipeline's.

    Returns: `shape`, `dtype`, from 0 to 1; NaN where `alpha` or `beta` is computed in the program that draws
        (so that its value cannot be checked before) and is not above 0.

    Example: values = fn.random.beta(alpha=2.0, beta=5.0, shape=[3])
    """

@overload
def choice(
    a: DataNode | ArrayLike,
    shape_like: DataNode | ArrayLike | None = None,
    /,
    *,
    p: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> DataNode:
    """Draws elements of an array, with replacement.

    Args:
        a: [n, ...], the elements; or an integer n, which stands for 0 to n-1.
        shape_like: anything whose shape the output is to have.
        p: [n], probability of each element, with sum 1; None: all are as likely. Samples may have a
            different n.
        shape: shape of the output; None: that of `shape_like`, or a single one.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: one is made up.
        bytes_per_sample_hint: without effect.
        preserve: the operator runs also if none of its outputs is used.
        seed: seed of this operator alone; -1: it follows from the pipeline's.

    Returns: [*shape, ...], the type of `a`.

    Parity: DALI raises if n is not positive, or is not the number of probabilities; the value of a
    scalar input that is no constant is not known before the draw here, and of such an n, or p, the
    result is 0, or below the number of probabilities.

    Example: value = fn.random.choice(5)
    """

@overload
def choice(
    a: list[DataNode],
    shape_like: DataNode | ArrayLike | None = None,
    /,
    *,
    p: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> list[DataNode]: ...

def coin_flip(
    shape_like: DataNode | ArrayLike | None = None,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    probability: float | DataNode = 0.5,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> DataNode:
    """Draws 1 with a probability, else 0.

    Args:
        shape_like: anything whose shape the output is to have.
        dtype: type of the output; None: int32.
        probability: of a 1; never below 0, always from 1 up.
        shape: shape of the output; None: that of `shape_like`, or a scalar.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: one is made up.
        bytes_per_sample_hint: without effect.
        preserve: the operator runs also if none of its outputs is used.
        seed: seed of this operator alone; -1: it follows from the pipeline's.

    Returns: `shape`, `dtype`.

    Example: flip = fn.random.coin_flip(probability=0.3)
    """

def normal(
    shape_like: DataNode | ArrayLike | None = None,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    mean: float | DataNode = 0.0,
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    stddev: float | DataNode = 1.0,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> DataNode:
    """Draws from a normal distribution.

    Args:
        shape_like: anything whose shape the output is to have.
        dtype: type of the output, float32 if None. Integers are rounded, half away from zero, and
            saturated.
        mean: centre of the distribution.
        shape: shape of the output; None: that of `shape_like`, or a scalar.
        stddev: standard deviation; a negative one mirrors the values.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: one is made up.
        bytes_per_sample_hint: without effect.
        preserve: the operator runs also if none of its outputs is used.
        seed: seed of this operator alone; -1: it follows from the pipeline's.

    Returns: `shape`, `dtype`; within 5.5 standard deviations of the mean.

    Example: values = fn.random.normal(mean=1.0, stddev=0.5, shape=[3])
    """

def uniform(
    shape_like: DataNode | ArrayLike | None = None,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    range: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode = (-1.0, 1.0),
    shape: int | typing.Sequence[int | DataNode] | NDArray[Any] | DataNode | None = None,
    values: float | typing.Sequence[float | DataNode] | NDArray[Any] | DataNode | None = None,
    device: Literal['cpu', 'gpu', 'mixed'] | None = None,
    name: str | None = None,
    bytes_per_sample_hint: int | typing.Sequence[int] | NDArray[Any] = 0,
    preserve: bool = False,
    seed: int | None = -1,
) -> DataNode:
    """Draws from a range, its end excluded, or from a list of values.

    Args:
        shape_like: anything whose shape the output is to have.
        dtype: type of the output, float32 if None. Integers are rounded, half away from zero, and
            saturated; so over [0, 10] the end occurs too, and 0 and 10 half as often as each number between them, as
            in DALI. `random.choice` of 11 draws 0 to 10 with equal chances.
        range: (begin, end), begin < end.
        shape: shape of the output; None: that of `shape_like`, or a scalar.
        values: the values to draw from; a range is ignored then.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: one is made up.
        bytes_per_sample_hint: without effect.
        preserve: the operator runs also if none of its outputs is used.
        seed: seed of this operator alone; -1: it follows from the pipeline's.

    Returns: `shape`, `dtype`; 23 random bits a number, of a list 32.

    Parity: of integers DALI cuts off the fractions of the range first ([0.5, 2.5] gives 0, 1 and 2), and wraps it
    around where `dtype` cannot hold it.

    Example: values = fn.random.uniform(range=[-1.0, 1.0], shape=[3])
    """
