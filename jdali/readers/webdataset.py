"""WebDataset: tar archives in which the files of one name, but for the extension, are a sample."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jdali._batches.extent import BatchSpec
from jdali._batches.store import RaggedBlock, Store
from jdali._errors import SampleError
from jdali._operators.record import Static, reader
from jdali._operators.shared_arguments import also_takes
from jdali._storage.pieces import Pieces, read_pieces
from jdali.readers.base import Loaded, reader_options, shuffle_options
from jdali.readers.formats import columns as _columns
from jdali.readers.formats.columns import Buffer
from jdali.readers.formats.records import (
    BadRecord,
    PiecesReader,
    RecordFiles,
    given_paths,
    parsed_together,
    path_list,
    record_tasks,
    required_paths,
)
from jdali.readers.formats.tar import BLOCK, is_header_of
from jdali.readers.formats.webdataset_index import NAME as _NAME
from jdali.readers.formats.webdataset_index import Components, components_of
from jdali.types import to_dtype

_BEHAVIORS = {"": "empty", "empty": "empty", "skip": "skip", "error": "error"}
_MISSING = -1
# Digits of a size in a header.
_SIZE_DIGITS = 11


class Samples(NamedTuple):
    """The samples of one archive that are given.

    Attributes:
        offsets: int64 [samples, outputs], where the content of each output begins, bytes.
        sizes: int64 [samples, outputs], bytes; -1 where there is none.
        numbers: int64 [samples], which samples of the archive they are.
    """

    offsets: np.ndarray
    sizes: np.ndarray
    numbers: np.ndarray


class WebDatasetReader(PiecesReader):
    """Samples of tar archives, which are read as they lie there.

    Args:
        files: the archives.
        samples: of each archive.
        dtypes: of the outputs.
        check: whether to see that there is a header before each content.
        options: of every reader.
    """

    def __init__(
        self,
        files: RecordFiles,
        samples: Sequence[Samples],
        dtypes: Sequence[np.dtype[Any]],
        check: bool,
        options: Mapping[str, Any],
    ):
        self._dtypes, self._check = list(dtypes), check
        self._empty = [np.empty(0, dtype) for dtype in dtypes]
        self._offsets, self._sizes, self._numbers = map(np.concatenate, zip(*samples, strict=True))
        self.num_outputs = len(self._dtypes)
        super().__init__(files, [len(one.numbers) for one in samples], options)
        self._expect()

    def _expect(self) -> None:
        """Tells the files in which order they will be read."""
        present = self._sizes != _MISSING
        some = present.any(axis=1)
        owners = np.repeat(np.arange(len(self._files.paths)), np.diff(self._first))
        starts = np.where(present, self._offsets, np.iinfo(np.int64).max).min(axis=1)
        ends = np.where(present, self._offsets + self._sizes, 0).max(axis=1)
        self._files.expect(self._order.window, owners[some], starts[some], ends[some])

    def load(self, index: int) -> tuple[np.ndarray, ...]:
        file = bisect.bisect_right(self._starts, index) - 1
        try:
            return tuple(
                [
                    empty if size == _MISSING else self._content(file, offset, size, dtype)
                    for offset, size, dtype, empty in zip(
                        self._offsets[index].tolist(), self._sizes[index].tolist(), self._dtypes, self._empty,
                        strict=True,
                    )
                ]
            )  # fmt: skip
        except BadRecord as error:
            raise SampleError(f"{_NAME}: {self.source(index)}: {error}") from error

    def load_many(self, indices: np.ndarray) -> Loaded:
        sizes = self._sizes[indices]
        file = np.searchsorted(self._first, indices, side="right") - 1
        present = sizes != _MISSING
        head = BLOCK if self._check else 0
        pieces = read_pieces(
            self._files,
            np.repeat(file, self.num_outputs),
            np.where(present, self._offsets[indices] - head, 0).reshape(-1),
            np.where(present, sizes + head, 0).reshape(-1),
        )
        return parsed_together(self, pieces, len(indices), lambda i: self.load(indices.item(i)))

    def parse_many(self, buffer: Buffer, pieces: Pieces, ok: np.ndarray) -> tuple[Store, ...]:
        head = BLOCK if self._check else 0
        shape = (len(ok), self.num_outputs)
        starts, sizes = pieces.starts.reshape(shape), pieces.sizes.reshape(shape)
        present = (sizes > 0) & ok[:, None]
        if head:
            usual = np.ones(shape, bool)
            usual[present] = _usual_headers(buffer, starts[present], sizes[present] - head)
            ok &= usual.all(axis=1)
        widths = np.array([dtype.itemsize for dtype in self._dtypes])
        starts, sizes = starts + head, np.where(present, sizes - head, 0)
        ok &= (sizes % widths == 0).all(axis=1)
        rows = np.flatnonzero(ok)
        columns = [
            _columns.byte_column(buffer, starts[rows, output], sizes[rows, output])
            for output in range(self.num_outputs)
        ]
        return tuple(
            column if dtype == np.uint8 else _elements(column, dtype)
            for column, dtype in zip(columns, self._dtypes, strict=True)
        )

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        return record_tasks(np.maximum(self._sizes[indices], 0).sum(axis=1), threads)

    def _content(self, file: int, offset: int, size: int, dtype: np.dtype[Any]) -> np.ndarray:
        if size % dtype.itemsize:
            raise BadRecord(f"the {size} bytes at byte {offset} are no whole number of {dtype}")
        head = BLOCK if self._check else 0
        data = self._files.read(file, offset - head, size + head)
        if head and not is_header_of(data[:head], size):
            raise BadRecord(
                f"the index does not fit, or the archive is damaged: there is no file of {size} bytes at "
                f"byte {offset}"
            )
        return np.frombuffer(data, dtype, offset=head)

    def source(self, index: int) -> str:
        file = bisect.bisect_right(self._starts, index) - 1
        return f"{self._files.paths[file]}#sample {self._numbers[index]}"


def _usual_headers(buffer: Buffer, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """bool [n], whether there are headers of regular files of these sizes, as nearly all programs write them."""
    digits = buffer.at(starts + 124, f"V{_SIZE_DIGITS}").view(np.uint8).reshape(-1, _SIZE_DIGITS)
    octal = digits.astype(np.int64) - ord("0")
    usual = np.asarray(((octal >= 0) & (octal < 8)).all(axis=1))
    usual &= octal @ (8 ** np.arange(_SIZE_DIGITS)[::-1]) == sizes
    usual &= buffer.at(starts + 156, "u1") == ord("0")
    usual &= buffer.at(starts + 257, "S5") == b"ustar"
    return usual


def _elements(column: Store, dtype: np.dtype[Any]) -> Store:
    """A column of bytes as one of another type; copied, because NumPy is slow where elements are not aligned."""
    raw = column.host_samples()
    values = np.frombuffer(b"".join([sample.data for sample in raw]), dtype)
    extents = column.spec.extents // dtype.itemsize
    starts = np.cumsum(extents[:, 0]) - extents[:, 0]
    return Store.of_block(RaggedBlock(values, starts, extents), BatchSpec(extents, dtype))


def _select(
    components: Components, wanted: Mapping[str, Sequence[int]], outputs: int, fold: bool
) -> np.ndarray:
    """int64 [samples, outputs]: the component that gives each output, -1 if none does.

    Of several that fit, the first in the archive.

    Args:
        components: of one archive.
        wanted: for an extension the outputs that it can give.
        outputs: number of outputs.
        fold: do not tell capital letters from small ones.
    """
    samples = int(components.sample[-1]) + 1 if len(components.sample) else 0
    count = len(components.sample)
    first = np.full((samples, outputs), count, np.int64)
    for number, extension in enumerate(components.extensions):
        for output in wanted.get(extension.lower() if fold else extension, ()):
            mine = np.flatnonzero(components.extension == number)
            np.minimum.at(first[:, output], components.sample[mine], mine)
    return np.where(first == count, _MISSING, first)


def _given(components: Components, path: str, groups: Sequence[str], *, fold: bool, behavior: str) -> Samples:
    """Chooses the samples of an archive to be given, and finds their outputs."""
    wanted: dict[str, list[int]] = {}
    for output, group in enumerate(groups):
        for extension in dict.fromkeys((group.lower() if fold else group).split(";")):
            wanted.setdefault(extension, []).append(output)
    chosen = _select(components, wanted, len(groups), fold)
    complete = (chosen != _MISSING).all(axis=1)
    if behavior == "error" and not complete.all():
        sample = int(np.flatnonzero(~complete)[0])
        lacking = ", ".join(groups[int(i)] for i in np.flatnonzero(chosen[sample] == _MISSING))
        raise ValueError(f"{_NAME}: sample {sample} of {path} has no file with the extension {lacking}")
    kept = np.flatnonzero(complete) if behavior == "skip" else np.arange(len(chosen))
    chosen = chosen[kept]
    sizes = np.where(chosen == _MISSING, _MISSING, components.size[chosen])
    return Samples(components.offset[chosen], sizes, kept)


def _and_lost(samples: Samples, number: int, end: int) -> Samples:
    """The samples of an archive of `end` bytes, and one more that cannot be read."""
    row = np.ones((1, samples.offsets.shape[1]), np.int64)
    return Samples(
        np.concatenate([samples.offsets, end * row]),
        np.concatenate([samples.sizes, row]),
        np.append(samples.numbers, number),
    )


def _num_outputs(given: Mapping[str, Any]) -> int:
    return len(path_list(_NAME, "ext", given["ext"]))


@reader(
    name=_NAME, outputs=_num_outputs, devices=("cpu",),
    source="operators/reader/loader/webdataset_loader.cc",
)  # fmt: skip
@also_takes(shuffle_options)
@also_takes(reader_options)
def webdataset(
    *,
    ext: Static[tuple[str, ...]],
    paths: Static[tuple[str, ...]],
    case_sensitive_extensions: Static[bool] = True,
    dtypes: Static[tuple[np.dtype[Any], ...] | None] = None,
    index_paths: Static[tuple[str, ...] | None] = None,
    missing_component_behavior: Static[str] = "",
    **options: Any,
) -> WebDatasetReader:
    """Reads samples from tar archives: an output for each entry of `ext`.

    Files that follow each other and have the same name up to the first dot are one sample; what is after
    the dot is the extension. Links, folders and hidden files are passed over.

    Parity: without an index DALI gives empty samples for hidden files and for an empty archive, and does not
    read long names of the PAX format.

    Args:
        ext: extension of each output; several with ";" between them: the first that a sample has.
        paths: of the archives.
        case_sensitive_extensions: tell capital letters from small ones in extensions.
        dtypes: element type of each output; None: uint8.
        index_paths: of the index of each archive, as `wds2idx` makes it; None: made on first use and kept
            in the user's cache folder.
        missing_component_behavior: what to do with a sample that lacks an output: "empty" (or ""): give
            an empty tensor; "skip": leave the sample out; "error": raise an error when the reader is opened.

    Returns: for each output the content of a file, [elements] of its dtype.
    """
    groups = path_list(_NAME, "ext", ext)
    if not groups:
        raise ValueError(f"{_NAME}: ext is empty, it must name at least one extension")
    behavior = _BEHAVIORS.get(missing_component_behavior.lower())
    if behavior is None:
        raise ValueError(
            f'{_NAME}: missing_component_behavior must be "empty", "skip" or "error", '
            f"not {missing_component_behavior!r}"
        )
    types = _dtypes(dtypes, len(groups))
    files = RecordFiles(_NAME, required_paths(_NAME, "paths", paths))
    indexes = given_paths(_NAME, "index_paths", index_paths)
    if indexes and len(indexes) != len(files.paths):
        raise ValueError(
            f"{_NAME}: {len(indexes)} index files for {len(files.paths)} archives. The number of index files, if any, must "
            "match the number of archives in the dataset"
        )
    selections = []
    for file, path in enumerate(files.paths):
        index = indexes[file] if indexes else None
        components = components_of(files, file, index, options.get("_goes_on", False))
        selections.append(
            _given(components, path, groups, fold=not case_sensitive_extensions, behavior=behavior)
        )
        if file in files.lost:
            number = int(components.sample[-1]) + 1 if len(components.sample) else 0
            selections[-1] = _and_lost(selections[-1], number, files.sizes[file])
    if not any(len(one.numbers) for one in selections):
        raise ValueError(
            f"{_NAME}: there are no samples with {', '.join(groups)} in {', '.join(files.paths)}"
        )
    return WebDatasetReader(files, selections, types, bool(indexes), options)


def _dtypes(given: Any, outputs: int) -> list[np.dtype[Any]]:
    if given is None:
        return [np.dtype(np.uint8)] * outputs
    types = [to_dtype(dtype) for dtype in (given if isinstance(given, (list, tuple)) else [given])]
    if len(types) != outputs:
        raise ValueError(
            f"{_NAME}: {len(types)} dtypes for {outputs} outputs. Number of extensions does not match the number of provided "
            "types"
        )
    return types
