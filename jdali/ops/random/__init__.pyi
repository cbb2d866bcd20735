"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import Literal
from typing import overload
from numpy.typing import DTypeLike
from numpy.typing import NDArray
from jdali import types
from jax import Array
from jax.typing import ArrayLike
from jdali.data_node import DataNode
from jdali.fn._classes import OperatorClass

class Beta(OperatorClass):
    """Draws from the beta distribution, with density proportional to x^(alpha-1) (1-x)^(beta-1).

    Args:
        shape_like: tensor whose shape the output takes.
        alpha: first parameter of the distribution, above 0.
        beta: second parameter of the distribution, above 0.
        dtype: float32 or float64; None: float32.
        shape: shape of the output; None: the shape of `shape_like`, or a scalar.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: `shape`, `dtype`, from 0 to 1. An `alpha` or `beta` that is not above 0 raises an error. If the
        compiled program itself computes the parameter, it cannot raise errors, and the result is NaN.

    Example: values = fn.random.beta(alpha=2.0, beta=5.0, shape=[3])
    """
    def __init__(
        self,
        *,
        alpha: float | DataNode = 1.0,
        beta: float | DataNode = 1.0,
        dtype: types.DALIDataType | DTypeLike | None = None,
        shape: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
        seed: int | None = -1,
    ) -> None: ...

class Choice(OperatorClass):
    """Draws elements of an array, with replacement.

    Args:
        a: [n, ...], the elements; or an integer n, for the elements 0 to n-1.
        shape_like: tensor whose shape the output takes.
        p: [n], probability of each element, with sum 1; None: equal probabilities. n may differ by sample.
        shape: shape of the output; None: the shape of `shape_like`, or one element.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: [*shape, ...], the type of `a`.

    Parity: DALI raises if n is not positive, or differs from the number of probabilities. jdali does not check a
        scalar `a` that is computed in the pipeline: with `p`, the scalar has no effect, and n is the number of
        probabilities; without `p`, the result is 0 if the scalar is below 1.

    Example: value = fn.random.choice(5)
    """
    def __init__(
        self,
        *,
        p: float | typing.Sequence[float | ArrayLike] | NDArray[Any] | DataNode | None = None,
        shape: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
        seed: int | None = -1,
    ) -> None: ...

class CoinFlip(OperatorClass):
    """Draws 1 with the probability `probability`, else 0.

    Args:
        shape_like: tensor whose shape the output takes.
        dtype: type of the output; None: int32.
        probability: probability of a 1; values outside of 0 to 1 are clipped.
        shape: shape of the output; None: the shape of `shape_like`, or a scalar.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: `shape`, `dtype`.

    Example: flip = fn.random.coin_flip(probability=0.3)
    """
    def __init__(
        self,
        *,
        dtype: types.DALIDataType | DTypeLike | None = None,
        probability: float | DataNode = 0.5,
        shape: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
        seed: int | None = -1,
    ) -> None: ...

class Normal(OperatorClass):
    """Draws from a normal distribution.

    Args:
        shape_like: tensor whose shape the output takes.
        dtype: type of the output; None: float32. Integers round half away from zero and saturate.
        mean: centre of the distribution.
        shape: shape of the output; None: the shape of `shape_like`, or a scalar.
        stddev: standard deviation; a negative one mirrors values about the mean.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: `shape`, `dtype`; within 5.5 standard deviations of the mean.

    Example: values = fn.random.normal(mean=1.0, stddev=0.5, shape=[3])
    """
    def __init__(
        self,
        *,
        dtype: types.DALIDataType | DTypeLike | None = None,
        mean: float | DataNode = 0.0,
        shape: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode | None = None,
        stddev: float | DataNode = 1.0,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
        seed: int | None = -1,
    ) -> None: ...

class Uniform(OperatorClass):
    """Draws from a range, excluding its end, or from a list of values.

    Args:
        shape_like: tensor whose shape the output takes.
        dtype: type of the output; None: float32. Integers round half away from zero and saturate. For the range
            [0, 10], 10 may therefore be drawn, and 0 and 10 have half the probability of the other integers, as in
            DALI. `random.choice(11)` draws 0 to 10 with equal probabilities.
        range: (begin, end), begin < end.
        shape: shape of the output; None: the shape of `shape_like`, or a scalar.
        values: values to draw from; `range` is then ignored.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: `shape`, `dtype`; numbers from a range have 23 random bits, choices from a list 32.

    Parity: for integers, DALI truncates the limits of the range first ([0.5, 2.5] gives 0, 1 and 2), and wraps
    limits that `dtype` cannot hold.

    Example: values = fn.random.uniform(range=[-1.0, 1.0], shape=[3])
    """
    def __init__(
        self,
        *,
        dtype: types.DALIDataType | DTypeLike | None = None,
        range: float | typing.Sequence[float | ArrayLike] | NDArray[Any] | DataNode = (-1.0, 1.0),
        shape: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode | None = None,
        values: float | typing.Sequence[float | ArrayLike] | NDArray[Any] | DataNode | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
        seed: int | None = -1,
    ) -> None: ...

@overload
def beta(
    key: ArrayLike,
    shape_like: Any = None,
    /,
    *,
    alpha: Any = 1.0,
    beta: Any = 1.0,
    dtype: types.DALIDataType | DTypeLike | None = None,
    shape: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Draws from the beta distribution, with density proportional to x^(alpha-1) (1-x)^(beta-1).

    Args:
        key: JAX key to draw from, typed or of `jax.random.PRNGKey`; it comes first or by name. A batch is mapped by
            `jax.vmap`, with a key for each sample.
        shape_like: tensor whose shape the output takes.
        alpha: first parameter of the distribution, above 0.
        beta: second parameter of the distribution, above 0.
        dtype: float32 or float64; None: float32.
        shape: shape of the output; None: the shape of `shape_like`, or a scalar.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: `shape`, `dtype`, from 0 to 1. An `alpha` or `beta` that is not above 0 raises an error. If the
        compiled program itself computes the parameter, it cannot raise errors, and the result is NaN.

    Example: values = fn.random.beta(alpha=2.0, beta=5.0, shape=[3])
    """

@overload
def beta(
    key: ArrayLike,
    shape_like: Any = None,
    /,
    *,
    alpha: Any = 1.0,
    beta: Any = 1.0,
    dtype: types.DALIDataType | DTypeLike | None = None,
    shape: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def beta(
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    alpha: Any = 1.0,
    beta: Any = 1.0,
    dtype: types.DALIDataType | DTypeLike | None = None,
    shape: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def beta(
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    alpha: Any = 1.0,
    beta: Any = 1.0,
    dtype: types.DALIDataType | DTypeLike | None = None,
    shape: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def choice(
    key: ArrayLike,
    a: Any,
    shape_like: Any = None,
    /,
    *,
    p: Any = None,
    shape: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Draws elements of an array, with replacement.

    Args:
        key: JAX key to draw from, typed or of `jax.random.PRNGKey`; it comes first or by name. A batch is mapped by
            `jax.vmap`, with a key for each sample.
        a: [n, ...], the elements; or an integer n, for the elements 0 to n-1.
        shape_like: tensor whose shape the output takes.
        p: [n], probability of each element, with sum 1; None: equal probabilities. n may differ by sample.
        shape: shape of the output; None: the shape of `shape_like`, or one element.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: [*shape, ...], the type of `a`.

    Parity: DALI raises if n is not positive, or differs from the number of probabilities. jdali does not check a
        scalar `a` that is computed in the pipeline: with `p`, the scalar has no effect, and n is the number of
        probabilities; without `p`, the result is 0 if the scalar is below 1.

    Example: value = fn.random.choice(5)
    """

@overload
def choice(
    key: ArrayLike,
    a: Any,
    shape_like: Any = None,
    /,
    *,
    p: Any = None,
    shape: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def choice(
    a: Any,
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    p: Any = None,
    shape: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def choice(
    a: Any,
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    p: Any = None,
    shape: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def coin_flip(
    key: ArrayLike,
    shape_like: Any = None,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    probability: Any = 0.5,
    shape: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Draws 1 with the probability `probability`, else 0.

    Args:
        key: JAX key to draw from, typed or of `jax.random.PRNGKey`; it comes first or by name. A batch is mapped by
            `jax.vmap`, with a key for each sample.
        shape_like: tensor whose shape the output takes.
        dtype: type of the output; None: int32.
        probability: probability of a 1; values outside of 0 to 1 are clipped.
        shape: shape of the output; None: the shape of `shape_like`, or a scalar.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: `shape`, `dtype`.

    Example: flip = fn.random.coin_flip(probability=0.3)
    """

@overload
def coin_flip(
    key: ArrayLike,
    shape_like: Any = None,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    probability: Any = 0.5,
    shape: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def coin_flip(
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    dtype: types.DALIDataType | DTypeLike | None = None,
    probability: Any = 0.5,
    shape: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def coin_flip(
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    dtype: types.DALIDataType | DTypeLike | None = None,
    probability: Any = 0.5,
    shape: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def normal(
    key: ArrayLike,
    shape_like: Any = None,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    mean: Any = 0.0,
    shape: Any = None,
    stddev: Any = 1.0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Draws from a normal distribution.

    Args:
        key: JAX key to draw from, typed or of `jax.random.PRNGKey`; it comes first or by name. A batch is mapped by
            `jax.vmap`, with a key for each sample.
        shape_like: tensor whose shape the output takes.
        dtype: type of the output; None: float32. Integers round half away from zero and saturate.
        mean: centre of the distribution.
        shape: shape of the output; None: the shape of `shape_like`, or a scalar.
        stddev: standard deviation; a negative one mirrors values about the mean.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: `shape`, `dtype`; within 5.5 standard deviations of the mean.

    Example: values = fn.random.normal(mean=1.0, stddev=0.5, shape=[3])
    """

@overload
def normal(
    key: ArrayLike,
    shape_like: Any = None,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    mean: Any = 0.0,
    shape: Any = None,
    stddev: Any = 1.0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def normal(
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    dtype: types.DALIDataType | DTypeLike | None = None,
    mean: Any = 0.0,
    shape: Any = None,
    stddev: Any = 1.0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def normal(
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    dtype: types.DALIDataType | DTypeLike | None = None,
    mean: Any = 0.0,
    shape: Any = None,
    stddev: Any = 1.0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def uniform(
    key: ArrayLike,
    shape_like: Any = None,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    range: Any = (-1.0, 1.0),
    shape: Any = None,
    values: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Draws from a range, excluding its end, or from a list of values.

    Args:
        key: JAX key to draw from, typed or of `jax.random.PRNGKey`; it comes first or by name. A batch is mapped by
            `jax.vmap`, with a key for each sample.
        shape_like: tensor whose shape the output takes.
        dtype: type of the output; None: float32. Integers round half away from zero and saturate. For the range
            [0, 10], 10 may therefore be drawn, and 0 and 10 have half the probability of the other integers, as in
            DALI. `random.choice(11)` draws 0 to 10 with equal probabilities.
        range: (begin, end), begin < end.
        shape: shape of the output; None: the shape of `shape_like`, or a scalar.
        values: values to draw from; `range` is then ignored.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: `shape`, `dtype`; numbers from a range have 23 random bits, choices from a list 32.

    Parity: for integers, DALI truncates the limits of the range first ([0.5, 2.5] gives 0, 1 and 2), and wraps
    limits that `dtype` cannot hold.

    Example: values = fn.random.uniform(range=[-1.0, 1.0], shape=[3])
    """

@overload
def uniform(
    key: ArrayLike,
    shape_like: Any = None,
    /,
    *,
    dtype: types.DALIDataType | DTypeLike | None = None,
    range: Any = (-1.0, 1.0),
    shape: Any = None,
    values: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def uniform(
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    dtype: types.DALIDataType | DTypeLike | None = None,
    range: Any = (-1.0, 1.0),
    shape: Any = None,
    values: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def uniform(
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    dtype: types.DALIDataType | DTypeLike | None = None,
    range: Any = (-1.0, 1.0),
    shape: Any = None,
    values: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...
