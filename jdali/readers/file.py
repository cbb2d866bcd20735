"""Reads whole files, with labels from their folders, a list or an argument."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from jdali._operators.record import Static, also_takes, reader
from jdali._storage import NameTable, read_named
from jdali._storage import files as _storage
from jdali._system.progress import progress_bar
from jdali.readers.base import Loaded, file_tasks, reader_options, shuffle_options
from jdali.readers.formats.columns import dense_column
from jdali.readers.formats.named_files import (
    NO_ROOT,
    NamedFilesReader,
    check_one_given,
    class_folders,
    given_files,
    listed_files,
    root_of_list,
    whole_labels,
)
from jdali.readers.shared_tables import shared

_NAME = "readers.file"
FILE_FILTERS = (
    "*.jpg", "*.jpeg", "*.png", "*.bmp", "*.tif", "*.tiff", "*.pnm", "*.ppm", "*.pgm", "*.pbm", "*.jp2",
    "*.webp", "*.flac", "*.ogg", "*.wav",
    # Not read by DALI.
    "*.gif", "*.avif", "*.heic", "*.heif", "*.jxl", "*.opus", "*.mp3", "*.m4a",
)  # fmt: skip
_ESCAPED = re.compile(r"\\(.)|\[\^")


class FileReader(NamedFilesReader):
    """Reads files by path, with a label each."""

    num_outputs = 2
    often_cheap = True

    def __init__(
        self, root: str, names: Sequence[str], labels: Sequence[int] | np.ndarray, options: dict[str, Any],
        classes: Sequence[str] = (),
    ):  # fmt: skip
        self._labels = np.asarray(labels, np.int32)
        super().__init__(root, names, options, self._labels, classes)

    def load_many(self, indices: np.ndarray) -> Loaded:
        contents = read_named(self._folder, self.names, indices)
        labels = self._labels[indices[contents.positions], None]
        return Loaded((contents.column(), dense_column(labels)), contents.failures)

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        return file_tasks(len(indices), threads)


@reader(name=_NAME, outputs=2, devices=("cpu",), source="operators/reader/file_reader_op.cc")
@also_takes(shuffle_options, reader_options)
def file(
    *,
    case_sensitive_filter: Static[bool] = False,
    dir_filters: Static[tuple[str, ...] | None] = None,
    file_filters: Static[tuple[str, ...]] = FILE_FILTERS,
    file_list: Static[str | None] = None,
    file_root: Static[str | None] = None,
    files: Static[tuple[str, ...] | None] = None,
    labels: Static[tuple[int | float, ...] | None] = None,
    **options: object,
) -> FileReader:
    """Reads whole files: their bytes, and a label.

    It reads `files` if given, or else the files named in `file_list`. If neither is given, it reads the files in the
    subfolders of `file_root`, ordered by name; the label is the number of the subfolder, and
    `Pipeline.reader_meta(name)["classes"]` has the names of the subfolders.

    Parity: without `dir_filters` DALI numbers hidden and empty subfolders, too.

    Args:
        case_sensitive_filter: distinguish upper and lower case in the filters.
        dir_filters: glob patterns of the subfolders to read and number. None selects all subfolders that contain
            matching files, except hidden subfolders; "*" selects all, as in DALI.
        file_filters: glob patterns of the files in subfolders.
        file_list: text file; each line has a file's name and its label, an integer from 0 on.
        file_root: folder that the names in `files` and `file_list` are relative to; None: the
            folder of `file_list`, or the working folder.
        files: paths of the files.
        labels: labels of `files`; None: the numbers of the files, from 0.

    Returns: uint8 [bytes], and int32 [1].

    Example: jpegs, labels = fn.readers.file(file_root="photos", random_shuffle=True)
    """
    check_one_given(_NAME, files, file_list)
    if labels is not None and files is None:
        raise ValueError(
            f"{_NAME}: The argument ``labels`` is valid only when file paths are provided "
            "as `files` argument."
        )
    names: Sequence[str]
    numbers: Sequence[int] | np.ndarray
    classes: Sequence[str] = ()
    if files is not None:
        root = _storage.user_path(file_root or "")
        names = shared("files", lambda: given_files(_NAME, root, files))
        numbers = shared("labels", lambda: _numbers(labels, len(names)))
    elif file_list is not None:
        if not file_list:
            raise ValueError(f"{_NAME}: ``file_list`` argument cannot be empty")
        file_list = _storage.user_path(file_list)
        root = root_of_list(file_list, file_root)
        names, numbers = shared("files", lambda: listed_files(_NAME, root, file_list, labelled=True))
    elif file_root is not None:
        root = _storage.user_path(file_root)
        names, numbers, classes = shared(
            "files", lambda: _files_in_folders(root, file_filters, dir_filters, case_sensitive_filter)
        )
    else:
        raise ValueError(f"{_NAME}: {NO_ROOT}.")
    return FileReader(root, names, numbers, options, classes)


def _numbers(labels: float | Sequence[float] | None, files: int) -> np.ndarray:
    """Checks the labels of the files; returns int32 [files]."""
    if labels is None:
        return np.arange(files, dtype=np.int32)
    numbers = whole_labels(_NAME, labels)
    if len(numbers) != files:
        raise ValueError(f"{_NAME}: Provided {len(numbers)} labels for {files} files.")
    return numbers


def _files_in_folders(
    root: str,
    file_filters: str | Sequence[str],
    dir_filters: str | Sequence[str] | None,
    case_sensitive: bool,
) -> tuple[NameTable, np.ndarray, list[str]]:
    is_wanted = _matcher("file_filters", file_filters, case_sensitive)
    is_wanted_folder = _matcher("dir_filters", "*" if dir_filters is None else dir_filters, case_sensitive)
    folders = [f for f in _entries(root, folders=True) if is_wanted_folder.fullmatch(f)]
    tables = {}
    with progress_bar(len(folders), "folders", f"listing {root}") as advance:
        for folder in folders:
            inside = _entries(_storage.join(root, _storage.plain(folder)), folders=False)
            tables[folder] = NameTable.of(
                _storage.plain(f"{folder}/{name}") for name in inside if is_wanted.fullmatch(name)
            )
            advance(1)
    if dir_filters is None:
        folders = class_folders(_NAME, root, tables, every='dir_filters="*"')
    counts = [len(tables[folder]) for folder in folders]
    names = NameTable.joined([tables[folder] for folder in folders])
    if not len(names):
        patterns = file_filters if isinstance(file_filters, str) else ", ".join(file_filters)
        flat = [name for name in _entries(root, folders=False) if is_wanted.fullmatch(name)]
        lying = (
            f"; {len(flat)} lie in {root} itself: put them into subfolders, one for each class, or, without labels, name them: "
            "fn.readers.file(files=sorted(glob.glob(...)))"
            if flat
            else ""
        )
        raise ValueError(
            f"{_NAME}: No files found: none match {patterns} in the {len(tables)} subfolders of {root} "
            f"(files must be in subfolders, one for each label){lying}"
        )
    return names, np.repeat(np.arange(len(folders)), counts), folders


def _matcher(argument: str, patterns: str | Sequence[str], case_sensitive: bool) -> re.Pattern[str]:
    """Compiles all glob patterns into one regular expression, which is fast for millions of names."""
    patterns = [patterns] if isinstance(patterns, str) else patterns
    if not patterns:
        raise ValueError(f"{_NAME}: ``{argument}`` list cannot be empty, it must hold at least one pattern")
    expression = "|".join(fnmatch.translate(_ESCAPED.sub(_as_in_python, p)) for p in patterns)
    return re.compile(expression, 0 if case_sensitive else re.IGNORECASE)


def _as_in_python(found: re.Match[str]) -> str:
    """Translates syntax that C's fnmatch has and Python's lacks: "\\*" for a literal star, "[^a]" for "[!a]"."""
    if found[1] is None:
        return "[!"
    return f"[{found[1]}]" if found[1] in "*?[" else found[1]


def _entries(folder: str, *, folders: bool) -> list[str]:
    with _storage.found(f"{_NAME}: Failed to open {folder}"):
        return _storage.entries(folder, folders=folders)
