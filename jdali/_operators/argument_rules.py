"""Checks shapes and element types of per-sample arguments, by the same rules for all operators.

The annotation in the operator's signature alone decides which values an argument may have for a sample:

* `float`, `int`, an enum: one number. A tensor with one element and any number of axes counts as one number.
* `tuple[float, ...]`: a vector of the same length in all samples; or a number, if the operator's `setup` accepts it.
  `tuple[tuple[float, ...], ...]`: a matrix. A union allows both.
* `list[float]`: a vector whose length may differ by sample. `run` of a compiled operator gets the padded vector, and
  the true length as `_<name>_extent` (None if the vector is not padded).
* `Array`: a tensor of any shape, which may differ by sample; `setup` checks it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import size_text
from jdali._errors import TracedArgumentError, check_samples
from jdali._numerics.elements import UnsupportedTypeError
from jdali._operators.schema import Arg, element_types


class Traced:
    """Stands for an argument of `setup` that is a tracer. Code that uses its value raises TracedArgumentError.

    Attributes:
        extents: int64 [N, ndim], shape of each sample's value; None if unknown.
    """

    def __init__(self, operator: str, argument: str, extents: np.ndarray | None = None):
        self._operator, self._argument = operator, argument
        self.extents = extents

    @property
    def known_shape(self) -> tuple[int, ...] | None:
        """Shape of the batch's values, [N, ...]; None if it is unknown or differs by sample."""
        extents = self.extents
        if extents is None or not len(extents) or (extents != extents[0]).any():
            return None
        return (len(extents), *extents[0].tolist())

    def _fail(self, *_: object, **__: object) -> object:
        raise TracedArgumentError(
            f"{self._operator}: argument {self._argument!r} decides the size of the output, so inside "
            "jit, vmap or grad it must be a concrete value (mark it static, or give arguments that fix "
            "the size another way)"
        )

    __array__ = __getattr__ = __getitem__ = __add__ = __radd__ = __sub__ = __rsub__ = _fail
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __lt__ = __gt__ = __le__ = __ge__ = _fail
    __neg__ = __abs__ = __bool__ = __len__ = __iter__ = __float__ = __int__ = _fail


def is_traced(value: object) -> bool:
    """Returns True if the value of a `setup` argument is not known yet and so cannot be checked."""
    return isinstance(value, Traced)


# Sizes of the axes of a value; None for an axis whose padding is not cut off.
Shape = tuple[int | None, ...]


def check_dtype(name: str, arg: Arg, dtype: np.dtype) -> None:
    """Raises TypeError if the argument of operator `name` does not take tensors of this element type.

    As in DALI, tensors are not converted: a float argument takes only float32, an integer argument only int32.
    """
    allowed = element_types(arg.annotation)
    if not allowed or any(np.issubdtype(dtype, one) for one in allowed):
        return
    words = {np.float32: "float32", np.int32: "int32", np.bool_: "bool", np.integer: "any integer type"}
    names = " or ".join(words[one] for one in allowed if one is not np.int32 or np.integer not in allowed)
    if np.integer in allowed:
        dalis = f"It must be of integral type. Got: {dtype}"
    else:
        dalis = f"Calling type does not match buffer data type, requested type: {names} current buffer type: {dtype}"
    raise TypeError(
        f"{name}: argument {arg.name!r} takes a tensor of {names}, got {dtype}; use fn.cast. {dalis}"
    )


def sample_shape(name: str, arg: Arg, extents: np.ndarray) -> Shape:
    """Returns the shape of one sample's value as `run` gets it; None for an axis that stays padded.

    Args:
        extents: int [N, ndim], true shape of each sample's value.

    Raises:
        SampleError: a sample's value has a wrong shape, or not the shape of sample 0.
        ValueError: the values have a wrong number of axes.
    """
    ranks = arg.ranks
    if arg.is_number:
        check_samples(
            extents.prod(axis=1) != 1, lambda i: _no_number(name, arg.name, extents, i), argument=arg.name
        )
        return ()
    ndim = extents.shape[1]
    if ranks is not None and ndim and ndim not in ranks:
        raise _wrong_rank(name, arg, tuple(extents[0].tolist()) if len(extents) else (0,) * ndim)
    if arg.ragged or ranks is None:
        same = (extents == extents[:1]).all(axis=0)
        kept = same if ranks is not None else same & (extents[:1] == 1).all(axis=0)
        first = extents[0] if len(extents) else np.ones(ndim, np.int64)
        return tuple(int(n) if keep else None for n, keep in zip(first, kept, strict=True))
    refuse_different(name, arg.name, extents)
    return tuple(extents[0].tolist()) if len(extents) else (0,) * ndim


def _wrong_rank(name: str, arg: Arg, shape: tuple[int, ...]) -> ValueError:
    kinds = ("one number", "a vector", "a matrix")
    allowed = " or ".join(kinds[rank] for rank in sorted(arg.ranks or ()))
    return ValueError(
        f"{name}: argument {arg.name!r} must be {allowed}, got a value of shape {shape}. Input with dimension ({len(shape)}) "
        f"cannot be converted to dimension ({max(arg.ranks or {0})})."
    )


def refuse_different(name: str, argument: str, extents: np.ndarray) -> None:
    """Raises SampleError if the true shapes [N, ndim] of values differ."""
    check_samples(
        (extents != extents[:1]).any(axis=1),
        lambda i: (
            f'{name}: Expected uniform shape for argument "{argument}" but got shape {shapes_text(extents)}: argument '
            f"{argument!r} of sample {i} has shape {tuple(extents[i].tolist())}, expected {tuple(extents[0].tolist())} as "
            "that of sample 0"
        ),
        argument=argument,
    )


def _no_number(name: str, argument: str, extents: np.ndarray, sample: int) -> str:
    """Returns the error text for a value that is not one number.

    DALI's operators use two different texts; the result contains both.
    """
    count, found = len(extents), tuple(extents[sample].tolist())
    return (
        f'{name}: Unexpected shape of argument "{argument}". Expected batch of {count} scalars or a batch of tensors '
        f"containing one element per sample. Got: {shapes_text(extents)}. `{argument}` must be a 1xN or Nx1 (N = {count}) "
        f"tensor list; argument {argument!r} of sample {sample} has shape {found}, expected one number"
    )


def converted(name: str, arg: Arg, value: object, convert: Callable[[Any], Any] | None = None) -> Any:
    """Converts a value, by default by `arg.convert`, and adds the names of the argument and the operator to errors."""
    try:
        return (convert or arg.convert)(value)
    except UnsupportedTypeError as error:
        type_name = getattr(value, "name", str(value)).lower()
        raise UnsupportedTypeError(
            f"{name}: argument {arg.name!r} got {value!r}: Unsupported output type: {type_name}. {error}"
        ) from None
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: argument {arg.name!r} got {value!r:.200}: {error}") from None


def constant(name: str, arg: Arg, value: object) -> np.ndarray:
    return one_for_all(name, arg, converted(name, arg, value))


def one_for_all(name: str, arg: Arg, array: np.ndarray) -> np.ndarray:
    """Checks the shape of a converted value that is used for all samples; raises TypeError or ValueError."""
    if arg.is_number and array.size == 1:
        return array.reshape(())
    if arg.is_number and array.ndim:
        raise TypeError(
            f"{name}: argument {arg.name!r} must be a real number, not a value of shape {array.shape}; for a value "
            "for each sample give a Batch (a DataNode in a pipeline; of jdali.ops map the function with jax.vmap)"
        )
    if arg.ranks is not None and array.ndim not in arg.ranks | {0}:
        raise _wrong_rank(name, arg, array.shape)
    return array


def batch(name: str, arg: Arg, values: np.ndarray, batch_size: int) -> np.ndarray:
    """Converts an argument's values [N, ...], or [N] objects, for a batch, and checks their number and shapes."""
    own: np.ndarray = arg.convert(values)
    if len(own) != batch_size:
        raise ValueError(f"{name}: argument {arg.name!r} has {len(own)} values for a batch of {batch_size}")
    shape = sample_shape(name, arg, extents_of(own))
    if shape != ():
        return own
    if own.dtype == object:
        return np.array([one.reshape(()) for one in own])
    return own.reshape(batch_size)


def extent_name(argument: str) -> str:
    """Returns the name of the parameter by which `run` gets an argument's true length."""
    return f"_{argument}_extent"


def extents_of(values: np.ndarray) -> np.ndarray:
    """Returns the true shapes, int64 [N, ndim], of values [N, ...] or of [N] objects with equal numbers of axes."""
    if values.dtype != object:
        return np.broadcast_to(np.array(values.shape[1:], np.int64), (len(values), values.ndim - 1))
    return np.array([one.shape for one in values], np.int64)


def shapes_text(extents: np.ndarray) -> str:
    """Writes the shapes [N, ndim] of a batch as DALI does, "{2 x 3, 4 x 5}"; at most the first four."""
    texts = [size_text(extent) for extent in extents[:4]]
    return f"{{{', '.join(texts)}{', ...' if len(extents) > 4 else ''}}}"


def wrong_length(name: str, axes: int, found: int, sample: int) -> str:
    """Returns DALI's error text for an argument whose length is neither 1 nor the number of axes.

    The text combines DALI's texts for a constant and for a tensor.
    """
    return (
        f'Argument "{name}" expects either a single value or a list of {axes} elements. {found} given. Argument {name} '
        f"for sample {sample} is expected to have 1 or {axes} elements, got: {found}."
    )


def as_objects(samples: Sequence[np.ndarray]) -> np.ndarray:
    """Puts samples, which may differ in shape, into an array of [N] objects."""
    values = np.empty(len(samples), object)
    for i, sample in enumerate(samples):
        values[i] = np.asarray(sample)
    return values


def padded(values: np.ndarray) -> np.ndarray:
    """Pads [N] arrays with zeros to one array [N, ...].

    Sizes that differ are padded to a power of two, because each padded shape needs a compiled program.
    """
    extents = extents_of(values)
    same = (extents == extents[:1]).all(axis=0)
    largest = extents.max(axis=0)
    sizes = [int(n) if s else 1 << int(n - 1).bit_length() for n, s in zip(largest, same, strict=True)]
    result = np.zeros((len(values), *sizes), values[0].dtype)
    for row, one in zip(result, values, strict=True):
        row[tuple(map(slice, one.shape))] = one
    return result


def fitted(value: Array, shape: Shape, lead: int) -> Array:
    """Cuts the padding off a value [..., padded] in compiled code, so that each sample has `shape`.

    The first `lead` axes are kept. If `shape` is (), all further axes are dropped; they have one element.
    """
    whole = (slice(None),) * lead
    if shape == ():
        return jnp.asarray(value)[(*whole, *[0] * (value.ndim - lead))]
    return jnp.asarray(value)[(*whole, *map(slice, shape))]
