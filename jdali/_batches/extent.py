"""Represents the true sizes of padded samples, as a batch's spec on the host, and as masks and indices on the device.

An `extent` is the true size of one sample, a `shape` the size of the padded array that holds it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array


def size_text(extent: Iterable[Any]) -> str:
    """Writes a size as DALI's messages do: "4 x 5 x 3"; "()" for a scalar."""
    return " x ".join(str(int(n)) for n in extent) or "()"


@dataclasses.dataclass(frozen=True)
class BatchSpec:
    """Sizes, dtype and layout of a batch, known on the host before its values are computed.

    Attributes:
        extents: int64 [N, ndim], the true size of each sample.
        dtype: element type.
        layout: a letter for each axis ("HWC", "FHWC", "CHW", ...), or "" if unknown.
    """

    extents: np.ndarray
    dtype: np.dtype
    layout: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "extents", np.asarray(self.extents, np.int64))
        object.__setattr__(self, "dtype", np.dtype(self.dtype))
        if self.extents.ndim != 2:
            raise ValueError(f"BatchSpec: extents must be [N, ndim], got {self.extents.shape}")
        if self.layout and len(self.layout) != self.ndim:
            raise ValueError(f"BatchSpec: layout {self.layout!r} does not fit {self.ndim} axes")

    @classmethod
    def of(cls, samples: Sequence[Any], layout: str = "") -> BatchSpec:
        extents = np.array([np.shape(s) for s in samples], np.int64)
        return cls(extents.reshape(len(samples), np.ndim(samples[0])), samples[0].dtype, layout)

    @property
    def batch_size(self) -> int:
        return int(self.extents.shape[0])

    @property
    def ndim(self) -> int:
        return int(self.extents.shape[1])

    @functools.cached_property
    def is_uniform(self) -> bool:
        return self.batch_size == 0 or bool((self.extents == self.extents[0]).all())

    @functools.cached_property
    def key(self) -> tuple[Hashable, ...]:
        """All fields as one hashable value that can be compared."""
        return self.extents.tobytes(), self.extents.shape, self.dtype, self.layout

    def replace(self, **changes: Any) -> BatchSpec:
        return dataclasses.replace(self, **changes)

    def axis(self, name: str) -> int:
        """Returns the index of an axis by its letter; -1 if the layout lacks it."""
        return self.layout.find(name)


class Rising(NamedTuple):
    """Marks a static value of a `Plan` that may be larger than a batch needs, without changing the results.

    A stage uses the largest value that any batch has needed so far, so that it compiles fewer programs.

    Attributes:
        value: minimum value for this batch.
        most: value that is large enough for any batch.
    """

    value: int
    most: int


@dataclasses.dataclass(frozen=True)
class Plan:
    """Result of an operator's `setup` function that also computes arguments of `run`.

    Attributes:
        outputs: spec of each output.
        params: arrays [N, ...] by argument name, computed on the host. `run` gets the value of its sample as a traced
            argument, which replaces a user's argument of the same name.
        static: values by argument name, computed on the host and compiled into the program. A value is the same for the
            whole batch, and is hashable or a `Rising`.
    """

    outputs: tuple[BatchSpec, ...]
    params: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    static: dict[str, Any] = dataclasses.field(default_factory=dict)


def valid_mask(extent: Array, shape: Sequence[int]) -> Array:
    """Returns a mask, bool [*shape], that is True for the elements inside `extent`."""
    mask = jnp.ones(tuple(shape), bool)
    for axis, size in enumerate(shape):
        inside = jnp.arange(size, dtype=jnp.int32) < extent[axis]
        mask = mask & jnp.expand_dims(inside, [a for a in range(len(shape)) if a != axis])
    return mask


def mask_padding(value: Array, extent: Array, fill: object) -> Array:
    """Replaces all elements past `extent` by `fill`."""
    return jnp.where(valid_mask(extent, value.shape), value, jnp.asarray(fill, value.dtype))


def reflect_101(index: Array, size: Array) -> Array:
    """Mirrors indices into [0, size) at the first and last element, as often as needed.

    The outermost element is not repeated: for 4 elements, the indices -2 to 5 become 2 1 0 1 2 3 2 1.
    """
    period = jnp.maximum(2 * (size - 1), 1)
    folded = index % period
    return jnp.where(folded >= size, period - folded, folded)
