"""Reads data sets of TensorFlow Datasets without TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jdali._operators.record import Static, also_takes, reader
from jdali._storage import RecordFiles
from jdali._storage import files as _storage
from jdali._system.regular_file import is_of_machine
from jdali.readers import array_record, parquet, tfrecord
from jdali.readers.base import Loaded, Reader, reader_options, shuffle_options
from jdali.readers.formats.records import json_object, path_list
from jdali.readers.formats.tf_example import ExampleParser, examples_of
from jdali.readers.formats.tfds_features import TfdsFeature, TfdsParser, class_names, features_of

_NAME = "readers.tfds"
_INFO, _FEATURES = "dataset_info.json", "features.json"
_TEMPLATE = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
# The column of Parquet files that holds examples.
_COLUMN = "data"


class ExampleRowsReader(parquet.ParquetReader):
    """Reads examples from a column of Parquet files."""

    def __init__(
        self, parser: ExampleParser, files: RecordFiles, footers: Sequence[Any], options: Mapping[str, Any]
    ):
        super().__init__(files, footers, [_COLUMN], None, options)
        self._parser, self.num_outputs = parser, parser.num_outputs

    def load_many(self, indices: np.ndarray) -> Loaded:
        return examples_of(self._parser, super().load_many(indices), indices, self._error)


def _parquet(files: RecordFiles, parser: ExampleParser, options: Mapping[str, Any]) -> Reader:
    return ExampleRowsReader(parser, files, parquet.footers_of(files, [_COLUMN], options), options)


_OPENERS: dict[str, Callable[[RecordFiles, ExampleParser, Mapping[str, Any]], Reader]] = {
    "tfrecord": lambda files, parser, options: tfrecord.opened(files, (), parser, options),
    "array_record": array_record.opened,
    "parquet": _parquet,
}


def _num_outputs(arguments: Mapping[str, Any]) -> int:
    return len(_names(arguments["features"]))


def _names(features: Any) -> list[str]:
    names = path_list(_NAME, "features", features)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"{_NAME}: features must name at least one feature, and each once; it is {names}")
    return names


@reader(name=_NAME, outputs=_num_outputs, devices=("cpu",))
@also_takes(shuffle_options, reader_options)
def tfds(
    *, directory: Static[str], features: Static[tuple[str, ...]], split: Static[str] = "train", **options: Any
) -> Reader:
    """Reads a data set of TensorFlow Datasets from its folder: an output for each of `features`.

    TensorFlow is not needed. Files may be TFRecord, ArrayRecord or Parquet; `readers.tfrecord`,
    `readers.array_record` and `readers.parquet` describe how they are read. Pictures are not decoded: use
    `fn.decoders.image`. `Pipeline.reader_meta(name)["classes"]` has the class names of a feature of labels; with
    several such features, it is a dict of lists, by feature.

    A sequence of numbers is an array whose first axis is the sequence. Sequences of strings or pictures, and nested
    sequences of varying length, are not arrays, so they cannot be read. An example that lacks a feature, or has it in
    another shape, is a sample that cannot be read.

    Parity: DALI has no such reader.

    Args:
        directory: folder of one version of the data set, such as "mnist/3.0.1"; it holds dataset_info.json.
        features: names of the features; "/" separates the names of nested ones ("objects/bbox").
        split: name of the split; `subset` and `fold` select parts of it.

    Returns: for each feature: uint8 [bytes] for pictures, texts and sound files, int64 [] for class labels, float32 [4] for
        boxes, and arrays of their type and shape for tensors, scalars and sequences (float64 is stored rounded to float32).

    Example: jpegs, labels = fn.readers.tfds(directory="set/1.0.0", features=["image", "label"], split="train")
    """
    names = _names(features)
    folder = _storage.user_path(directory)
    info = json_object(_NAME, folder, _INFO)
    tree = json_object(_NAME, folder, _FEATURES)
    try:
        kinds = features_of(tree, names)
    except ValueError as error:
        raise ValueError(f"{_NAME}: {_storage.join(folder, _FEATURES)} {error}") from error
    try:
        form, paths, count = _files(folder, info, split)
    except (TypeError, AttributeError) as error:
        raise ValueError(f"{_NAME}: {_storage.join(folder, _INFO)} is damaged: {error}") from error
    files = RecordFiles(_NAME, paths)
    found = _OPENERS[form](files, TfdsParser(kinds), options)
    if found.count != count and not files.lost:
        found.close()
        raise ValueError(
            f"{_NAME}: the files of split {split!r} in {folder} hold {found.count} examples, {count} by its {_INFO}"
        )
    found.name_classes(_class_names(folder, kinds), names)
    return found


def _files(folder: str, info: Mapping[str, Any], split: str) -> tuple[str, list[str], int]:
    """Returns the format of a split's files, their paths, and the total number of examples."""
    splits = {part.get("name"): part for part in info.get("splits", ())}
    if split not in splits:
        known = ", ".join(map(repr, splits))
        raise ValueError(f"{_NAME}: {folder} has no split {split!r}; it has {known or 'none'}")
    form = str(info.get("fileFormat", "tfrecord"))
    if form not in _OPENERS:
        raise ValueError(f"{_NAME}: {folder} has files of form {form!r}; {', '.join(_OPENERS)} are read")
    try:
        lengths = [int(length) for length in splits[split].get("shardLengths", ())]
    except ValueError as error:
        raise TypeError(f"shardLengths are not numbers ({error})") from error
    template = splits[split].get("filepathTemplate") or _TEMPLATE
    paths = []
    for shard, length in enumerate(lengths):
        if not length:
            continue
        name = template
        for field, value in (
            ("{DATASET}", info.get("name")), ("{SPLIT}", split), ("{FILEFORMAT}", form),
            ("{SHARD_X_OF_Y}", f"{shard:05}-of-{len(lengths):05}"), ("{SHARD_INDEX}", f"{shard:05}"),
            ("{NUM_SHARDS}", f"{len(lengths):05}"),
        ):  # fmt: skip
            name = name.replace(field, str(value))
        paths.append(_storage.join(folder, _storage.from_data(folder, name)))
    if not paths:
        raise ValueError(f"{_NAME}: split {split!r} of {folder} has no examples")
    return form, paths, sum(lengths)


def _class_names(folder: str, kinds: Mapping[str, TfdsFeature]) -> dict[str, list[str]]:
    """Reads class names from the folder's .labels.txt files, by feature."""
    found = {}
    listed = set(_storage.entries(folder, folders=False))
    for name, kind in kinds.items():
        file = f"{name.replace('/', '-')}.labels.txt"
        if kind.is_class and file in listed:
            path = _storage.join(folder, _storage.plain(file))
            try:
                found[name] = class_names(_storage.read(path))
            except (OSError, UnicodeDecodeError) as error:
                if is_of_machine(error):
                    raise
                raise ValueError(f"{_NAME}: cannot read {path}: {error}") from error
    return found
