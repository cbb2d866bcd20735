"""Whole files, with labels from their folders, a list or an argument."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from jdali._operators.record import Static, reader
from jdali._operators.shared_arguments import also_takes
from jdali._storage import files as _storage
from jdali._storage.whole_files import read_file, read_named
from jdali.readers.base import Loaded, Reader, reader_options, shuffle_options
from jdali.readers.formats.columns import dense_column

_NAME = "readers.file"
FILE_FILTERS = (
    "*.jpg", "*.jpeg", "*.png", "*.bmp", "*.tif", "*.tiff", "*.pnm", "*.ppm", "*.pgm", "*.pbm", "*.jp2",
    "*.webp", "*.flac", "*.ogg", "*.wav",
)  # fmt: skip
# A name may hold spaces; the last word is the label.
_LINE = re.compile(rb"([^\0]*[^\0\s])\s+(\d{1,18})\s*")
_ESCAPED = re.compile(r"\\(.)|\[\^")
# Read by one task, and open at the same time: a task costs as much as some small files.
_FILES_A_TASK = 64
_LARGEST_LABEL = np.iinfo(np.int32).max


class FileReader(Reader):
    """Files by path.

    Args:
        root: folder that `names` are relative to.
        names: of the files.
        labels: of each.
        options: of every reader.
    """

    num_outputs = 2
    often_cheap = True

    def __init__(self, root: str, names: Sequence[str], labels: Sequence[int], options: dict[str, Any]):
        super().__init__(len(names), options)
        self._root, self._names = root, names
        self._labels = np.asarray(labels, np.int32)

    def load(self, index: int) -> tuple[np.ndarray, ...]:
        return read_file(self.source(index)), self._labels[index : index + 1]

    def load_many(self, indices: np.ndarray) -> Loaded:
        contents = read_named(self._root, self._names, indices)
        labels = self._labels[indices[contents.positions], None]
        return Loaded((contents.column(), dense_column(labels)), contents.failures)

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        step = max(1, min(_FILES_A_TASK, -(-len(indices) // threads)))
        return [slice(at, at + step) for at in range(0, len(indices), step)]

    def source(self, index: int) -> str:
        return _storage.join(self._root, self._names[index])


@reader(name=_NAME, outputs=2, devices=("cpu",), source="operators/reader/file_reader_op.cc")
@also_takes(shuffle_options)
@also_takes(reader_options)
def file(
    *,
    case_sensitive_filter: Static[bool] = False,
    dir_filters: Static[tuple[str, ...] | None] = None,
    file_filters: Static[tuple[str, ...]] = FILE_FILTERS,
    file_list: Static[str | None] = None,
    file_root: Static[str | None] = None,
    files: Static[tuple[str, ...] | None] = None,
    labels: Static[tuple[int, ...] | None] = None,
    **options: Any,
) -> FileReader:
    """Reads whole files: their bytes, and a label.

    The files are those of `files`, else those of `file_list`, else those in the subfolders of
    `file_root`, in the order of their names; there the label is the number of the subfolder.

    Args:
        case_sensitive_filter: tell capital letters from small ones in the filters.
        dir_filters: patterns of the names of subfolders to read (and to number); None: all.
        file_filters: patterns of the names of files in subfolders.
        file_list: text file with a file's name and its label, a number from 0 on, in each line.
        file_root: folder that the names in `files` and `file_list` are relative to; None: the
            folder of `file_list`, or the working folder.
        files: paths.
        labels: of `files`; None: numbered from 0.

    Returns: uint8 [bytes], and int32 [1].
    """
    given = [n for n, v in (("files", files), ("file_list", file_list)) if v is not None]
    if len(given) > 1:
        raise ValueError(
            f"{_NAME}: File paths can be provided through ``files`` or ``file_list`` but not both."
        )
    if labels is not None and files is None:
        raise ValueError(
            f"{_NAME}: The argument ``labels`` is valid only when file paths are provided "
            "as `files` argument."
        )
    if files is not None:
        root = _storage.given(file_root or "")
        names, numbers = _given_files(root, files, labels)
    elif file_list is not None:
        if not file_list:
            raise ValueError(f"{_NAME}: ``file_list`` argument cannot be empty")
        file_list = _storage.given(file_list)
        root = _storage.parent(file_list) if file_root is None else _storage.given(file_root)
        names, numbers = _listed_files(root, file_list)
    elif file_root is not None:
        root = _storage.given(file_root)
        names, numbers = _files_in_folders(root, file_filters, dir_filters, case_sensitive_filter)
    else:
        raise ValueError(
            f"{_NAME}: ``file_root`` argument is required when not using ``files`` or ``file_list``."
        )
    return FileReader(root, names, numbers, options)


def _given_files(
    root: str, files: str | Sequence[str], labels: int | Sequence[int] | None
) -> tuple[Sequence[str], Sequence[int]]:
    names = [_storage.given(f, root) for f in ([files] if isinstance(files, str) else files)]
    if not names:
        raise ValueError(f"{_NAME}: ``files`` specified an empty list.")
    if labels is None:
        return names, range(len(names))
    numbers = [labels] if isinstance(labels, int) else labels
    if len(numbers) != len(names):
        raise ValueError(f"{_NAME}: Provided {len(numbers)} labels for {len(names)} files.")
    return names, numbers


def _listed_files(root: str, file_list: str) -> tuple[list[str], list[int]]:
    try:
        lines = _storage.lines(file_list)
    except OSError as error:
        raise FileNotFoundError(f"{_NAME}: Cannot open: {file_list}: {error.strerror}") from error
    names, labels, numbers = [], [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        found = _LINE.fullmatch(line)
        if found is None or int(found[2]) > _LARGEST_LABEL:
            text = line.decode(errors="replace").strip()
            raise ValueError(
                f"{_NAME}: Incorrect format of the list file: line {number} of {file_list} must be a file's name and a label "
                "from 0 to "
                f"{_LARGEST_LABEL}, but is {text!r}"
            )
        names.append(os.fsdecode(found[1]))
        labels.append(int(found[2]))
        numbers.append(number)
    if not names:
        raise ValueError(f"{_NAME}: No files found: file_list {file_list} names no files")
    local = not _storage.is_url(file_list)
    where = f"{_NAME}: line {{}} of {file_list}"
    return _storage.all_from_data(root, names, lambda i: where.format(numbers[i]), free=local), labels


def _files_in_folders(
    root: str,
    file_filters: str | Sequence[str],
    dir_filters: str | Sequence[str] | None,
    case_sensitive: bool,
) -> tuple[list[str], list[int]]:
    is_wanted = _matcher("file_filters", file_filters, case_sensitive)
    is_wanted_folder = _matcher("dir_filters", "*" if dir_filters is None else dir_filters, case_sensitive)
    folders = [f for f in _entries(root, folders=True) if is_wanted_folder.fullmatch(f)]
    names, labels = [], []
    for label, folder in enumerate(folders):
        inside = _entries(_storage.join(root, _storage.plain(folder)), folders=False)
        found = [_storage.plain(f"{folder}/{name}") for name in inside if is_wanted.fullmatch(name)]
        names += found
        labels += [label] * len(found)
    if not names:
        patterns = file_filters if isinstance(file_filters, str) else ", ".join(file_filters)
        raise ValueError(
            f"{_NAME}: No files found: none match {patterns} in the {len(folders)} subfolders of {root} "
            "(files must be in subfolders, one for each label)"
        )
    return names, labels


def _matcher(argument: str, patterns: str | Sequence[str], case_sensitive: bool) -> re.Pattern[str]:
    """One expression for all glob patterns: there may be millions of names to look at."""
    patterns = [patterns] if isinstance(patterns, str) else patterns
    if not patterns:
        raise ValueError(f"{_NAME}: ``{argument}`` list cannot be empty, it must hold at least one pattern")
    expression = "|".join(fnmatch.translate(_ESCAPED.sub(_as_in_python, p)) for p in patterns)
    return re.compile(expression, 0 if case_sensitive else re.IGNORECASE)


def _as_in_python(found: re.Match[str]) -> str:
    """Translates patterns of C's fnmatch that Python's does not understand: "\\*" for a star itself, "[^a]"
    for "[!a]".
    """
    if found[1] is None:
        return "[!"
    return f"[{found[1]}]" if found[1] in "*?[" else found[1]


def _entries(folder: str, *, folders: bool) -> list[str]:
    """Names of the subfolders or else of the files in a folder, sorted by their bytes."""
    try:
        return _storage.entries(folder, folders=folders)
    except OSError as error:
        raise FileNotFoundError(f"{_NAME}: Failed to open {folder}: {error.strerror}") from error
