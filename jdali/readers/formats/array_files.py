"""Base of readers whose samples are one file each, without labels."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from typing import Any

from jdali._operators.record import Static
from jdali._storage import NameTable
from jdali._storage import files as _storage
from jdali.readers.base import Reader


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


class ArrayFileReader(Reader):
    """Locates the files of a reader whose samples are one file each.

    Args:
        file_filter: glob pattern of the files in searched folders.
    """

    def __init__(self, name: str, options: Mapping[str, Any], file_filter: str):
        self._name = name
        self._root, self._names = _chosen(
            name, file_filter, *map(options.get, ("file_root", "file_list", "files"))
        )
        for file in self._names:
            if "\0" in file:
                raise ValueError(f"{name}: {file[:60]!r} is not a name of a file")
        self._folder = _storage.placed(self._root)
        super().__init__(len(self._names), options)

    def path(self, index: int) -> str:
        return _storage.join(self._folder, self._names[index])

    def source(self, index: int) -> str:
        return _storage.join(self._root, self._names[index])


def _chosen(
    name: str,
    file_filter: str,
    file_root: str | None,
    file_list: str | None,
    files: str | Sequence[str] | None,
) -> tuple[str, Sequence[str]]:
    """Returns the root folder of a reader's files, and their names relative to it."""
    if files is not None and file_list is not None:
        raise ValueError(
            f"{name}: File paths can be provided through ``files`` or ``file_list`` but not both."
        )
    if files is not None:
        root = _storage.user_path(file_root or "")
        names = [_storage.user_path(file, root) for file in ([files] if isinstance(files, str) else files)]
        if not names:
            raise ValueError(f"{name}: ``files`` specified an empty list.")
        return root, names
    if file_list is not None:
        file_list = _storage.user_path(file_list)
        root = _storage.parent(file_list) if file_root is None else _storage.user_path(file_root)
        return root, _listed(name, root, file_list)
    if file_root is None:
        raise ValueError(
            f"{name}: ``file_root`` argument is required when not using ``files`` or ``file_list``."
        )
    root = _storage.user_path(file_root)
    return root, _found(name, root, file_filter)


def _listed(name: str, root: str, file_list: str) -> NameTable:
    try:
        listed = _storage.listed_names(file_list, labelled=False)
    except OSError as error:
        raise FileNotFoundError(f"{name}: Cannot open: {file_list}: {error.strerror or error}") from error
    if not len(listed.starts):
        raise ValueError(f"{name}: No files found: file_list {file_list} names no files")
    local = not _storage.is_url(file_list)
    where = f"{name}: line {{}} of {file_list}"
    return _storage.table_from_data(root, listed.table(), lambda i: where.format(listed.line(i)), free=local)


def _found(name: str, root: str, file_filter: str) -> list[str]:
    is_wanted = re.compile(fnmatch.translate(file_filter)).fullmatch

    def files_in(folder: str) -> list[str]:
        return [file for file in _storage.entries(folder, folders=False) if is_wanted(file)]

    try:
        names = [_storage.plain(file) for file in files_in(root)]
        for folder in _storage.entries(root, folders=True):
            inside = files_in(_storage.join(root, _storage.plain(folder)))
            names += [_storage.plain(f"{folder}/{file}") for file in inside]
    except OSError as error:
        raise FileNotFoundError(f"{name}: Failed to open {root}: {error.strerror or error}") from error
    if not names:
        raise ValueError(f"{name}: No files found: none match {file_filter!r} in {root} and its subfolders")
    return names
