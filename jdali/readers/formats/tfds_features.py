"""Parses the features.json of TensorFlow Datasets, and converts examples to the arrays that it describes.

Source: core/features, core/example_serializer.py and core/example_parser.py of tensorflow_datasets.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jdali import tfrecord as kinds
from jdali._batches import Store
from jdali._storage import BadRecord
from jdali._system import limits
from jdali.readers.formats import columns as _columns
from jdali.readers.formats.columns import Buffer
from jdali.readers.formats.tf_example import ExampleParser, Taker, column, taker
from jdali.tfrecord import Feature

_DTYPES = {
    name: np.dtype(name)
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
        "float64",
    )
}  # fmt: skip
_STRINGS = ("string", "object", "str", "bytes")
_MOST_ELEMENTS = 1 << 60


class TfdsFeature(NamedTuple):
    """A feature of examples.

    Attributes:
        dtype: type of the elements; None: a string of bytes.
        shape: shape of the feature. At most one size is -1, and is computed from the number of elements.
        encoding: "bytes" or "zlib" for a tensor that is encoded in a string; "none" for a list of numbers.
        is_class: the feature is a class label.
    """

    dtype: np.dtype | None
    shape: tuple[int, ...] = ()
    encoding: str = "none"
    is_class: bool = False

    @property
    def stored(self) -> Feature:
        """The feature as stored, without a shape."""
        if self.dtype is None or self.encoding != "none":
            return Feature(kinds.string, (), (), b"")
        kind = kinds.float32 if self.dtype.kind == "f" else kinds.int64
        return Feature(kind, None, (), 0)


def flattened(node: Any, name: str = "") -> Iterator[tuple[str, Mapping[str, Any], tuple[int, ...]]]:
    """Yields (name, node, lengths of the sequences around the node) for the features below a node of features.json.

    The length of a sequence is -1 if it varies; "/" separates the names of nested features.
    """
    if not isinstance(node, dict):
        raise ValueError(f"feature {name!r} is not an object")
    if (inner := _found(node, "featuresDict", "features")) is not None:
        for key, child in inner.items():
            yield from flattened(child, f"{name}/{key}" if name else key)
    elif isinstance(translation := node.get("translation"), dict):
        for language in translation.get("languages", ()):
            yield f"{name}/{language}", {"text": {}}, ()
    elif (inner := _found(node, "sequence", "feature") or _found(node, "dataset", "feature")) is not None:
        length = int(node.get("sequence", {}).get("length", -1))
        for path, leaf, lengths in flattened(inner, name):
            yield path, leaf, (length, *lengths)
    else:
        yield name, node, ()


def _found(node: Mapping[str, Any], outer: str, inner: str) -> dict[str, Any] | None:
    held = node.get(outer)
    found = held.get(inner) if isinstance(held, dict) else None
    return found if isinstance(found, dict) else None


def feature_of(node: Mapping[str, Any], lengths: tuple[int, ...]) -> TfdsFeature:
    """Parses the feature of a node of features.json; `lengths` are the lengths of the sequences that contain the node.

    Raises:
        ValueError: the feature cannot be an array; callers prefix the message with the feature's name.
    """
    if "image" in node or "text" in node:
        feature = TfdsFeature(None)
    elif "classLabel" in node:
        feature = TfdsFeature(_DTYPES["int64"], is_class=True)
    elif (facts := node.get("audio")) is not None:
        feature = TfdsFeature(None) if facts.get("lazyDecode") else _tensor(facts)
    elif (facts := node.get("tensor", node.get("boundingBox"))) is not None:
        feature = _tensor(facts)
    else:
        known = sorted(set(node) - {"pythonClassName", "description"})
        raise ValueError(f"is of a kind that is not read: {', '.join(known) or 'none is named'}")
    if not lengths:
        return feature
    if feature.dtype is None or feature.encoding != "none":
        raise ValueError("is a sequence of strings, pictures or encoded tensors, which make no array")
    shape = (*lengths, *feature.shape)
    if len(lengths) > 1 or -1 in shape[1:]:
        raise ValueError("is a sequence of sequences of different lengths, which make no array")
    return feature._replace(shape=shape)


def _tensor(facts: Mapping[str, Any]) -> TfdsFeature:
    name, encoding = facts.get("dtype"), str(facts.get("encoding", "none")).lower()
    shape = tuple(int(size) for size in facts.get("shape", {}).get("dimensions", ()))
    if name in _STRINGS and not shape:
        return TfdsFeature(None)
    if name not in _DTYPES:
        raise ValueError(f"is of type {name} and shape {shape}, which makes no array")
    if encoding not in ("none", "bytes", "zlib"):
        raise ValueError(f"is encoded in an unknown way, {encoding}")
    if shape.count(-1) > 1:
        raise ValueError(f"is of shape {shape}: at most one size may be unknown")
    if any(size < 1 and size != -1 for size in shape) or math.prod(map(abs, shape)) > _MOST_ELEMENTS:
        raise ValueError(f"is of shape {shape}")
    return TfdsFeature(_DTYPES[name], shape, encoding)


class TfdsParser(ExampleParser):
    """Parses examples of TensorFlow Datasets; `features` are the features to read, by name."""

    def __init__(self, features: Mapping[str, TfdsFeature]):
        self._kinds = list(features.values())
        super().__init__(
            {name: feature.stored for name, feature in features.items()},
            [_taker(name, feature) for name, feature in features.items()],
        )

    def _column(
        self, output: int, buffer: Buffer, first: np.ndarray, last: np.ndarray, ok: np.ndarray
    ) -> Store:
        kind = self._kinds[output]
        if kind.dtype is None:
            return column(buffer, kind.stored, first, last, ok)
        if kind.encoding != "none" or -1 in kind.shape[1:]:
            ok[:] = False
            return _columns.dense_column(np.zeros((len(first), *(1 for _ in kind.shape)), kind.dtype))
        packed = _columns.packed_reals if kind.dtype.kind == "f" else _columns.packed_integers
        values, counts = packed(buffer, first, last, ok)
        shape = None if -1 in kind.shape else kind.shape
        return _columns.shaped_column(values.astype(kind.dtype), counts, shape, kind.shape[1:], ok)


def _taker(name: str, kind: TfdsFeature) -> Taker:
    stored = taker(name, kind.stored)

    def take(data: bytes, first: int, last: int) -> np.ndarray:
        if not last:
            raise BadRecord(f"it has no feature {name!r}")
        found = stored(data, first, last)
        if kind.dtype is None:
            return found
        try:
            if kind.encoding != "none":
                content = found.tobytes()
                found = np.frombuffer(
                    _inflated(content, kind) if kind.encoding == "zlib" else content, kind.dtype
                )
            return found.astype(kind.dtype, copy=False).reshape(kind.shape)
        except (ValueError, zlib.error) as error:
            raise BadRecord(f"its feature {name!r} makes no array of shape {kind.shape}: {error}") from error

    return take


def _inflated(content: bytes, kind: TfdsFeature) -> bytes:
    """Decompresses a tensor; raises ValueError if there are more bytes than its shape needs."""
    assert kind.dtype is not None
    size = limits.most("max_sample_bytes")
    if -1 not in kind.shape:
        size = min(size, math.prod(kind.shape) * kind.dtype.itemsize)
    inflating = zlib.decompressobj()
    found = inflating.decompress(content, size + 1)
    if len(found) > size:
        raise ValueError(f"it holds more than {size} bytes")
    if not inflating.eof:
        raise ValueError("its data end early")
    return found


def class_names(text: bytes) -> list[str]:
    return [name for line in text.decode().split("\n") if (name := line.strip())]


def features_of(tree: Any, wanted: Sequence[str]) -> dict[str, TfdsFeature]:
    """Finds features by name in a features.json; callers prefix ValueErrors with the file's name."""
    try:
        found = {path: (leaf, lengths) for path, leaf, lengths in flattened(tree)}
        chosen = {}
        for one in wanted:
            if one not in found:
                raise ValueError(f"has no feature {one!r}; it has {', '.join(map(repr, found))}")
            try:
                chosen[one] = feature_of(*found[one])
            except ValueError as error:
                raise ValueError(f"has feature {one!r}, which {error}") from error
        return chosen
    except (TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise ValueError(f"is damaged: {error}") from error
