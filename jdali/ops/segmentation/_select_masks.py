from __future__ import annotations

import numpy as np

from jdali._batches import BatchSpec
from jdali._errors import SampleError, check_samples
from jdali._operators.record import Static, host_operator

_NAME = "segmentation.select_masks"


def setup(mask_ids: BatchSpec, polygons: BatchSpec, vertices: BatchSpec) -> tuple[BatchSpec, BatchSpec]:
    for name, spec in (("mask_ids", mask_ids), ("polygons", polygons)):
        if spec.dtype != np.int32:
            raise TypeError(f"{_NAME}: ``{name}`` input is expected to be int32, got {spec.dtype}")
    for name, spec, ndim in (("mask_ids", mask_ids, 1), ("polygons", polygons, 2), ("vertices", vertices, 2)):
        if spec.ndim != ndim:
            raise ValueError(f"{_NAME}: ``{name}`` input is expected to be {ndim}D. Got {spec.ndim}D")
    wrong = polygons.extents[:, 1] != 3
    check_samples(
        wrong,
        lambda i: (
            f"{_NAME}: ``polygons`` is expected to contain 2D tensors with 3 columns: ``mask_id, start_idx, end_idx``. "
            f"Got {polygons.extents[i, 1]} columns."
        ),
    )
    # The sizes in the specs are upper bounds, because the numbers of polygons and vertices depend on values.
    return polygons.replace(layout=""), vertices.replace(layout="")


@host_operator(
    name=_NAME,
    setup=setup,
    outputs=2,
    devices=("cpu",),
    source="operators/segmentation/select_masks.cc",
)
def select_masks(
    mask_ids: np.ndarray,
    polygons: np.ndarray,
    vertices: np.ndarray,
    /,
    *,
    reindex_masks: Static[bool] = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Selects the polygons of masks, and their vertices, in the order of `mask_ids`.

    Args:
        mask_ids: int32 [masks], ids of existing masks, without duplicates.
        polygons: int32 [polygons, 3], rows (mask id, first vertex, end vertex), with an exclusive end.
        vertices: [vertices, coordinates], any type.
        reindex_masks: replace mask ids by their indices in `mask_ids`.

    Returns: int32 [selected polygons, 3], and [selected vertices, coordinates], which the polygons refer to. Polygons of
        one mask keep their order.

    Parity: DALI selects only the last polygon of a mask that has several.

    Example: polygons, vertices = fn.segmentation.select_masks(mask_ids, polygons, vertices)
    """
    ids, owners = mask_ids.tolist(), polygons[:, 0]
    if len(set(ids)) < len(ids):
        raise SampleError(
            f"{_NAME}: mask_ids should not have duplicated values. Got "
            f"{next(one for one in ids if ids.count(one) > 1)} repeated in {ids}"
        )
    chosen = [np.flatnonzero(owners == one) for one in ids]
    missing = next((one for one, found in zip(ids, chosen, strict=True) if not len(found)), None)
    if missing is not None:
        raise SampleError(f"{_NAME}: Selected mask_id {missing} is not present in the input.")
    taken = polygons[np.concatenate([np.zeros(0, np.intp), *chosen])]
    _check_ranges(taken, len(vertices))
    lengths = taken[:, 2] - taken[:, 1]
    ends = np.cumsum(lengths)
    names = np.repeat(np.arange(len(ids)), [len(found) for found in chosen]) if reindex_masks else taken[:, 0]
    kept = [vertices[first:past] for first, past in taken[:, 1:].tolist()]
    return (
        np.column_stack([names, ends - lengths, ends]).astype(np.int32),
        np.concatenate([vertices[:0], *kept]),
    )


def _check_ranges(polygons: np.ndarray, vertices: int) -> None:
    """Raises SampleError for a polygon that refers to missing vertices."""
    first, past = polygons[:, 1], polygons[:, 2]
    wrong = polygons[(first < 0) | (past > vertices) | (past < first)]
    if len(wrong):
        owner, start, end = wrong[0].tolist()
        if end < start:
            raise SampleError(
                f"{_NAME}: Vertex start index can't be after end index. Got [{start}, {end}) for mask id {owner}"
            )
        raise SampleError(
            f"{_NAME}: Vertex index range for mask id {owner} [{start}, {end}) is out of bounds. Expected to be within the "
            f"range of available vertices [0, {vertices})."
        )
