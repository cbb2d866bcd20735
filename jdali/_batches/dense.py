"""Samples that go together: of one size in one array, or of several batches in one batch."""

from __future__ import annotations

from jdali import types
from jdali._batches.extent import BatchSpec
from jdali._batches.store import Store
from jdali._system.devices import HostArray


def dense_shape(store: Store, wanted: str) -> tuple[int, ...]:
    """Returns the size that all samples have; of a batch without samples, that of its memory.

    Args:
        store: of the samples.
        wanted: the array that the user asked for, for the message.

    Raises:
        RuntimeError: samples differ in size.
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


def dense_memory(store: Store, shape: tuple[int, ...]) -> HostArray | None:
    """Returns the memory of the samples if it is one array [N, *shape] in row-major order; else None."""
    whole = store.whole()
    if whole is None or whole.shape[1:] != shape:
        return None
    host: HostArray = store.blocks[0].host  # type: ignore[union-attr]
    return host if host.flags.c_contiguous else None


def refuse_divergent(first: BatchSpec, other: BatchSpec) -> None:
    """Raises RuntimeError, in DALI's words, unless batches can be merged."""
    names = "types", "sample dimensions", "layouts"
    both = [(types.type_name(spec.dtype), spec.ndim, f'"{spec.layout}"') for spec in (first, other)]
    for name, one, another in zip(names, *both, strict=True):
        if one != another:
            raise RuntimeError(
                "Divergent data found in different branches of conditional operation. All paths in conditional "
                "operation are merged into one batch which must have consistent type, number of dimensions, layout "
                f"and other metadata. Found distinct {name}: {one} and {another}."
            )
