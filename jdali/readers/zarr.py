"""Reads samples along an axis of Zarr arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jdali._operators.record import PerSample, Static, also_takes, reader
from jdali._storage import files as _storage
from jdali.readers.base import reader_options, shuffle_options
from jdali.readers.formats.chunked import ChunkedReader
from jdali.readers.formats.records import json_object, path_list
from jdali.readers.formats.zarr_arrays import ZarrArray, need_numcodecs, opened_array

_NAME = "readers.zarr"
_METADATA = ("zarr.json", ".zarray")


def _count(arguments: Mapping[str, Any]) -> int:
    return len(path_list(_NAME, "array", arguments.get("array"))) or 1


@reader(name=_NAME, outputs=_count, devices=("cpu",))
@also_takes(shuffle_options, reader_options)
def zarr(
    *,
    path: Static[str],
    array: Static[tuple[str, ...]] = (),
    axis: Static[int] = 0,
    roi_shape: PerSample[tuple[int, ...] | None] = None,
    roi_start: PerSample[tuple[int, ...] | None] = None,
    **options: Any,
) -> ChunkedReader:
    """Reads samples along an axis of Zarr arrays, or a window of each sample: an output for each array.

    It reads Zarr versions 2 and 3, including shards, from folders and URLs; chunks may be compressed by Blosc,
    Zstandard, LZ4, zlib, gzip or bz2. Chunks outside the window are not read. Consecutive samples share the decoded
    chunks, which are cached within `bytes_ahead` of `jdali.storage`. If chunks hold several samples, `random_shuffle`
    mixes samples through a buffer of `initial_fill` samples. A missing chunk has the fill value, as Zarr specifies.

    Parity: DALI has no such reader.

    Args:
        path: path of the folder of an array or of a group.
        array: names of the arrays in the group; "nested/images" is in a nested group. Empty: `path` is an array.
        axis: the axis of the samples in each array; -1: the last.
        roi_shape: shape of the window in each sample of the first array; default: up to the end of the sample.
        roi_start: start of the window, elements; default: 0.

    Returns: for each array, its elements at one position of `axis`, without this axis: numbers or booleans.

    Example: volumes = fn.readers.zarr(path="scans.zarr", array="volumes", roi_start=[0, 8, 8], roi_shape=[4, 16, 16])
    """
    need_numcodecs(_NAME)
    root = _storage.user_path(path)
    arrays = [_opened(root, name, axis) for name in path_list(_NAME, "array", array) or [""]]
    roi: Mapping[str, Any] = {"roi_start": roi_start, "roi_shape": roi_shape}
    return ChunkedReader(_NAME, [arrays], {}, [root], axis, roi, options)


def _opened(root: str, name: str, axis: int) -> ZarrArray:
    folder = _storage.join(root, _storage.from_data(root, name)) if name else root
    found = next((file for file in _METADATA if _storage.exists(_storage.join(folder, file))), None)
    if found is None:
        raise FileNotFoundError(
            f"{_NAME}: {folder} has no {' and no '.join(_METADATA)}, it is not an array of Zarr"
        )
    try:
        return opened_array(_storage.placed(folder), json_object(_NAME, folder, found), axis)
    except ValueError as error:
        if str(error).startswith(_NAME):
            raise
        raise ValueError(f"{_NAME}: {_storage.join(folder, found)} {error}") from error
