"""Samples along an axis of arrays of Zarr."""

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


def count_of(name: str, argument: str) -> Any:
    """Makes the function that counts the outputs of a reader: one for each array that is named."""
    return lambda arguments: len(path_list(name, argument, arguments.get(argument)) or [""])


@reader(name=_NAME, outputs=count_of(_NAME, "array"), devices=("cpu",))
@also_takes(shuffle_options)
@also_takes(reader_options)
def zarr(
    *,
    path: Static[str],
    array: Static[tuple[str, ...]] = (),
    axis: Static[int] = 0,
    roi_shape: PerSample[tuple[int, ...] | None] = None,
    roi_start: PerSample[tuple[int, ...] | None] = None,
    **options: Any,
) -> ChunkedReader:
    """Reads samples along an axis of arrays of Zarr, or a window of each sample: an output for each array.

    Versions 2 and 3 are read, shards too, of folders and URLs; compressed by Blosc, Zstandard, LZ4, zlib, gzip or bz2. Chunks
    that the window does not touch are not read. A chunk is decoded once for all samples in it that follow each other, and
    kept as far as `bytes_ahead` of `jdali.storage` allows; with `random_shuffle` samples are mixed through a buffer of
    `initial_fill` where chunks hold several. Without its file a chunk has the fill value, as Zarr says.

    Parity: DALI has no such reader.

    Args:
        path: of the folder of an array or of a group.
        array: names of the arrays in the group, with "/" between those of nested groups; empty: the folder is the array's.
        axis: of the samples, in each of the arrays; -1: the last.
        roi_shape: shape of the window in samples of the first array; default: what follows `roi_start`.
        roi_start: where the window starts, elements; default: 0.

    Returns: of each array its elements at a position of `axis`, which is left out: numbers or booleans.

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
            f"{_NAME}: {folder} has no {' and no '.join(_METADATA)}, it is no array of Zarr"
        )
    try:
        return opened_array(_storage.placed(folder), json_object(_NAME, folder, found), axis)
    except ValueError as error:
        if str(error).startswith(_NAME):
            raise
        raise ValueError(f"{_NAME}: {_storage.join(folder, found)} {error}") from error
