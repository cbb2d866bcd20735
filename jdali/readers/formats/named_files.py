"""Base of readers whose samples are one file each; finds the files, and their labels.

The files are named by an argument, by a list, or by a folder.
"""

from __future__ import annotations

import fnmatch
import re
import warnings
from collections.abc import Mapping, Sequence, Sized
from typing import Any

import numpy as np

from jdali._errors import SampleError
from jdali._operators.record import Static
from jdali._storage import BadLine, NameTable, read_file
from jdali._storage import files as _storage
from jdali.readers.base import Reader

LARGEST_LABEL = np.iinfo(np.int32).max
_SHOWN = 3
NO_ROOT = "``file_root`` argument is required when not using ``files`` or ``file_list``"


class NamedFilesReader(Reader):
    """Reads files by name; `names` are relative to the folder `root`, and begin with "./" if they look like a URL."""

    def __init__(
        self, root: str, names: Sequence[str], options: Mapping[str, Any], labels: np.ndarray | None = None,
        classes: Sequence[str] = (),
    ):  # fmt: skip
        super().__init__(len(names), options, labels, classes)
        self._root, self.names, self._folder = root, names, _storage.placed(root)

    def path(self, index: int) -> str:
        return _storage.join(self._folder, self.names[index])

    def source(self, index: int) -> str:
        return _storage.join(self._root, self.names[index])


def check_one_given(name: str, files: object, file_list: object) -> None:
    if files is not None and file_list is not None:
        raise ValueError(
            f"{name}: File paths can be provided through ``files`` or ``file_list`` but not both."
        )


def given_files(name: str, root: str, files: str | Sequence[str]) -> NameTable:
    names = NameTable.of(_storage.user_path(f, root) for f in ([files] if isinstance(files, str) else files))
    if not names:
        raise ValueError(f"{name}: ``files`` specified an empty list.")
    return names


def root_of_list(file_list: str, file_root: str | None) -> str:
    return _storage.parent(file_list) if file_root is None else _storage.user_path(file_root)


def listed_files(name: str, root: str, file_list: str, *, labelled: bool) -> tuple[NameTable, np.ndarray]:
    """Reads the names of files in a list, and the labels behind them, int32 [n]; without labels, [0]."""
    try:
        with _storage.found(f"{name}: Cannot open: {file_list}"):
            text = _storage.text_of_lines(file_list)
        listed = _storage.ListedNames(text, labelled=labelled, largest_label=LARGEST_LABEL)
    except BadLine as error:
        line = error.line.decode(errors="replace").strip()
        raise ValueError(
            f"{name}: Incorrect format of the list file: line {error.number} of {file_list} must be a file's name and a "
            f"label from 0 to {LARGEST_LABEL}, but is {line!r}"
        ) from None
    if not len(listed.starts):
        raise ValueError(f"{name}: No files found: file_list {file_list} names no files")
    local = not _storage.is_url(file_list)
    where = f"{name}: line {{}} of {file_list}"
    names = _storage.table_from_data(root, listed.table(), lambda i: where.format(listed.line(i)), free=local)
    return names, listed.labels


def class_folders(name: str, root: str, files: Mapping[str, Sized], *, every: str) -> list[str]:
    """Returns the folders that are classes, in order; warns about hidden and empty folders, which are not classes.

    Args:
        name: name of the reader.
        root: parent of the folders.
        files: files of each folder.
        every: argument that makes all folders classes, which the warning suggests; "" if the reader has none.
    """
    hidden = [folder for folder in files if folder.startswith(".")]
    empty = [folder for folder in files if not files[folder] and folder not in hidden]
    if (hidden or empty) and len(hidden) + len(empty) < len(files):
        which = [*(f"{folder!r} (hidden)" for folder in hidden), *(f"{folder!r} (empty)" for folder in empty)]
        more = f" and {len(which) - _SHOWN} more" if len(which) > _SHOWN else ""
        advice = f"; {every} numbers all" if every else ""
        warnings.warn(
            f"{name}: folders of {root} are not classes: {', '.join(which[:_SHOWN])}{more}. DALI numbers them, too{advice}",
            stacklevel=2,
        )
    return [folder for folder in files if files[folder] and folder not in hidden]


def whole_labels(name: str, labels: float | Sequence[float]) -> np.ndarray:
    """Converts the user's labels to int32 [n]; raises ValueError for fractions (DALI truncates them) and numbers out of range."""
    given = np.atleast_1d(np.asarray(labels))
    if not given.size:
        return np.zeros(0, np.int32)
    if given.ndim != 1 or given.dtype.kind not in "buif":
        raise ValueError(f"{name}: labels must be whole numbers, one for each file")
    limits = np.iinfo(np.int32)
    with np.errstate(invalid="ignore"):
        wrong = ~(
            (given >= limits.min) & (given <= limits.max) & (given == np.floor(given.astype(np.float64)))
        )
    if wrong.any():
        raise ValueError(
            f"{name}: label {int(wrong.argmax())} is {given[wrong][0]}, which is not a whole number of 32 bits; targets of a "
            "regression are a column of fn.readers.table, or of fn.readers.dataset"
        )
    return given.astype(np.int32)


def array_file_options(
    *,
    file_list: Static[str | None] = None,
    file_root: Static[str | None] = None,
    files: Static[tuple[str, ...] | None] = None,
) -> None:
    """Declares the arguments of all readers of arrays.

    Args:
        file_list: text file with the name of a file in each line; empty lines are skipped.
        file_root: folder that the names in `files` and `file_list` are relative to; None: the folder of
            `file_list`, or the working folder. Without `files` and `file_list`, the reader takes the files in this
            folder, and then the files in its direct subfolders.
        files: paths of the files.
    """


class ArrayFileReader(NamedFilesReader):
    """Base of readers of arrays, which have no labels.

    Args:
        file_filter: glob pattern of the files in searched folders.
    """

    def __init__(self, name: str, file_filter: str, options: Mapping[str, Any]):
        self._name = name
        file_root, file_list, files = map(options.get, ("file_root", "file_list", "files"))
        check_one_given(name, files, file_list)
        names: Sequence[str]
        if files is not None:
            root = _storage.user_path(file_root or "")
            names = given_files(name, root, files)
        elif file_list is not None:
            file_list = _storage.user_path(file_list)
            root = root_of_list(file_list, file_root)
            names, _ = listed_files(name, root, file_list, labelled=False)
        elif file_root is not None:
            root = _storage.user_path(file_root)
            names = _in_folders(name, root, file_filter)
        else:
            raise ValueError(f"{name}: {NO_ROOT}.")
        for file in names:
            if "\0" in file:
                raise ValueError(f"{name}: {file[:60]!r} is not a name of a file")
        super().__init__(root, names, options)

    def load(self, index: int) -> tuple[np.ndarray, ...]:
        path = self.path(index)
        try:
            return self.decoded(read_file(path))
        except SampleError as error:
            raise SampleError(f"{self._name}: {path}: {error}") from error

    def decoded(self, data: np.ndarray) -> tuple[np.ndarray, ...]:
        """Decodes the content of a file; raises `SampleError` if it is damaged."""
        raise NotImplementedError


def _in_folders(name: str, root: str, file_filter: str) -> list[str]:
    is_wanted = re.compile(fnmatch.translate(file_filter)).fullmatch

    def files_in(folder: str) -> list[str]:
        return [file for file in _storage.entries(folder, folders=False) if is_wanted(file)]

    with _storage.found(f"{name}: Failed to open {root}"):
        names = [_storage.plain(file) for file in files_in(root)]
        for folder in _storage.entries(root, folders=True):
            inside = files_in(_storage.join(root, _storage.plain(folder)))
            names += [_storage.plain(f"{folder}/{file}") for file in inside]
    if not names:
        raise ValueError(f"{name}: No files found: none match {file_filter!r} in {root} and its subfolders")
    return names
