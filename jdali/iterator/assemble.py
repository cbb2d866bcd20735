"""Makes the arrays of one batch from the outputs of pipelines."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Sharding

from jdali import types
from jdali._batches import BatchSplit, fitted, lead, of_batch_axis, padded_by_zeros, place
from jdali._numerics.grid import COARSE, round_up
from jdali._numerics.narrow import narrow
from jdali._system.devices import AnyArray
from jdali.iterator.policy import IteratorError
from jdali.tensors import TensorList


class Assembler:
    """Turns the outputs of pipelines into named, dense arrays on their devices.

    Args:
        sharding: a sharding for all outputs, or a dict of shardings by name; None: the default device.
        padded: names of the outputs whose samples may differ in size; they are padded with zeros, and
            `<name>_extent` has their sizes.
        leading: if True and there is a sharding, a leading axis is added for the parts of the batch.
        squeezed: names of outputs [N, 1] that become [N].
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        sharding: Sharding | Mapping[str, Sharding] | None = None,
        padded: Sequence[str] = (),
        mask_name: str | None = None,
        leading: bool = False,
        squeezed: Sequence[str] = (),
    ):
        self.names, self.mask_name, self._leading = tuple(names), mask_name, leading
        self.sharding, self._squeezed = sharding, squeezed
        self._sizes = {name: _Sizes() for name in padded}

    def twin(self) -> Assembler:
        """Returns a copy whose use does not change this one."""
        twin = copy.copy(self)
        twin._sizes = {name: copy.copy(sizes) for name, sizes in self._sizes.items()}
        return twin

    def __call__(
        self, outputs: Sequence[Sequence[TensorList]], rows: Sequence[np.ndarray | None], mask: np.ndarray
    ) -> dict[str, jax.Array]:
        """Makes the arrays of one batch, by name.

        Args:
            rows: the rows to take from each pipeline's outputs; None for all.
            mask: mask of the batch, bool [N], for the samples of all pipelines.
        """
        for batches in outputs:
            self.check(batches)
        result: dict[str, jax.Array] = {}
        for i, name in enumerate(self.names):
            batches = [of_pipeline[i] for of_pipeline in outputs]
            if any(batch.dtype is types.NO_TYPE for batch in batches):
                raise IteratorError(
                    f"iterator: output {name!r} has no samples in this batch, and no type and dimensionality (To convert empty "
                    "batch to a Tensor, valid dimensionality must be set): an external source gave an empty batch. A source "
                    "that is at its end raises StopIteration"
                )
            sharding = self._sharding_of(name)
            if name in self._sizes and batches[0].spec.ndim:  # a scalar has no size to pad
                arrays, extents = self._padded(name, batches)
                other = None if sharding is None else of_batch_axis(sharding)
                result[f"{name}_extent"] = self.combine(f"{name}_extent", _take(extents, rows), other)
            else:
                arrays = self._dense(name, batches)
                if name in self._squeezed:
                    arrays = [_squeezed(name, array) for array in arrays]
            result[name] = self.combine(name, _take(arrays, rows), sharding)
        if self.mask_name is not None:
            counts = [len(b[0]) if r is None else len(r) for b, r in zip(outputs, rows, strict=True)]
            parts = np.split(mask, np.cumsum(counts)[:-1])
            result[self.mask_name] = self.combine(self.mask_name, parts, self._sharding_of(self.mask_name))
        return result

    def check(self, outputs: Sequence[TensorList]) -> None:
        """Raises ValueError if the number of outputs differs from the number of names."""
        if len(outputs) != len(self.names):
            raise ValueError(
                f"iterator: the pipeline has {len(outputs)} outputs, output_map names {len(self.names)}: "
                f"{list(self.names)}"
            )

    def combine(self, name: str, parts: Sequence[AnyArray], sharding: Sharding | None) -> jax.Array:
        array = place(name, parts, sharding)
        return lead(array, fitted(name, sharding, array.ndim)) if self._leading and sharding else array

    def bytes_of(self, array: Any) -> int:
        """Counts the bytes of an array that this assembler made; 0 if the array does not tell them."""
        return getattr(array, "nbytes", 0)

    def splits(self, pipelines: int) -> list[list[BatchSplit | None]]:
        """Returns, for each output of each pipeline, how the rows are split among devices; None if they are not split."""
        wanted: list[BatchSplit | None] = []
        for name in self.names:
            sharding = self._sharding_of(name)
            wanted.append(None if sharding is None else BatchSplit.of(sharding))
        return [[s and s.portion(i, pipelines) for s in wanted] for i in range(pipelines)]

    def _sharding_of(self, name: str) -> Sharding | None:
        if not isinstance(self.sharding, Mapping):
            whole = self.sharding
            return of_batch_axis(whole) if whole is not None and name == self.mask_name else whole
        if name not in self.sharding and name == self.mask_name:
            return next((of_batch_axis(s) for s in self.sharding.values()), None)
        return self.sharding.get(name)

    def _dense(self, name: str, batches: Sequence[TensorList]) -> list[AnyArray]:
        shapes = {shape for batch in batches for shape in batch.shape()}
        if len(shapes) > 1:
            shown = ", ".join(map(str, sorted(shapes)[:4])) + (", ..." if len(shapes) > 4 else "")
            encoded = batches[0].spec.ndim == 1 and batches[0].spec.dtype == np.uint8
            todo = "If these are encoded files, decode them (fn.decoders). " if encoded else ""
            raise IteratorError(
                f"iterator: The batch must be representable as a tensor - it must have uniform shape: the samples of output "
                f"{name!r} differ in shape: {shown}. {todo}Bring them to one shape "
                f'in the pipeline (fn.resize and fn.crop of pictures, fn.slice of others), or give ragged=("{name}",) to get '
                f"them padded, with their sizes as {name + '_extent'!r}"
            )
        return [_dense_array(name, batch, split=self._sharding_of(name) is not None) for batch in batches]

    def _padded(self, name: str, batches: Sequence[TensorList]) -> tuple[list[AnyArray], list[np.ndarray]]:
        extents = [batch.spec.extents.astype(np.int32) for batch in batches]
        shape = self._sizes[name].holding(np.concatenate(extents))
        padded = [padded_by_zeros(batch.store, shape, batch.store.sharding) for batch in batches]
        return [narrow(array, f"iterator: output {name!r}") for array in padded], extents


def _squeezed(name: str, array: AnyArray) -> AnyArray:
    """Reshapes [N, 1] to [N]."""
    if array.size != len(array):
        raise IteratorError(
            f"iterator: squeeze names {name!r}, but its samples are not single numbers: they have the shape {array.shape[1:]}"
        )
    return array.reshape(len(array))


def _take(arrays: Sequence[AnyArray], rows: Sequence[np.ndarray | None]) -> list[AnyArray]:
    return [a if r is None else a[r] for a, r in zip(arrays, rows, strict=True)]


class _Sizes:
    """Chooses the padded shape of a ragged output. Uses few shapes, because each shape costs the user a compilation."""

    def __init__(self) -> None:
        self._first: np.ndarray | None = None
        self._varies: np.ndarray = np.zeros(0, bool)

    def holding(self, extents: np.ndarray) -> tuple[int, ...]:
        """Returns a shape in which all extents fit. Axes that have varied so far are rounded up to a coarse grid."""
        if self._first is None:
            self._first, self._varies = extents[0], np.zeros(extents.shape[1], bool)
        self._varies |= (extents != self._first).any(axis=0)
        largest = extents.max(axis=0)
        return tuple(np.where(self._varies, round_up(largest, COARSE), largest).tolist())


def _dense_array(name: str, batch: TensorList, *, split: bool) -> AnyArray:
    """Joins samples of one size to a JAX array, or to a NumPy array if the host must still gather or split them."""
    store = batch.store
    what = f"iterator: output {name!r}"
    ready = isinstance(store.dense(), jax.Array)
    if not store.local or ready or not (split or store.whole() is None):
        return narrow(batch.as_jax(), what)
    return narrow(batch.as_numpy(), what)
