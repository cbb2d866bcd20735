"""Reads Hugging Face data sets: folders written by `save_to_disk`, and clones of the Hub's repositories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from jdali._operators.record import Static, also_takes, reader
from jdali._storage import files as _storage
from jdali.readers.arrow import arrow
from jdali.readers.base import Reader, reader_options, shuffle_options
from jdali.readers.formats.arrow_columns import need_pyarrow
from jdali.readers.formats.records import json_object
from jdali.readers.formats.tables import column_names, count_of
from jdali.readers.parquet import parquet

_NAME = "readers.hugging_face"
_STATE, _SPLITS = "state.json", "dataset_dict.json"
# "data/train-00000-of-00003.parquet": the name of the split precedes the number.
_NUMBERED = re.compile(r"(.+?)-\d+-of-\d+")
# Words in the names of files and folders, and the split that `datasets` infers from each word.
_WORDS = {
    "train": "train", "training": "train", "validation": "validation", "valid": "validation", "dev": "validation",
    "val": "validation", "test": "test", "testing": "test", "eval": "test", "evaluation": "test",
}  # fmt: skip
_PARTS = re.compile(r"[/_. -]|(?<=\D)(?=\d)|(?<=\d)(?=\D)")


@reader(name=_NAME, outputs=count_of(_NAME), devices=("cpu",))
@also_takes(shuffle_options, reader_options)
def hugging_face(
    *,
    columns: Static[tuple[str, ...]],
    path: Static[str],
    filter: Static[Any] = None,
    split: Static[str] = "train",
    **options: Any,
) -> Reader:
    """Reads a Hugging Face data set from its folder: an output for each of `columns`.

    The folder is the output of `save_to_disk`, or a repository of Parquet files: its clone, or a URL that fsspec can
    open, such as `hf://datasets/...`. The names of the files or of their folders determine the splits, as in
    `datasets`. The package `datasets` is not needed. `Pipeline.reader_meta(name)["classes"]` has the class names of a
    column of labels; with several such columns, it is a dict of lists, by column.

    Parity: DALI has no such reader.

    Args:
        columns: names of the columns; "." separates the names of nested fields. Pictures and sounds are read as bytes.
        path: path of the folder.
        filter: selects rows, see `readers.parquet`.
        split: name of the split; ignored for a folder that `save_to_disk` wrote from a single split.

    Returns: for each column: uint8 [bytes] for pictures, sounds, bytes and strings, [] for numbers and class labels,
        [n, ...] for lists.

    Example: jpegs, labels = fn.readers.hugging_face(path="kept", columns=["image", "label"])
    """
    need_pyarrow(_NAME)
    names = column_names(_NAME, columns)
    folder = _storage.user_path(path)
    if not split:
        raise ValueError(f"{_NAME}: split is empty")
    listed = _files(folder)
    if _SPLITS in listed:
        splits = json_object(_NAME, folder, _SPLITS).get("splits")
        _check_split(folder, split, splits if isinstance(splits, list) else [])
        folder = _storage.join(folder, _storage.from_data(folder, split))
        listed = _files(folder)
    if _STATE in listed:
        kept = json_object(_NAME, folder, _STATE).get("_data_files")
        entries = kept if isinstance(kept, list) else []
        files = [file for e in entries if isinstance(e, dict) and isinstance(file := e.get("filename"), str)]
        if not files or len(files) < len(entries):
            raise ValueError(f"{_NAME}: {_STATE} of {folder} names no files")
        paths = [_storage.join(folder, _storage.from_data(folder, file)) for file in files]
        return arrow.run(columns=tuple(names), paths=tuple(paths), filter=filter, **options)
    by_split: dict[str, list[str]] = {}
    for file in _storage.walk(folder):
        if file.endswith(".parquet") and not any(part.startswith(".") for part in file.split("/")):
            by_split.setdefault(_split_of(file), []).append(_storage.join(folder, _storage.plain(file)))
    if not by_split:
        raise ValueError(f"{_NAME}: {folder} has no {_STATE}, no {_SPLITS} and no Parquet files")
    _check_split(folder, split, sorted(by_split))
    return parquet.run(columns=tuple(names), paths=tuple(sorted(by_split[split])), filter=filter, **options)


def _check_split(folder: str, split: str, known: Sequence[object]) -> None:
    if split not in known:
        raise ValueError(f"{_NAME}: {folder} has no split {split!r}; it has {', '.join(map(repr, known))}")


def _files(folder: str) -> list[str]:
    with _storage.found(f"{_NAME}: Failed to open {folder}"):
        return _storage.entries(folder, folders=False)


def _split_of(file: str) -> str:
    """Infers the split of a Parquet file from its name, or else from its folders; defaults to "train"."""
    *folders, name = file.removesuffix(".parquet").split("/")
    if numbered := _NUMBERED.match(name):
        return _WORDS.get(numbered[1], numbered[1])
    for text in (name, *reversed(folders)):
        for word in _PARTS.split(text.lower()):
            if word in _WORDS:
                return _WORDS[word]
    return "train"
