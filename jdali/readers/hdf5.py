"""Reads samples along an axis of HDF5 data sets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jdali._operators.record import PerSample, Static, also_takes, reader
from jdali._storage import BadRecord, RecordFiles
from jdali._system.extras import install
from jdali._system.regular_file import is_of_machine
from jdali.readers.base import reader_options, shuffle_options
from jdali.readers.formats.chunked import ChunkedArray, ChunkedReader, check_array
from jdali.readers.formats.records import RecordFile, opened_each, path_list, required_paths

try:
    import h5py
except ImportError:
    h5py = None

_NAME = "readers.hdf5"
# Filters built into HDF5 and h5py: deflate, shuffle, Fletcher32, szip, n-bit, scale-offset, LZF. Other filters are
# rejected, because they would load a plugin, which is code.
_FILTERS = {1, 2, 3, 4, 5, 6, 32000}
# A data set without chunks is read in groups of rows with about this many bytes.
_TOGETHER = 1 << 20


class _Hdf5Source(RecordFile):
    """A file object that stores the error of a failed read."""

    error: Exception | None = None

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        size = max(min(len(view), self._size - self._at), 0)
        try:
            view[:size] = self._files.read(self._number, self._at, size)
        except Exception as error:
            self.error = error
            raise
        self._at += size
        return size

    def take_error(self) -> Exception | None:
        """Returns and forgets the last read error, or None. The HDF5 library replaces this error by its own.

        The traceback of a stored error would keep h5py's objects alive, which in turn keep the source alive. The
        garbage collector does not see this cycle. At the interpreter's exit, the library would call the source and
        crash.
        """
        error, self.error = self.error, None
        return error


class Hdf5Array(ChunkedArray):
    """A data set of an HDF5 file.

    Args:
        chunks: shape of the parts that are read together.
    """

    def __init__(self, source: _Hdf5Source, found: Any, chunks: Sequence[int]):
        super().__init__(found.shape, chunks, found.dtype.newbyteorder("="))
        self._source, self._found = source, found

    def read(self, chunk: tuple[int, ...]) -> np.ndarray:
        part = tuple(
            slice(at * size, min((at + 1) * size, whole))
            for at, size, whole in zip(chunk, self.chunks, self.shape, strict=True)
        )
        self._source.take_error()
        try:
            read: np.ndarray = self._found[part]
        except Exception as error:
            cause = self._source.take_error()
            if cause is not None and not isinstance(cause, BadRecord):
                raise cause from error
            if is_of_machine(error):
                raise
            reason = cause or " ".join(str(error).split())
            raise BadRecord(f"the chunk at {list(chunk)} is damaged: {reason}") from error
        return read.astype(self.dtype, copy=False)


class Hdf5Reader(ChunkedReader):
    """Reads samples of data sets in HDF5 files; see `ChunkedReader`.

    Args:
        opened: h5py's objects of the files that could be opened.
    """

    def __init__(self, files: RecordFiles, opened: Sequence[Any], **options: Any):
        self._files, self._opened = files, opened
        super().__init__(_NAME, **options)

    def interrupt(self) -> None:
        self._files.interrupt()

    def close(self) -> None:
        super().close()
        for file in self._opened:
            file.close()
        self._files.close()


def _data_set(file: Any, name: str) -> Any:
    """Finds a data set by its name; callers prefix ValueErrors with the file's name.

    Rejects links and external data, because they could open files that the user did not name.
    """
    found = file
    for part in [part for part in name.split("/") if part]:
        if not isinstance(found, h5py.Group):
            raise ValueError(f"has no data set {name!r}")
        link = found.get(part, getlink=True)
        if link is None:
            raise ValueError(
                f"has no data set {name!r}; {found.name} has {', '.join(map(repr, list(found)[:50]))}"
            )
        if not isinstance(link, h5py.HardLink):
            raise ValueError(f"has in {name!r} a link ({type(link).__name__}), which is not followed")
        found = found[part]
    if not isinstance(found, h5py.Dataset):
        raise ValueError(
            f"has no data set {name!r}, that is a group of {', '.join(map(repr, list(found)[:50]))}"
        )
    facts = found.id.get_create_plist()
    if facts.get_external_count() or found.is_virtual:
        raise ValueError(f"keeps {name!r} in other files, which are not read")
    filters = {facts.get_filter(number)[0] for number in range(facts.get_nfilters())}
    if filters - _FILTERS:
        raise ValueError(
            f"needs filter {min(filters - _FILTERS)} for {name!r}, a plugin, which is not loaded"
        )
    return found


def _array(source: _Hdf5Source, file: Any, name: str, axis: int) -> Hdf5Array:
    found = _data_set(file, name)
    if not found.shape:
        raise ValueError(f"has in {name!r} a single value, or none")
    axis = check_array(found.shape, found.chunks or [1] * len(found.shape), found.dtype, axis)
    if found.chunks:
        return Hdf5Array(source, found, found.chunks)
    row = found.dtype.itemsize * math.prod(found.shape) // max(found.shape[axis], 1)
    chunks = [max(size, 1) for size in found.shape]
    chunks[axis] = min(max(_TOGETHER // max(row, 1), 1), chunks[axis])
    check_array(found.shape, chunks, found.dtype, axis)
    return Hdf5Array(source, found, chunks)


def _open(files: RecordFiles, number: int, names: Sequence[str], axis: int) -> tuple[Any, list[Hdf5Array]]:
    """Opens a file and its data sets; raises ValueError if the file is damaged or lacks one of them."""
    source = _Hdf5Source(files, number)
    try:
        file = h5py.File(source, "r")
    except Exception as error:
        cause = source.take_error() or error
        if is_of_machine(cause):
            raise cause from error
        reason = " ".join(str(cause).split())
        raise ValueError(
            f"{_NAME}: {files.names[number]} is not an HDF5 file, or damaged: {reason}"
        ) from error
    try:
        return file, [_array(source, file, name, axis) for name in names]
    except Exception as error:
        file.close()
        if is_of_machine(source.take_error() or error):
            raise
        reason = " ".join(str(error).split())
        raise ValueError(f"{_NAME}: {files.names[number]} {reason}") from error


@reader(
    name=_NAME, outputs=lambda arguments: len(path_list(_NAME, "dataset", arguments["dataset"])) or 1,
    devices=("cpu",),
)  # fmt: skip
@also_takes(shuffle_options, reader_options)
def hdf5(
    *,
    dataset: Static[tuple[str, ...]],
    paths: Static[tuple[str, ...]],
    axis: Static[int] = 0,
    roi_shape: PerSample[tuple[int, ...] | None] = None,
    roi_start: PerSample[tuple[int, ...] | None] = None,
    **options: Any,
) -> Hdf5Reader:
    """Reads samples along an axis of HDF5 data sets, or a window of each sample: an output for each data set.

    Chunks outside the window are not read. Consecutive samples share the decoded chunks, which are cached within
    `bytes_ahead` of `jdali.storage`. If chunks hold several samples, `random_shuffle` mixes samples through a buffer of
    `initial_fill` samples. The HDF5 library reads in one thread at a time.

    Links, data sets with data in other files, and filters that are not built into HDF5 or h5py raise an error.

    Parity: DALI has no such reader.

    Args:
        dataset: names of the data sets; "group/images" is a data set in a group.
        paths: paths of the files.
        axis: the axis of the samples in each data set; -1: the last.
        roi_shape: shape of the window in each sample of the first data set; default: up to the end of the sample.
        roi_start: start of the window, elements; default: 0.

    Returns: for each data set, its elements at one position of `axis`, without this axis: numbers or booleans.

    Example: images, labels = fn.readers.hdf5(paths=["train.h5"], dataset=["images", "labels"], random_shuffle=True)
    """
    if h5py is None:
        raise ImportError(f"{_NAME}: the package h5py, which reads the files, is missing: {install('hdf5')}")
    names = path_list(_NAME, "dataset", dataset)
    if not names:
        raise ValueError(f"{_NAME}: dataset is empty, it must name at least one data set")
    files = RecordFiles(_NAME, required_paths(_NAME, "paths", paths))
    found = opened_each(
        _NAME, files, lambda number: _open(files, number, names, axis), options.get("_goes_on", False)
    )
    arrays = [None if one is None else one[1] for one in found]
    opened = [one[0] for one in found if one is not None]
    roi: Mapping[str, Any] = {"roi_start": roi_start, "roi_shape": roi_shape}
    return Hdf5Reader(
        files, opened, arrays=arrays, lost=files.lost, places=files.names, axis=axis, roi=roi, options=options
    )
