"""Reads NumPy's .npy files, or windows of their arrays."""

from __future__ import annotations

import contextlib
import functools
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from jdali._batches import BatchSpec, RaggedBlock, Store
from jdali._errors import SampleError
from jdali._kernels import slice_window as slicing
from jdali._kernels import window as windows
from jdali._numerics.rounding import np_saturate_cast
from jdali._operators.record import PerSample, Static, also_takes, reader
from jdali._storage import FileContents, read_named
from jdali._storage import files as _storage
from jdali._system.regular_file import check_size, is_of_machine, open_regular, read_at
from jdali.codecs import npy
from jdali.readers.base import Loaded, one_by_one, reader_options, shuffle_options
from jdali.readers.formats.named_files import ArrayFileReader, array_file_options

_NAME = "readers.numpy"
_STARTS = ("roi_start", "rel_roi_start")
# In remote files, a gap of up to this many bytes is cheaper to read than another request.
_REMOTE_GAP = 1 << 20
_ENDS = ("roi_end", "rel_roi_end", "roi_shape", "rel_roi_shape")


class NumpyReader(ArrayFileReader):
    """Reads arrays by path.

    Args:
        roi: {argument: value}, window borders that are the same for all samples; values may be None.
        axes: axes that the borders apply to; empty: all.
    """

    often_cheap = True

    def __init__(
        self,
        roi: Mapping[str, np.ndarray | None],
        axes: tuple[int, ...],
        policy: str,
        fill_value: float,
        keep_headers: bool,
        file_filter: str,
        options: Mapping[str, Any],
    ):
        policy = windows.policy_of(policy)
        windows.check_choice(_NAME, "out_of_bounds_policy", policy, windows.POLICIES)
        super().__init__(_NAME, file_filter, options)
        self._roi = {key: value for key, value in roi.items() if value is not None and value.shape != (0,)}
        self._axes, self._policy, self._fill_value = axes, policy, fill_value
        self._headers: dict[int, tuple[object, npy.Header]] | None = {} if keep_headers else None
        # Caches windows by shape of the array, for borders that are the same for all samples.
        self._window_in = functools.lru_cache(maxsize=1024)(functools.partial(self._window, self._roi))

    def load(self, index: int, **borders: np.ndarray) -> tuple[np.ndarray, ...]:
        """Loads the array of a file, or the window that `roi` and the per-sample `borders` give."""
        path = self.path(index)
        try:
            if not self._roi and not borders:
                return (npy.decode(_storage.read(path)),)
            gap = _REMOTE_GAP if _storage.is_url(path) else npy.SMALL_GAP
            with _pieces(path) as (read, size, version):
                header = self._header(index, read, size, version)
                if borders:
                    anchor, sizes = self._window(self._roi | borders, header.shape)
                else:
                    anchor, sizes = self._window_in(header.shape)
                check_size(path, math.prod(sizes) * header.dtype.itemsize)
                return (self._part(read, header, anchor, sizes, gap),)
        except SampleError as error:
            # Adds the path, because the message only names sample 0: each window is computed as a batch of one sample.
            reason = str(error).removeprefix(f"{_NAME}: ")
            raise SampleError(f"{_NAME}: {path}: {reason}", argument=error.argument) from error
        except OSError as error:
            if is_of_machine(error):
                raise
            raise SampleError(
                f"{_NAME}: cannot read {path}: {error.strerror or error}. File mapping failed: {path}"
            ) from error

    def load_many(self, indices: np.ndarray, **borders: np.ndarray) -> Loaded:
        if not self._roi and not borders:
            return self._load_whole(indices)
        return one_by_one(self.load, indices, self.num_outputs, **borders)

    def _load_whole(self, indices: np.ndarray) -> Loaded:
        contents = read_named(self._folder, self.names, indices)
        column = _alike(contents)
        if column is not None:
            return Loaded((column,), contents.failures)

        def decoded(i: int) -> tuple[np.ndarray, ...]:
            try:
                return (npy.decode(contents.content(i)),)
            except SampleError as error:
                path = self.source(indices.item(contents.positions.item(i)))
                raise SampleError(f"{_NAME}: {path}: {error}") from error

        columns, failures = one_by_one(decoded, np.arange(len(contents.positions)), self.num_outputs)
        others = {contents.positions.item(i): error for i, error in failures.items()}
        return Loaded(columns, contents.failures | others)

    def _header(self, index: int, read: npy.Read, size: int, version: object) -> npy.Header:
        if self._headers is None:
            return npy.read_header(read, size)
        known = self._headers.get(index)
        if known is None or known[0] != version:  # the file is new or changed
            known = self._headers[index] = version, npy.read_header(read, size)
        return known[1]

    def _window(self, borders: Mapping[str, np.ndarray], shape: tuple[int, ...]) -> tuple[Any, Any]:
        """Computes anchor and size of the window, which may extend beyond the array."""
        _check_exclusive(borders)
        extents = np.array([shape], np.int64).reshape(1, len(shape))
        axes = slicing.slice_axes(_NAME, "", extents.shape, np.array([self._axes], np.int64), None)
        bounds = {}
        for argument, value in borders.items():
            slicing.slice_argument(_NAME, argument, value[None], axes.shape)
            if argument.endswith("shape") and (value < 0).any():
                raise SampleError(f"{argument} {value.tolist()} is negative", argument=argument)
            bounds[argument.replace("roi_", "")] = value[None]
        anchors, sizes = slicing.slice_window(_NAME, extents, axes, **bounds)
        outside = (anchors < 0) | (anchors > extents) | (anchors + sizes > extents)
        if self._policy == "error" and outside.any():
            raise SampleError(
                f"Slice can't be placed out of bounds with current policy. Got: the window at "
                f"{anchors[0].tolist()} of size {sizes[0].tolist()} reaches out of the array of "
                f"shape {list(shape)}; move it, or set out_of_bounds_policy to 'pad' or 'trim_to_shape'"
            )
        anchors, sizes = windows.apply_bounds(_NAME, self._policy, extents, anchors, sizes)
        return tuple(anchors[0].tolist()), tuple(sizes[0].tolist())

    def _part(
        self, read: npy.Read, header: npy.Header, anchor: tuple[int, ...], sizes: tuple[int, ...], gap: int
    ) -> np.ndarray:
        ends = [min(a + n, extent) for a, n, extent in zip(anchor, sizes, header.shape, strict=True)]
        first = tuple(min(max(a, 0), extent) for a, extent in zip(anchor, header.shape, strict=True))
        inside = tuple(max(end - a, 0) for end, a in zip(ends, first, strict=True))
        part = npy.read_window(read, header, first, inside, gap)
        if inside == sizes:
            return part
        padded = np.full(sizes, np_saturate_cast(np.array(self._fill_value), part.dtype), part.dtype)
        padded[tuple(slice(f - a, f - a + n) for f, a, n in zip(first, anchor, inside, strict=True))] = part
        return padded


def _alike(contents: FileContents) -> Store | None:
    """Wraps the arrays in files without a copy; returns None if headers differ or an array needs conversion."""
    starts, sizes = contents.starts, contents.sizes
    if not len(sizes) or (sizes != sizes[0]).any():
        return None
    first = contents.content(0)
    try:
        header = npy.parse_header(first, len(first))
    except SampleError:
        return None
    dtype = header.dtype
    if header.fortran or not dtype.isnative or dtype.kind == "b" or header.start % dtype.itemsize:
        return None
    if (contents.raw[starts[:, None] + np.arange(header.start)] != first[: header.start]).any():
        return None
    extents = np.tile(np.array(header.shape, np.int64), (len(sizes), 1))
    block = RaggedBlock(contents.raw.view(dtype), (starts + header.start) // dtype.itemsize, extents)
    return Store.of_block(block, BatchSpec(extents, dtype))


def _check_exclusive(borders: Mapping[str, object]) -> None:
    for group in (_STARTS, _ENDS):
        slicing.check_exclusive(_NAME, **{argument: borders.get(argument) for argument in group})


@contextlib.contextmanager
def _pieces(path: str) -> Iterator[tuple[npy.Read, int, object]]:
    """Opens a file for reading in pieces; yields a read function, the size, and a key that changes with the file."""
    if _storage.is_url(path):
        file = _storage.RemoteFile(path)
        yield file.read, file.size, (file.size, file.version)
        return
    descriptor, file_size = open_regular(path)

    def read(offset: int, size: int) -> bytes:
        data = read_at(descriptor, size, offset)
        if len(data) < size:
            raise SampleError(f"the file ends at byte {offset + len(data)}; it was longer before")
        return data

    try:
        facts = os.fstat(descriptor)
        yield read, file_size, (file_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)
    finally:
        os.close(descriptor)


@reader(name=_NAME, source="operators/reader/numpy_reader_op.h")
@also_takes(array_file_options, shuffle_options, reader_options)
def numpy(
    *,
    cache_header_information: Static[bool] = False,
    file_filter: Static[str] = "*.npy",
    fill_value: Static[float] = 0.0,
    out_of_bounds_policy: Static[str] = "error",
    register_buffers: Static[bool] = True,
    rel_roi_end: PerSample[tuple[float, ...] | None] = None,
    rel_roi_shape: PerSample[tuple[float, ...] | None] = None,
    rel_roi_start: PerSample[tuple[float, ...] | None] = None,
    roi_axes: Static[tuple[int, ...]] = (),
    roi_end: PerSample[tuple[int, ...] | None] = None,
    roi_shape: PerSample[tuple[int, ...] | None] = None,
    roi_start: PerSample[tuple[int, ...] | None] = None,
    use_o_direct: Static[bool] = False,
    **options: object,
) -> NumpyReader:
    """Reads arrays, or a window of each array, from .npy files.

    The window starts at `roi_start` or `rel_roi_start`, by default at 0. It ends at `roi_end` or `rel_roi_end`, or
    has the size `roi_shape` or `rel_roi_shape`; by default it ends where the array ends. Borders are rounded half
    away from zero. Most of the data outside of the window is not read.

    Args:
        cache_header_information: cache the headers of files whose windows were read.
        file_filter: glob pattern of the files in `file_root`, case-sensitive.
        fill_value: value outside of the array; rounded and saturated for integers.
        out_of_bounds_policy: for windows that extend beyond the array: "error" raises, "pad" fills with `fill_value`,
            "trim_to_shape" shrinks the window.
        register_buffers: without effect.
        rel_roi_end: `roi_end` as a fraction of the extent.
        rel_roi_shape: `roi_shape` as a fraction of the extent.
        rel_roi_start: `roi_start` as a fraction of the extent.
        roi_axes: axes that the borders apply to; negative axes count from the end. Empty: all axes, in order.
        roi_end: end of the window, elements, exclusive.
        roi_shape: size of the window, elements.
        roi_start: start of the window, elements.
        use_o_direct: without effect.

    Returns: the array in C order and this machine's byte order. Only numbers and booleans are read;
    pickled objects are an error.

    Parity: DALI reads only format version 1.0, little-endian elements, and headers formatted as NumPy writes them.
    This reader also accepts versions 2.0 and 3.0, big-endian elements, and headers with any spacing. In a `file_list`,
    DALI takes empty lines as names, and carriage returns as parts of names.

    Example: numbers = fn.readers.numpy(file_root="arrays", file_filter="*.npy")
    """
    roi: dict[str, Any] = {
        "roi_start": roi_start, "rel_roi_start": rel_roi_start, "roi_end": roi_end,
        "rel_roi_end": rel_roi_end, "roi_shape": roi_shape, "rel_roi_shape": rel_roi_shape,
    }  # fmt: skip
    _check_exclusive(roi)
    return NumpyReader(
        roi, roi_axes, out_of_bounds_policy, fill_value, cache_header_information, file_filter, options
    )
