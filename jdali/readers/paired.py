"""Reads samples of several files, such as a picture and its mask, paired by stem or by a table."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jdali._operators.record import Static, also_takes, reader
from jdali._storage import NameTable, read_named
from jdali._storage import files as _storage
from jdali._system.regular_file import is_of_machine
from jdali.readers.base import Loaded, Reader, file_tasks, reader_options, shuffle_options
from jdali.readers.formats.records import csv_text
from jdali.readers.shared_tables import shared

_NAME = "readers.paired"
# A run of wildcards. "**/" matches any number of folders; "*" matches within one folder.
_WILD = re.compile(r"((?:\*\*/|\*\*|\*|\?|\[[^\]/]+\])+)")
_STARS = re.compile(r"((?:\*\*/|\*\*|\*)+)")  # for URLs, where "?" and "[" are not wildcards
_PART = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]/]+\]")
_MEANS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


class _Files(NamedTuple):
    """The files of one keyword: `names`, one per sample, are relative to `root`."""

    root: str
    names: NameTable


class _Pairs(NamedTuple):
    """The files of all keywords. `left_out` counts the samples that were left out because a file is missing."""

    files: tuple[_Files, ...]
    left_out: int


class PairedFilesReader(Reader):
    """Reads several files for each sample."""

    often_cheap = True

    def __init__(self, pairs: _Pairs, options: Mapping[str, Any]):
        self._pairs = pairs
        self._placed = [(_storage.placed(root), names) for root, names in pairs.files]
        self.num_outputs = len(pairs.files)
        super().__init__(len(pairs.files[0].names), options)

    def meta(self) -> dict[str, Any]:
        """Returns `reader_meta`, with "left_out": the number of samples left out because a file is missing."""
        return super().meta() | {"left_out": self._pairs.left_out}

    def load_many(self, indices: np.ndarray) -> Loaded:
        contents = [read_named(folder, names, indices) for folder, names in self._placed]
        failures: dict[int, Exception] = {}
        for one in contents:
            failures = one.failures | failures
        good = np.array([i for i in range(len(indices)) if i not in failures], np.int64)
        columns = (
            one.column().select(np.searchsorted(one.positions, good)) if failures else one.column()
            for one in contents
        )
        return Loaded(tuple(columns), failures)

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        return file_tasks(len(indices), threads, self.num_outputs)

    def source(self, index: int) -> str:
        return ";".join(_storage.join(root, names[index]) for root, names in self._pairs.files)


def _count(arguments: Mapping[str, Any]) -> int:
    return len(arguments.get("files") or ()) or 1


@reader(name=_NAME, outputs=_count, devices=("cpu",))
@also_takes(shuffle_options, reader_options)
def paired(
    *,
    file_root: Static[str | None] = None,
    files: Static[Any] = None,
    missing: Static[str] = "error",
    table: Static[Any] = None,
    **options: Any,
) -> PairedFilesReader:
    """Reads several files for each sample, such as a picture and its mask: an output for each keyword, in call order.

    Each argument that is not listed below is a keyword: `paired(images="photos", masks="masks")` has two outputs. The
    value of a keyword is a folder, a pattern such as "photos/*.jpg", or a list of paths. Files with the same stem
    form a sample. In a folder, the stem is the path below the folder without its extension; in a list, the path below
    the common folder. In a pattern, the stem is the text that the wildcards match, so "*_photo.jpg" pairs with
    "*_mask.png". "**" matches any number of folders; hidden files are skipped. With `table`, the value of a keyword
    is the name of a column, and each row is a sample.

    Parity: DALI has no such reader.

    Args:
        file_root: folder that all paths are relative to; None: the working folder, or the folder of the CSV file. Files
            named in a table must lie below it.
        files: {keyword: value}, for keywords that equal names of arguments; their outputs come first.
        missing: for samples that lack a file: "error" raises when the pipeline is built, "skip" leaves them out.
        table: path of a CSV file whose first line names the columns, a DataFrame, or a dict of lists.

    Returns: for each keyword uint8 [bytes]. `Pipeline.reader_meta(name)["left_out"]` counts the samples that were left out.

    Example: jpegs, pngs = fn.readers.paired(images="pairs/images", masks="pairs/masks", random_shuffle=True)
    """
    if missing not in ("error", "skip"):
        raise ValueError(f'{_NAME}: missing is {missing!r}, it must be "error" or "skip"')
    given = dict(files or {})
    skip = missing == "skip"
    if table is not None:
        return PairedFilesReader(
            shared("table", lambda: _by_table(table, given, file_root, skip=skip)), options
        )
    root = _storage.user_path(file_root or "")
    return PairedFilesReader(shared("files", lambda: _by_stem(root, given, skip=skip)), options)


def _by_stem(root: str, given: Mapping[str, Any], *, skip: bool) -> _Pairs:
    if not given:
        raise ValueError(f'{_NAME}: it needs keywords: paired(images="photos/*.jpg", masks="masks/*.png")')
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for keyword, value in given.items():
        by_stem: dict[str, str] = {}
        # Not the `repr` of a list, which takes long.
        shown = f"{value!r:.200}" if isinstance(value, (str, os.PathLike)) else "a list of paths"
        with _storage.found(f"{_NAME}: {keyword}: Failed to open {shown}"):
            folder, named = _found(root, keyword, value)
            for stem, name in named:
                if (other := by_stem.setdefault(stem, name)) != name:
                    two = f"{_storage.join(folder, other)} and {_storage.join(folder, name)}"
                    raise ValueError(f"{_NAME}: {keyword} has two files of the stem {stem!r}: {two}")
        if not by_stem:
            raise ValueError(f"{_NAME}: No files found: {keyword} is {value!r:.200}, where none are")
        found[keyword] = folder, by_stem
    stems = dict.fromkeys(stem for _, by_stem in found.values() for stem in by_stem)
    whole = [stem for stem in stems if all(stem in by_stem for _, by_stem in found.values())]
    if len(whole) < len(stems) and not (skip and whole):
        raise ValueError(_lacking(found, given, stems, whole))
    return _Pairs(
        tuple(
            _Files(folder, NameTable.of(by_stem[stem] for stem in whole))
            for folder, by_stem in found.values()
        ),
        len(stems) - len(whole),
    )


def _lacking(
    found: Mapping[str, tuple[str, Mapping[str, str]]], given: Mapping[str, Any], stems: Iterable[str],
    whole: Sequence[str],
) -> str:  # fmt: skip
    kept = set(whole)
    stem = next(stem for stem in stems if stem not in kept)
    has = next(keyword for keyword, (_, by_stem) in found.items() if stem in by_stem)
    lacks = next(keyword for keyword, (_, by_stem) in found.items() if stem not in by_stem)
    folder, by_stem = found[has]
    number = sum(stem not in kept for stem in stems)
    about = 'missing="skip" leaves them out' if whole else "no two files have the same stem"
    return (
        f"{_NAME}: {_storage.join(folder, by_stem[stem])} has no partner of the stem {stem!r} in {lacks} "
        f"({given[lacks]!r:.200}); {number} of {len(whole) + number} samples lack a file; {about}"
    )


def _found(root: str, keyword: str, value: Any) -> tuple[str, Iterator[tuple[str, str]]]:
    """Returns the folder of a keyword's files, and (stem, name) of each file."""
    if isinstance(value, (str, os.PathLike)):
        given = _storage.user_path(value, root)
        path = _storage.join(root, given) if root else given
        wild = _STARS if _storage.is_url(path) else _WILD
        if wild.search(given) is None or (wild is _WILD and _storage.exists(path)):
            return path, ((_stem(name), _storage.plain(name)) for name in _storage.walk(path) if _shown(name))
        return _matching(root, given, wild)
    if isinstance(value, Mapping) or not isinstance(value, Iterable) or isinstance(value, bytes):
        raise TypeError(
            f"{_NAME}: {keyword} is {value!r:.100}; it is not an argument of the reader, and so must be a folder, a pattern or a "
            "list of paths"
        )
    names = [_storage.user_path(name, root) for name in value]
    parts = [name.split("/")[:-1] for name in names]
    differ = (depth for depth, level in enumerate(zip(*parts, strict=False)) if len(set(level)) > 1)
    common = next(differ, min(map(len, parts), default=0))
    return root, ((_stem("/".join(name.split("/")[common:])), name) for name in names)


def _matching(root: str, path: str, wild: re.Pattern[str]) -> tuple[str, Iterator[tuple[str, str]]]:
    """Returns the folder above the first wildcard of a path below `root`, and (stem, name) of each matching file."""
    before, slash, _ = wild.split(path)[0].rpartition("/")
    folder, pattern = before or slash, path[len(before + slash) :]
    folder = _storage.join(root, folder) if root and folder else root or folder
    tokens = wild.split(pattern)
    for at in range(1, len(tokens), 2):
        means = (_MEANS.get(part, part.replace("[!", "[^")) for part in _PART.findall(tokens[at]))
        tokens[at] = f"({''.join(means)})"
    tokens[::2] = map(re.escape, tokens[::2])
    try:
        expression = re.compile("".join(tokens))
    except re.error as error:
        raise ValueError(f"{_NAME}: {path!r} is not a pattern: {error}") from error
    within = folder or "."
    names = _storage.walk(within) if "/" in pattern else iter(_storage.entries(within, folders=False))
    matches = ((expression.fullmatch(name), name) for name in names if _shown(name))
    return folder, (
        ("/".join(part for group in match.groups() if (part := group.strip("/"))), _storage.plain(name))
        for match, name in matches
        if match is not None
    )


def _shown(name: str) -> bool:
    return not (name.startswith(".") or "/." in name)


def _stem(name: str) -> str:
    return os.path.splitext(name)[0]


def _by_table(table: Any, given: Mapping[str, Any], file_root: str | None, *, skip: bool) -> _Pairs:
    root = "" if file_root is None else file_root
    where = "row {} of the table"
    if isinstance(table, (str, os.PathLike)):
        path = _storage.user_path(table)
        root = _storage.parent(path) if file_root is None else file_root
        table, where = _csv(path), f"{path}#row {{}}"
    if not given or not all(isinstance(column, str) for column in given.values()):
        raise TypeError(
            f'{_NAME}: with a table each keyword names a column: paired(table=..., images="image")'
        )
    root = _storage.user_path(root)
    below = os.path.join(_storage.placed(root), "")
    columns = [
        [text.removeprefix(below) if isinstance(text, str) else "" for text in _column(table, column)]
        for column in given.values()
    ]
    if len({*map(len, columns)}) > 1:
        raise ValueError(f"{_NAME}: the columns of the table have {[*map(len, columns)]} rows")
    tables = [
        _storage.table_from_data(root, NameTable.of(c), lambda i: f"{_NAME}: {where.format(i)}", free=False)
        for c in columns
    ]
    absent = np.zeros(len(columns[0]), bool)
    for keyword, names in zip(given, tables, strict=True):
        lacks = _absent(root, names)
        if lacks.any() and not skip:
            row = int(lacks.argmax())
            name = _storage.join(root, names[row]) if names[row] else "no name"
            raise ValueError(
                f"{_NAME}: {where.format(row)} has {name} in column {given[keyword]!r}"
                f'{", which is not there" if names[row] else ""}; {int(lacks.sum())} of {len(lacks)} samples lack {keyword}; '
                'missing="skip" leaves them out'
            )  # fmt: skip
        absent |= lacks
    if absent.all():
        raise ValueError(f"{_NAME}: No files found: the table has no row whose files are all there")
    whole = np.flatnonzero(~absent)
    return _Pairs(tuple(_Files(root, NameTable.of(t.take(whole))) for t in tables), int(absent.sum()))


def _csv(path: str) -> dict[str, list[str]]:
    text = csv_text(_NAME, path)
    try:
        lines = csv.reader(io.StringIO(os.fsdecode(text.removeprefix(codecs.BOM_UTF8)), newline=""))
        rows = [row for row in lines if row]
    except csv.Error as error:
        raise ValueError(f"{_NAME}: {path} cannot be read: {error}") from error
    if not rows:
        raise ValueError(f"{_NAME}: {path} is empty")
    names, *rows = rows
    return {name: [row[at] if at < len(row) else "" for row in rows] for at, name in enumerate(names)}


def _column(table: Any, column: str) -> list[Any]:
    try:
        values = table[column]
    except Exception as error:  # each kind of table raises its own exceptions
        raise ValueError(
            f"{_NAME}: the table has no column {column!r}: {type(error).__name__}: {error}"
        ) from error
    to_list = getattr(values, "to_pylist", None)  # a column of pyarrow
    return list(values if to_list is None else to_list())


def _absent(root: str, names: NameTable) -> np.ndarray:
    """Returns bool [n], True for the name of a missing file; remote files count as missing only if the name is empty."""
    listed: dict[str, set[str]] = {}
    absent = np.zeros(len(names), bool)
    for i, name in enumerate(names):
        path = _storage.join(root, name)
        if not name or _storage.is_url(path):
            absent[i] = not name
            continue
        folder, _, base = path.rpartition("/")
        if folder not in listed:
            try:
                listed[folder] = {
                    *_storage.entries(folder or ("/" if path[:1] == "/" else "."), folders=False)
                }
            except OSError as error:
                if is_of_machine(error):
                    raise
                listed[folder] = set()
        absent[i] = base not in listed[folder]
    return absent
