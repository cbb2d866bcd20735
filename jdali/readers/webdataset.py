"""Reads WebDataset archives: tar files whose members with the same name but different extensions form a sample."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jdali._batches import BatchSpec, RaggedBlock, Store
from jdali._operators.record import Static, also_takes, reader
from jdali._storage import Pieces, never, read_pieces
from jdali._system.tracebacks import warn_user
from jdali.readers.base import Loaded, reader_options, shuffle_options
from jdali.readers.formats import columns as _columns
from jdali.readers.formats.columns import Buffer
from jdali.readers.formats.records import (
    BadRecord,
    FoundBy,
    Misplaced,
    PiecesReader,
    RecordFiles,
    parsed_together,
    path_list,
    record_tasks,
    required_paths,
    user_paths,
)
from jdali.readers.formats.tar import BLOCK, MARKED, NAMED, has_name, header_mark, is_header_of, marks
from jdali.readers.formats.webdataset_index import NAME as _NAME
from jdali.readers.formats.webdataset_index import SPARSE, Components, components_of
from jdali.readers.found_by import shared_table
from jdali.types import to_dtype

_BEHAVIORS = {"": "empty", "empty": "empty", "skip": "skip", "error": "error"}
_MISSING = -1
# Octal digits of a size in a tar header.
_SIZE_DIGITS = 11


class Samples(NamedTuple):
    """The samples that the reader takes from one archive.

    Attributes:
        offsets: int64 [samples, outputs], offset of each output's content, bytes.
        sizes: int64 [samples, outputs], bytes; -1 for a missing output.
        marks: uint64 [samples, outputs], see `Components`.
        numbers: int64 [samples], number of each sample in the archive.
    """

    offsets: np.ndarray
    sizes: np.ndarray
    marks: np.ndarray
    numbers: np.ndarray


class WebDatasetReader(PiecesReader):
    """Reads samples directly from tar archives.

    Args:
        found: for each archive, its samples and how they were found (`FoundBy`).
        indexed: True if the user gave indexes; these contain no hashes of headers.
    """

    def __init__(
        self,
        files: RecordFiles,
        found: Sequence[tuple[Samples, FoundBy]],
        dtypes: Sequence[np.dtype],
        indexed: bool,
        options: Mapping[str, object],
    ):
        self._dtypes, self._indexed = list(dtypes), indexed
        self._empty = [np.empty(0, dtype) for dtype in dtypes]
        self.num_outputs = len(self._dtypes)
        super().__init__(_NAME, files, found, options)

    @property
    def _all(self) -> Samples:
        return Samples(*self._tables.all)

    def _pieces(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        offsets, sizes, _, _ = self._all
        present = sizes != _MISSING
        some = present.any(axis=1)
        owners = np.repeat(np.arange(len(self._files.paths)), np.diff(self._first))
        starts = np.where(present, offsets, np.iinfo(np.int64).max).min(axis=1)
        ends = np.where(present, offsets + sizes, 0).max(axis=1)
        return owners[some], starts[some], ends[some]

    def _read(self, file: int, index: int) -> tuple[np.ndarray, ...]:
        offsets, sizes, marks, _ = (column[index].tolist() for column in self._all)
        return tuple(
            empty if size == _MISSING else self._content(file, offset, size, mark, dtype)
            for offset, size, mark, dtype, empty in zip(
                offsets, sizes, marks, self._dtypes, self._empty, strict=True
            )
        )

    def load_many(self, indices: np.ndarray) -> Loaded:
        offsets, sizes, marks = (column[indices] for column in self._all[:3])
        file = np.searchsorted(self._first, indices, side="right") - 1
        present = sizes != _MISSING
        pieces = read_pieces(
            self._files,
            np.repeat(file, self.num_outputs),
            np.where(present, offsets - BLOCK, 0).reshape(-1),
            np.where(present, sizes + BLOCK, 0).reshape(-1),
        )
        parse = functools.partial(_parsed, self._dtypes, marks, self._indexed)
        return parsed_together(
            parse, self.num_outputs, pieces, len(indices), lambda i: self.load(indices.item(i))
        )

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        return record_tasks(np.maximum(self._all.sizes[indices], 0).sum(axis=1), threads)

    def _content(self, file: int, offset: int, size: int, mark: int, dtype: np.dtype) -> np.ndarray:
        if not (mark or self._indexed):
            raise BadRecord(f"the file at byte {offset} {SPARSE}")
        data = self._files.read(file, offset - BLOCK, size + BLOCK)
        header = data[:BLOCK]
        if self._indexed:
            is_there = is_header_of(header, size) and has_name(header, mark)
        else:
            is_there = header_mark(header) == mark
        if not is_there:
            raise Misplaced(f"there is no file of {size} bytes at byte {offset}")
        if size % dtype.itemsize:
            raise BadRecord(
                f"component size and dtype incompatible: the {size} bytes at byte {offset} are not a whole number of {dtype}"
            )
        return np.frombuffer(data, dtype, offset=BLOCK)

    def source(self, index: int) -> str:
        return f"{self._files.names[self._file_of(index)]}#sample {self._all.numbers[index]}"


def _parsed(
    dtypes: Sequence[np.dtype],
    marks: np.ndarray,
    indexed: bool,
    buffer: Buffer,
    pieces: Pieces,
    ok: np.ndarray,
) -> tuple[Store, ...]:
    """Parses samples whose tar headers agree with the index, see `parsed_together`."""
    starts, sizes = pieces.starts.reshape(marks.shape), pieces.sizes.reshape(marks.shape)
    present = (sizes > 0) & ok[:, None]
    if present.any():
        at, own = starts[present], marks[present]
        right = np.ones(marks.shape, bool)
        if indexed:
            right[present] = _usual_headers(buffer, at, sizes[present] - BLOCK) & _names(buffer, at, own)
        else:
            right[present] = _marks_at(buffer, at, MARKED) == own
        ok &= right.all(axis=1)
    widths = np.array([dtype.itemsize for dtype in dtypes])
    starts, sizes = starts + BLOCK, np.where(present, sizes - BLOCK, 0)
    ok &= (sizes % widths == 0).all(axis=1)
    rows = np.flatnonzero(ok)
    columns = []
    for output, dtype in enumerate(dtypes):
        column = _columns.byte_column(buffer, starts[rows, output], sizes[rows, output])
        columns.append(column if dtype == np.uint8 else _elements(column, dtype))
    return tuple(columns)


def _marks_at(buffer: Buffer, starts: np.ndarray, size: int) -> np.ndarray:
    """Hashes `size` bytes at each start; returns uint64 [n]."""
    return marks(buffer.at(starts, f"V{size}").view(np.uint8).reshape(-1, size))


def _names(buffer: Buffer, starts: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Compares the hashes of the names in headers with `expected`; returns bool [n], also True where `expected` is 0."""
    if not expected.any():
        return np.ones(len(expected), bool)
    same: np.ndarray = (expected == 0) | (_marks_at(buffer, starts, NAMED) == expected)
    return same


def _usual_headers(buffer: Buffer, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Returns bool [n], True for the usual ustar header of a regular file of this size."""
    digits = buffer.at(starts + 124, f"V{_SIZE_DIGITS}").view(np.uint8).reshape(-1, _SIZE_DIGITS)
    octal = digits.astype(np.int64) - ord("0")
    usual = np.asarray(((octal >= 0) & (octal < 8)).all(axis=1))
    usual &= octal @ (8 ** np.arange(_SIZE_DIGITS)[::-1]) == sizes
    usual &= buffer.at(starts + 156, "u1") == ord("0")
    usual &= buffer.at(starts + 257, "S5") == b"ustar"
    return usual


def _elements(column: Store, dtype: np.dtype) -> Store:
    """Converts a column of bytes to another type; copies, because NumPy is slow with unaligned elements."""
    raw = column.host_samples()
    values = np.frombuffer(b"".join([sample.data for sample in raw]), dtype)
    extents = column.spec.extents // dtype.itemsize
    starts = np.cumsum(extents[:, 0]) - extents[:, 0]
    return Store.of_block(RaggedBlock(values, starts, extents), BatchSpec(extents, dtype))


def _select(
    components: Components, wanted: Mapping[str, Sequence[int]], outputs: int, fold: bool
) -> np.ndarray:
    """Returns the first component that fits each output, int64 [samples, outputs]; -1 if none fits.

    Args:
        wanted: for each extension, the outputs that it fits.
        fold: ignore the case of extensions.
    """
    samples = int(components.sample[-1]) + 1 if len(components.sample) else 0
    count = len(components.sample)
    first = np.full((samples, outputs), count, np.int64)
    for number, extension in enumerate(components.extensions):
        for output in wanted.get(extension.lower() if fold else extension, ()):
            mine = np.flatnonzero(components.extension == number)
            np.minimum.at(first[:, output], components.sample[mine], mine)
    return np.where(first == count, _MISSING, first)


def _selected(
    components: Components, path: str, groups: Sequence[str], *, fold: bool, behavior: str
) -> Samples:
    wanted: dict[str, list[int]] = {}
    for output, group in enumerate(groups):
        for extension in dict.fromkeys((group.lower() if fold else group).split(";")):
            wanted.setdefault(extension, []).append(output)
    chosen = _select(components, wanted, len(groups), fold)
    complete = (chosen != _MISSING).all(axis=1)
    if behavior == "error" and not complete.all():
        sample = int(np.flatnonzero(~complete)[0])
        lacking = ", ".join(groups[int(i)] for i in np.flatnonzero(chosen[sample] == _MISSING))
        raise ValueError(
            f"{_NAME}: Underful sample detected: sample {sample} of {path} has no file with the extension {lacking}"
        )
    kept = np.flatnonzero(complete) if behavior == "skip" else np.arange(len(chosen))
    chosen = chosen[kept]
    sizes = np.where(chosen == _MISSING, _MISSING, components.size[chosen])
    return Samples(components.offset[chosen], sizes, components.mark[chosen], kept)


def _and_lost(samples: Samples, number: int, end: int) -> Samples:
    """Appends a sample that cannot be read, because it begins at `end`, the end of the archive."""
    row = np.ones((1, samples.offsets.shape[1]), np.int64)
    return Samples(
        np.concatenate([samples.offsets, end * row]),
        np.concatenate([samples.sizes, row]),
        np.concatenate([samples.marks, row.astype(np.uint64)]),
        np.append(samples.numbers, number),
    )


def _extensions(ext: Any) -> list[str]:
    groups = path_list(_NAME, "ext", ext)
    if not groups:
        raise ValueError(f"{_NAME}: ext is empty, it must name at least one extension")
    return groups


def _num_outputs(arguments: Mapping[str, Any]) -> int:
    return len(_extensions(arguments["ext"]))


@reader(
    name=_NAME, outputs=_num_outputs, devices=("cpu",), source="operators/reader/loader/webdataset_loader.cc"
)
@also_takes(shuffle_options, reader_options)
def webdataset(
    *,
    ext: Static[tuple[str, ...]],
    paths: Static[tuple[str, ...]],
    case_sensitive_extensions: Static[bool] = True,
    dtypes: Static[tuple[np.dtype, ...] | None] = None,
    index_paths: Static[tuple[str, ...] | None] = None,
    missing_component_behavior: Static[str] = "",
    **options: Any,
) -> WebDatasetReader:
    """Reads samples from tar archives: an output for each entry of `ext`.

    Consecutive files with the same name up to the first dot form a sample; the rest of the name
    is the extension. Links, folders and hidden files are skipped. Concatenated archives (`cat a.tar
    b.tar`) are read to the end. Sparse files, as `tar --sparse` stores them, cannot be read.

    Parity: without an index, DALI returns empty samples for hidden files and for an empty archive, does not read long
    names in PAX format, and reads only the first of concatenated archives. It skips sparse files, or returns wrong
    bytes for them.

    Args:
        ext: extension of each output. An entry may have several extensions, separated by ";". The output is then the
            sample's first file that has one of them.
        paths: paths of the archives.
        case_sensitive_extensions: distinguish upper and lower case in extensions.
        dtypes: element type of each output; None: uint8.
        index_paths: path of the index of each archive, in the format of `wds2idx`. None: the index is made on first
            use and cached in the user's cache folder.
        missing_component_behavior: treatment of a sample that lacks an output. "empty" or "": the output is
            an empty tensor; "skip": the sample is left out; "error": opening the reader raises an error.

    Returns: for each output the content of a file, [elements] of its dtype.

    Example: jpegs, scores = fn.readers.webdataset(paths=["shard.tar"], ext=["jpg", "scores"])
    """
    groups = _extensions(ext)
    behavior = _BEHAVIORS.get(missing_component_behavior.lower())
    if behavior is None:
        raise ValueError(
            f"{_NAME}: Invalid value for missing_component_behavior '{missing_component_behavior}' possible values are: skip, "
            "error, empty"
        )
    types = _dtypes(dtypes, len(groups))
    archives = required_paths(_NAME, "paths", paths, "No webdataset archives provided")
    indexes = user_paths(_NAME, "index_paths", index_paths)
    if indexes and len(indexes) != len(archives):
        raise ValueError(
            f"{_NAME}: {len(indexes)} index files for {len(archives)} archives. The number of index files, if any, must "
            "match the number of archives in the dataset"
        )
    files = RecordFiles(_NAME, archives)
    select = functools.partial(
        _selected, groups=groups, fold=not case_sensitive_extensions, behavior=behavior
    )
    found: list[tuple[Samples, FoundBy]] = []
    for file in range(len(files.paths)):
        index = indexes[file] if indexes else None
        find = functools.partial(_found, files, file, index, select, options.get("_goes_on", False))
        samples = shared_table(files, file, find)
        found.append((samples, index or functools.partial(_found_again, files, file, select)))
    if not any(len(samples.numbers) for samples, _ in found):
        raise ValueError(
            f"{_NAME}: The number of input samples: 0, needs to be at least equal to the requested number of shards: there are "
            f"no samples with {', '.join(groups)} in {', '.join(files.paths)}"
        )
    if not missing_component_behavior:
        absent = [g for o, g in enumerate(groups) if all((f.sizes[:, o] == _MISSING).all() for f, _ in found)]
        if absent:
            index = indexes[0] if indexes else None
            there = components_of(files, 0, index, options.get("_goes_on", False)).extensions
            warn_user(
                f"{_NAME}: no sample has a file with the extension {', '.join(absent)}: that output is empty. "
                f'{files.paths[0]} has {", ".join(sorted(set(there)))} (missing_component_behavior="empty" if this is meant)'
            )
    return WebDatasetReader(files, found, types, bool(indexes), options)


def _found(
    files: RecordFiles,
    file: int,
    index: str | None,
    select: Callable[[Components, str], Samples],
    goes_on: bool,
) -> Samples:
    """Finds the samples of an archive; if the rest of the archive is damaged, adds an unreadable sample for it."""
    components = components_of(files, file, index, goes_on)
    samples = select(components, files.paths[file])
    if file not in files.lost:
        return samples
    number = int(components.sample[-1]) + 1 if len(components.sample) else 0
    return _and_lost(samples, number, files.sizes[file])


def _found_again(files: RecordFiles, file: int, select: Callable[[Components, str], Samples]) -> Samples:
    """Finds the samples of an archive by a new scan, after its cached index was found stale."""
    return select(components_of(files, file, None, False, never), files.paths[file])


def _dtypes(dtypes: object, outputs: int) -> list[np.dtype]:
    if dtypes is None:
        return [np.dtype(np.uint8)] * outputs
    types = [to_dtype(dtype) for dtype in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes])]
    if len(types) != outputs:
        raise ValueError(
            f"{_NAME}: {len(types)} dtypes for {outputs} outputs. Number of extensions does not match the number of provided "
            "types"
        )
    return types
