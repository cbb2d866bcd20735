"""Defines the base class of `TensorListCPU` and `TensorListGPU` (see `jdali.tensors`)."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, overload

import jax
import jax.numpy as jnp
import numpy as np

from jdali import types
from jdali._batches.extent import BatchSpec
from jdali._batches.gathering import Placement, gather, padded_by_zeros
from jdali._batches.provenance import Provenance
from jdali._batches.store import PaddedBlock, SamplesBlock, Store, compact, keeping
from jdali._batches.tensor import (
    NOTHING,
    Tensor,
    address,
    check_layout,
    copy_to_address,
    dali_type,
    same_size_dtype,
)
from jdali._batches.texts import batch_text, samples_html
from jdali._errors import TracedArgumentError
from jdali._system.devices import AnyArray, HostArray, accelerator, host_device, to_host

_KINDS: dict[str, type[TensorList]] = {}  # by device; filled by the subclasses


class SampleIndexError(IndexError, RuntimeError):
    """Raised if an index is out of range. It is an IndexError, and also a RuntimeError, which DALI's `at` raises."""


class TensorList:
    """Holds samples of different sizes that share one element type, number of axes and layout.

    It is a `TensorListCPU` (in host memory) or a `TensorListGPU` (on JAX's default device). The values never change. The
    list is a pytree whose leaves are the two arrays of `padded()`. Under `jax.jit` and `jax.vmap`, `padded()` returns the traced
    arrays.
    """

    device: ClassVar[str] = ""
    _tensor: ClassVar[type[Tensor]] = Tensor
    _known: Store | None
    _layout: str
    _source: Provenance | None
    _packed: tuple[Any, Any] | None  # the result of `padded`, or the leaves that `_unflatten` got
    # The samples without padding: the result of `as_numpy`, cut from a padded array; or of `data_ptr` if sizes differ.
    _unpadded: Any

    def __init_subclass__(cls) -> None:
        _KINDS[cls.device] = cls
        jax.tree_util.register_pytree_node(cls, cls._flatten, cls._unflatten)

    def _flatten(self) -> tuple[tuple[object, object], str]:
        return self.padded(), self._layout

    @classmethod
    def _unflatten(cls, layout: str, children: Sequence[object]) -> TensorList:
        batch = object.__new__(cls)
        batch._known, batch._layout, batch._source = None, layout, None
        batch._packed, batch._unpadded = (children[0], children[1]), None
        return batch

    def _begin(self, store: Store, source: Provenance | None) -> None:
        self._known, self._layout, self._source = store, store.spec.layout, source
        self._packed = self._unpadded = None

    @classmethod
    def from_samples(
        cls,
        samples: Sequence[AnyArray],
        layout: str = "",
        device: str = "cpu",
        source_info: Sequence[str] | None = None,
        spec: BatchSpec | None = None,
    ) -> TensorList:
        """Makes a batch of one array per sample; copies none.

        Args:
            samples: arrays of their true sizes, of one element type and number of axes.
            layout: layout of each sample.
            device: "cpu" or "gpu".
            source_info: a name for each sample.
            spec: true sizes, element type and layout. None derives them from `samples`; an empty batch then has no element
                type.
        """
        if spec is None:
            empty = BatchSpec(np.zeros((0, len(layout))), NOTHING, layout)
            spec = BatchSpec.of(samples, layout) if samples else empty
        store = Store.of_block(SamplesBlock(samples), spec) if samples else Store.empty(spec)
        return cls.from_store(store, device, source_info)

    @classmethod
    def from_dense(
        cls,
        array: AnyArray,
        layout: str = "",
        device: str = "cpu",
        source_info: Sequence[str] | None = None,
    ) -> TensorList:
        """Makes a batch from an array [N, ...] of equal samples; `layout` is the layout of one sample."""
        extents = np.tile(np.array(array.shape[1:], np.int64), (array.shape[0], 1))
        spec = BatchSpec(extents, array.dtype, layout)
        return cls.from_store(Store.of_block(PaddedBlock(array), spec), device, source_info)

    @staticmethod
    def from_store(store: Store, device: str = "cpu", source_info: Sequence[str] | None = None) -> TensorList:
        """Makes a batch of the samples in `store`; see `from_samples`."""
        batch = object.__new__(_KINDS[device])
        if source_info is not None and not isinstance(source_info, Provenance):
            source_info = Provenance.named(source_info)
        batch._begin(store, source_info)
        return batch

    @staticmethod
    def concat(batches: Sequence[TensorList], order: Sequence[int] | HostArray | None = None) -> TensorList:
        """Joins the samples of several batches; copies none.

        Args:
            order: int [N]; sample i of the result is sample order[i] of the concatenated batches.
                None keeps the concatenated order.
        """
        full = [b for b in batches if len(b)] or batches[:1]
        first = full[0]
        for other in full[1:]:
            refuse_divergent(first.spec, other.spec)
        store = Store.concat([b.store for b in full])
        source = None
        if any(b._source is not None for b in full):
            source = Provenance.concat(
                [Provenance.nowhere(len(b)) if b._source is None else b._source for b in full]
            )
        merged = TensorList.from_store(store, first.device, source)
        return merged if order is None else merged.select(order)

    @staticmethod
    def merge(batches: Sequence[TensorList], positions: Sequence[Sequence[int] | HostArray]) -> TensorList:
        """Makes a batch of the samples of several batches; sample i of `batches[j]` goes to position `positions[j][i]`."""
        return TensorList.concat(
            batches, np.argsort(np.concatenate([np.asarray(p, np.int64) for p in positions]))
        )

    def select(self, indices: Sequence[int] | HostArray) -> TensorList:
        """Selects the samples at `indices`, in that order; copies none."""
        chosen = np.asarray(indices, np.int64)
        source = None if self._source is None else self._source.select(chosen)
        return self.from_store(self.store.select(chosen), self.device, source)

    @property
    def store(self) -> Store:
        """Store of the samples (for the engine)."""
        if self._known is None:
            assert self._packed is not None
            array, extents = self._packed
            spec = BatchSpec(to_host(extents), array.dtype, self._layout)
            self._known = Store.of_block(PaddedBlock(array), spec)
        return self._known

    @property
    def spec(self) -> BatchSpec:
        """True sizes, element type and layout."""
        return self.store.spec

    def to_device(self, device: str) -> TensorList:
        """Returns the batch for "cpu" or "gpu"; samples move to the accelerator when their values are read."""
        if device == self.device:
            return self
        return self.as_cpu() if device == "cpu" else self.from_store(self.store, device, self._source)

    @property
    def dtype(self) -> types.DALIDataType:
        return dali_type(self.store.spec.dtype)

    def shape(self) -> list[tuple[int, ...]]:
        """Returns the size of each sample."""
        return [tuple(extent) for extent in self.store.spec.extents.tolist()]

    def ndim(self) -> int:
        """Returns the number of axes of a sample."""
        if self._known is None and self._packed is not None:
            return int(self._packed[0].ndim) - 1
        return self.store.spec.ndim

    def layout(self) -> str:
        """Returns the layout of a sample, one letter an axis, or "" if not known."""
        return self._layout

    def set_layout(self, layout: str, /) -> None:
        check_layout(layout or "", self.ndim(), "TensorList")
        self._layout = layout or ""
        self._known = dataclasses.replace(self.store, spec=self.spec.replace(layout=self._layout))

    @property
    def provenance(self) -> Provenance | None:
        """Origin of the samples (for the engine); None if not known."""
        return self._source

    def source_info(self) -> list[str]:
        """Returns the origin of each sample (a file, mostly); "" if not known."""
        return [""] * len(self) if self._source is None else list(self._source)

    def is_dense_tensor(self) -> bool:
        """Returns True if all samples have one size."""
        return self.store.spec.is_uniform

    def __len__(self) -> int:
        return len(self.store)

    def __iter__(self) -> Iterator[Tensor]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, i: int) -> Tensor: ...
    @overload
    def __getitem__(self, i: slice) -> TensorList: ...
    def __getitem__(self, i: int | slice) -> Tensor | TensorList:
        """Returns sample `i` as a tensor; a negative `i` counts from the end. For a slice, returns a batch."""
        if isinstance(i, slice):
            return self.select(np.arange(len(self))[i])
        return self._sample(position(type(self).__name__, i, len(self)))

    def _sample(self, i: int) -> Tensor:
        source = "" if self._source is None else self._source[i]
        return self._tensor._of(self.store.sample(i), self._layout, source)

    def _place_of(self, i: object) -> int:
        """Converts the index that `at` got. DALI's `at` takes no negative index."""
        name = f"{type(self).__name__}.at"
        found = whole_number(name, i)
        if not 0 <= found < len(self):
            raise SampleIndexError(
                f"{name}: Index is out-of-range: {found} is out of range for {len(self)} samples"
            )
        return found

    def to_samples(self) -> list[HostArray]:
        """Returns the samples as NumPy arrays of their true sizes; samples in host memory become views if possible."""
        return self.store.host_samples()

    def padded(self) -> tuple[Any, Any]:
        """Joins all samples in one zero-padded array; keeps the result for the next call.

        Returns: jax.Array [N, *padded], zero past the size of each sample, and the sizes, int32 [N, ndim].
            Under `jit` both are traced; under `vmap` they have no axis N.
        """
        if self._packed is None:
            array = padded_by_zeros(self.store, self.store.padded_shape(), self._placement)
            self._packed = array, self.store.spec.extents.astype(np.int32)
        return self._packed

    def as_jax(self) -> jax.Array:
        """Joins equally sized samples into a jax.Array [N, ...]; does not copy if the samples already are such an array."""
        array = gather(self.store, None, dense_shape(self.store, "a JAX array"), self._placement)
        assert isinstance(array, jax.Array)
        return array

    def as_numpy(self) -> HostArray:
        """Joins equally sized samples into a C-contiguous NumPy array [N, ...]; waits until they are computed.

        Does not copy if the samples already are such an array. An array that was cut from a padded array is kept for the
        next call. The store stays padded, because it determines the shape of `padded`.
        """
        store, shape = self.store, dense_shape(self.store, "a numpy array")
        if store.dense() is not None:
            host: HostArray = store.blocks[0].host  # type: ignore[union-attr]
            if host.flags.c_contiguous:
                return host
        if self._unpadded is not None:
            return self._unpadded
        array: HostArray = compact(to_host(gather(store, None, shape, None)))
        if store.whole() is not None:
            self._unpadded = array
        return array

    def _dense(self) -> AnyArray:
        """Joins equally sized samples into one array, on their device."""
        return self.as_numpy() if self.device == "cpu" else self.as_jax()

    @property
    def _placement(self) -> Placement:
        """Devices for JAX arrays of the samples: the samples' own, or the default device for samples on the host."""
        return self.store.sharding or self._jax_device()

    def _jax_device(self) -> jax.Device:
        return host_device() if self.device == "cpu" else accelerator()

    def as_tensor(self) -> Tensor:
        """Joins equally sized samples into one tensor with a leading batch axis ("N" in the layout).

        Raises:
            RuntimeError: the samples have different sizes, or the batch is empty and has no element type.
        """
        self._check_typed("as_tensor")
        value = self._dense()
        return self._tensor._of(value, "N" + self._layout if self._layout or value.ndim == 1 else "")

    def as_reshaped_tensor(self, shape: Sequence[int], /) -> Tensor:
        """Joins the elements of all samples into one tensor of `shape`, which must have the same number of elements.

        Raises:
            RuntimeError: `shape` has another number of elements, or the batch is empty and has no element type.
        """
        self._check_typed("as_reshaped_tensor")
        value, sizes = self._elements(), tuple(int(n) for n in shape)
        if min(sizes, default=0) < 0 or int(np.prod(sizes)) != value.size:
            raise RuntimeError(
                "as_reshaped_tensor: To create a view Tensor, requested shape need to have the same volume as the batch, "
                "requested: "
                f"{int(np.prod(sizes))} expected: {value.size}; the shape is {sizes}"
            )
        layout = "N" + self._layout
        return self._tensor._of(
            value.reshape(sizes), layout if self._layout and len(sizes) == len(layout) else ""
        )

    def _check_typed(self, name: str) -> None:
        if self.dtype == types.NO_TYPE:
            raise RuntimeError(
                f"{name}: To create a view Tensor, the batch must have a valid data type; it has no samples, and was made "
                "without a type"
            )

    def as_cpu(self) -> TensorList:
        """Returns the batch in host memory; copies samples that are on a device."""
        return self.from_store(self.store.to_host(), "cpu", self._source)

    # For type checkers, which see an output of `run` as a `TensorList`. At run time, `TensorListGPU` has no `as_array`.
    if TYPE_CHECKING:

        def at(self, i: int, /) -> Any:
            """Returns sample `i` in its true size: a NumPy array if the batch is in host memory, otherwise a tensor."""

        def as_array(self) -> HostArray:
            """Joins equally sized samples into an array [N, ...]; a batch on a device needs `as_cpu` first."""

    def reinterpret(self, new_type: object) -> None:
        """Reads the same bits as another element type of the same size."""
        dtype = same_size_dtype(self.store.spec.dtype, new_type)
        self._known = self.store.view(dtype)
        self._packed = self._unpadded = None

    def reset(self) -> None:
        """Drops all samples."""
        self._known = self.store.select(np.zeros(0, np.int64))
        self._packed = self._unpadded = self._source = None

    def data_ptr(self) -> int:
        """Returns the address of an array with the elements of all samples, one sample after another."""
        if self.is_dense_tensor():
            value = self._dense()
            self._known = Store.of_block(PaddedBlock(value), self.spec)  # keeps the array alive
            return address(value)
        if self._unpadded is None:
            self._unpadded = self._elements()
        return address(self._unpadded)

    def _elements(self) -> AnyArray:
        """Joins the elements of all samples, one sample after another, into a flat array on their device."""
        if self.is_dense_tensor():
            return self._dense().reshape(-1)
        store = self.store
        parts = [store.sample(i).reshape(-1) for i in range(len(store))]
        if self.device == "cpu":
            return np.concatenate([to_host(part) for part in parts])
        with keeping(store.spec.dtype):
            return jnp.concatenate(parts)

    def _copy_to(self, pointer: object) -> None:
        copy_to_address(self._elements(), pointer)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> HostArray:
        return np.array(self.as_numpy(), dtype=dtype, copy=copy)

    def __jax_array__(self) -> jax.Array:
        return self.as_jax()

    def __dlpack__(self, **options: object) -> Any:
        return self.as_tensor().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, int]:
        device: tuple[Any, int] = self.as_tensor().__dlpack_device__()
        return device

    def __repr__(self) -> str:
        return self._text(values=False)

    def __str__(self) -> str:
        return self._text(values=True)

    def _repr_html_(self) -> str | None:
        """Shows the samples as pictures, sounds or numbers, in a notebook."""
        if self._is_traced:
            return None
        return samples_html(
            type(self).__name__, self.device, self.dtype, self._layout, self.shape(), self.store.host_sample,
            self.source_info(),
        )  # fmt: skip

    @property
    def _is_traced(self) -> bool:
        return self._known is None and any(isinstance(v, jax.core.Tracer) for v in self._packed or ())

    def _text(self, values: bool) -> str:
        if self._is_traced:
            return f"{type(self).__name__}(traced, layout={self._layout!r}, padded={self._packed})"
        sample = self.store.host_sample if values else None
        return batch_text(type(self).__name__, self.device, self.dtype, self._layout, self.shape(), sample)


FOR_A_MASK = "take [batch[i] for i in np.flatnonzero(mask)]"


def position(name: str, index: object, count: int, for_a_mask: str = FOR_A_MASK) -> int:
    """Converts the index of a sample to its position, 0 to `count` - 1. A negative index counts from the end.

    Args:
        for_a_mask: what the error advises to those who give a mask.

    Raises:
        IndexError: there is no such sample.
        TypeError: `index` is not an integer. True and False are refused, because they would come from a mask.
    """
    found = whole_number(name, index, for_a_mask)
    if not -count <= found < count:
        raise IndexError(f"{name} index out of range: {found} of {count} samples")
    return found % count


def whole_number(name: str, index: object, for_a_mask: str = FOR_A_MASK) -> int:
    """Converts the index of a sample to an int; raises the TypeError of `position`."""
    if isinstance(index, jax.core.Tracer):
        raise TracedArgumentError(
            f"{name}: samples are picked on the host, and the index has no value under jit, vmap or grad: index "
            "jnp.asarray(batch) there"
        )
    try:
        found = operator.index(index)  # type: ignore[arg-type]
    except TypeError:
        found = None
    if found is None or isinstance(index, bool):
        shown = " ".join(repr(index).split())
        is_mask = isinstance(index, bool) or getattr(index, "dtype", None) == np.bool_
        advice = f"; for a mask, {for_a_mask}" if is_mask else ""
        raise TypeError(f"{name}: {shown:.60} is not the position of a sample: it must be an integer{advice}")
    return found


def dense_shape(store: Store, wanted: str) -> tuple[int, ...]:
    """Returns the common size of the samples; for an empty batch, the padded shape.

    Raises:
        RuntimeError: sizes differ; the message begins "Cannot produce {wanted}".
    """
    if not store.spec.is_uniform:
        sizes = sorted({tuple(extent) for extent in store.spec.extents.tolist()})
        shown = ", ".join(map(str, sizes[:4])) + (", ..." if len(sizes) > 4 else "")
        raise RuntimeError(
            f"Cannot produce {wanted}: the tensors in the list do not all have the same shape ({shown})."
            " The batch must be representable as a tensor - it must have uniform shape and be allocated in contiguous memory."
            " Pad or crop the samples to a common shape, check is_dense_tensor() beforehand,"
            " or use padded()."
        )
    return tuple(store.spec.extents[0].tolist()) if len(store) else store.padded_shape()


def refuse_divergent(first: BatchSpec, other: BatchSpec) -> None:
    """Raises DALI's RuntimeError if two batches cannot be merged."""
    names = "types", "sample dimensions", "layouts"
    both = [(types.type_name(spec.dtype), spec.ndim, f'"{spec.layout}"') for spec in (first, other)]
    for name, one, another in zip(names, *both, strict=True):
        if one != another:
            raise RuntimeError(
                "Divergent data found in different branches of conditional operation. All paths in conditional "
                "operation are merged into one batch which must have consistent type, number of dimensions, layout "
                f"and other metadata. Found distinct {name}: {one} and {another}."
            )
