"""Parses features of tf.train.Example, in one record or many at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from jdali import tfrecord as features_of
from jdali._batches import Store
from jdali._storage import SLACK, Pieces
from jdali.readers.base import Loaded, nothing
from jdali.readers.formats import columns as _columns
from jdali.readers.formats.columns import Buffer
from jdali.readers.formats.protobuf import BYTES, contents, fields, integers, map_entries, reals
from jdali.readers.formats.records import BadRecord, parsed_together
from jdali.tfrecord import Feature

_FLOAT32 = np.dtype("<f4")
Taker: TypeAlias = Callable[[bytes, int, int], np.ndarray]
# Kind of list in each field of a tf.train.Feature, by field number.
_LISTS = {1: "bytes", 2: "float32", 3: "int64"}
# Tag of a field with number 1 that contains bytes or a message.
_FIRST = 1 << 3 | BYTES
# Field number of the list that holds a feature, by the feature's type.
_LIST_OF = {features_of.string: 1, features_of.float32: 2, features_of.int64: 3}


class ExampleParser:
    """Parses the bytes of a tf.train.Example into outputs.

    Args:
        features: {name: feature} to take from each example.
        takers: for each feature, a function (data, start, end) that converts data[start:end] to the output; for a
            missing feature, start and end are 0. None: convert as DALI does.
    """

    def __init__(self, features: Mapping[str, Feature], takers: Sequence[Taker] | None = None):
        self.num_outputs = len(features)
        self._outputs = {name.encode(): output for output, name in enumerate(features)}
        self._features = list(features.values())
        self._takers = takers or [taker(name, feature) for name, feature in features.items()]

    def parse(self, data: bytes) -> tuple[np.ndarray, ...]:
        bounds: list[tuple[int, int]] = [(0, 0)] * self.num_outputs
        for start, end in contents(fields(data, 0, len(data)), 1):
            for output, first, last in map_entries(data, start, end, self._outputs):
                bounds[output] = (first, last)
        return tuple(
            [take(data, first, last) for take, (first, last) in zip(self._takers, bounds, strict=True)]
        )

    def parse_many(self, buffer: Buffer, pieces: Pieces, ok: np.ndarray) -> tuple[Store, ...]:
        chosen = pieces.select(np.flatnonzero(ok))
        fine = np.ones(len(chosen.starts), bool)
        columns = self.columns(buffer, chosen.starts, chosen.ends, fine)
        ok[ok] = fine
        return columns

    def columns(
        self, buffer: Buffer, start: np.ndarray, end: np.ndarray, fine: np.ndarray
    ) -> tuple[Store, ...]:
        """Builds a column for each output, with the examples that remain fine.

        Args:
            buffer, start, end: the examples are the bytes from `start` to `end`.
            fine: bool [n], True for the examples to parse; it is cleared for examples that could not be parsed.
        """
        start, usual = _columns.only_content(buffer, start, end, _FIRST)
        fine &= usual
        first, last = _columns.map_entries(buffer, start, end, fine, self._outputs)
        fine &= (last > 0).all(axis=0)
        for output, feature in enumerate(self._features):  # descends to the packed content of each list
            for tag in (_LIST_OF[feature.dtype] << 3 | BYTES, _FIRST):
                first[output], usual = _columns.only_content(buffer, first[output], last[output], tag)
                fine &= usual
        rows = np.flatnonzero(fine)
        regular = np.ones(len(rows), bool)
        columns = [
            self._column(output, buffer, first[output, rows], last[output, rows], regular)
            for output in range(self.num_outputs)
        ]
        fine[rows] = regular
        return _columns.pick(columns, regular)

    def _column(
        self, output: int, buffer: Buffer, first: np.ndarray, last: np.ndarray, ok: np.ndarray
    ) -> Store:
        return column(buffer, self._features[output], first, last, ok)


def examples_of(
    parser: ExampleParser, loaded: Loaded, indices: np.ndarray, error_of: Callable[[int, object], Exception]
) -> Loaded:
    """Parses serialized examples into the outputs of a reader.

    Args:
        loaded: a single column with the bytes of the samples.
        indices: int64 [n], indices of the samples in the data set.
        error_of: error_of(index, reason) builds the error of a sample.
    """
    positions = np.delete(np.arange(len(indices)), list(loaded.failures))
    if not len(positions):
        return Loaded((nothing(),) * parser.num_outputs, loaded.failures)
    samples = loaded.columns[0].host_samples()
    sizes = np.array([len(sample) for sample in samples])
    raw = np.concatenate([*samples, np.zeros(SLACK, np.uint8)])
    pieces = Pieces(raw, np.cumsum(sizes) - sizes, sizes, np.ones(len(samples), bool))

    def alone(number: int) -> tuple[np.ndarray, ...]:
        try:
            return parser.parse(pieces.piece(number))
        except BadRecord as error:
            raise error_of(indices.item(positions.item(number)), error) from error

    columns, failures = parsed_together(parser.parse_many, parser.num_outputs, pieces, len(samples), alone)
    others = {positions.item(number): error for number, error in failures.items()}
    return Loaded(columns, loaded.failures | others)


def column(buffer: Buffer, feature: Feature, first: np.ndarray, last: np.ndarray, ok: np.ndarray) -> Store:
    """Builds the column of a feature from packed lists; that of record i is buffer[first[i]:last[i]]."""
    if feature.dtype == features_of.string:
        return _columns.byte_column(buffer, first, last - first)
    packed = _columns.packed_integers if feature.dtype == features_of.int64 else _columns.packed_reals
    values, counts = packed(buffer, first, last, ok)
    return _columns.shaped_column(values, counts, feature.shape, feature.partial_shape, ok)


def parse(data: bytes) -> dict[str, Any]:
    """Parses a tf.train.Example into {feature name: value}; raises `BadRecord` if the data are damaged.

    The value of a feature with one element is bytes, an int or a float. The value of any other feature is a list.
    """
    found: dict[str, Any] = {}
    for first, last in contents(fields(data, 0, len(data)), 1):
        for start, end in contents(fields(data, first, last), 1):
            entry = fields(data, start, end)
            names, features = contents(entry, 1), contents(entry, 2)
            if not names or not features:
                raise BadRecord("a feature of it has no name, or nothing in it")
            values: list[Any] = []
            for number, _, at, stop in fields(data, *features[-1]):
                held = fields(data, at, stop)
                if number == 1:
                    values = [data[a:b] for a, b in contents(held, 1)]
                else:
                    values = (
                        reals(data, held, 1, _FLOAT32) if number == 2 else integers(data, held, 1)
                    ).tolist()
            found[data[slice(*names[-1])].decode(errors="surrogateescape")] = (
                values[0] if len(values) == 1 else values
            )
    return found


def taker(name: str, feature: Feature) -> Taker:
    """Returns a function that converts the bytes of a tf.train.Feature to an output; a missing feature has no bytes."""
    wanted = _LIST_OF[feature.dtype]

    def values(data: bytes, start: int, end: int) -> list[Any]:
        found = []
        for number, kind, at, stop in fields(data, start, end):
            if kind == BYTES and number in _LISTS:
                if number != wanted and at < stop:
                    raise BadRecord(
                        f"its feature {name!r} holds {_LISTS[number]}, not {feature.type_name} as declared"
                    )
                found += fields(data, at, stop)
        return found

    if feature.dtype == features_of.string:
        default = feature.default_value
        assert isinstance(default, (str, bytes))
        missing = np.frombuffer(default.encode() if isinstance(default, str) else default, np.uint8)

        def string(data: bytes, start: int, end: int) -> np.ndarray:
            strings = contents(values(data, start, end), 1)
            if not strings:
                return missing
            first, last = strings[0]
            return np.frombuffer(data, np.uint8, last - first, first)

        return string

    def integer(data: bytes, start: int, end: int) -> np.ndarray:
        return _shaped(name, feature, integers(data, values(data, start, end), 1))

    def real(data: bytes, start: int, end: int) -> np.ndarray:
        return _shaped(name, feature, reals(data, values(data, start, end), 1, _FLOAT32))

    return integer if feature.dtype == features_of.int64 else real


def _shaped(name: str, feature: Feature, values: np.ndarray) -> np.ndarray:
    if values.shape == feature.shape:
        return values
    if feature.shape is not None:
        size = math.prod(feature.shape)
        if len(values) > size:
            raise BadRecord(
                f"its feature {name!r} has {len(values)} elements, too many for the shape {feature.shape}"
            )
        if len(values) < size:
            filled = np.full(size, feature.default_value, values.dtype)
            filled[: len(values)] = values
            values = filled
        return values.reshape(feature.shape)
    if not feature.partial_shape:
        return values
    if len(values) % math.prod(feature.partial_shape):
        raise BadRecord(
            f"its feature {name!r} has {len(values)} elements, which do not fill whole rows of the "
            f"shape {feature.partial_shape}"
        )
    return values.reshape(-1, *feature.partial_shape)
