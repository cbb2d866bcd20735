"""Reads Caffe's LMDB databases of images with a label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches import BatchSpec, RaggedBlock, Store
from jdali._operators.record import Static, also_takes, reader
from jdali._storage import Pieces
from jdali.readers.base import reader_options, shuffle_options
from jdali.readers.formats import columns as _columns
from jdali.readers.formats.columns import Buffer
from jdali.readers.formats.lmdb import DatabaseReader
from jdali.readers.formats.protobuf import BYTES, VARINT, contents, fields, last_integer
from jdali.readers.formats.records import BadRecord, required_paths

_NAME = "readers.caffe"
# Field numbers of a Datum.
_CHANNELS, _HEIGHT, _WIDTH, _DATA, _LABEL, _ENCODED = 1, 2, 3, 4, 5, 7


class CaffeReader(DatabaseReader):
    """Reads the images and labels of Caffe databases."""

    def __init__(self, paths: Sequence[str], image: bool, label: bool, options: Mapping[str, object]):
        super().__init__(_NAME, paths, options)
        self.num_outputs = image + label
        self._image, self._label = image, label

    def parse(self, record: bytes) -> tuple[np.ndarray, ...]:
        found = fields(record, 0, len(record))
        outputs = (_image(record, found),) if self._image else ()
        if not self._label:
            return outputs
        label = last_integer(found, _LABEL)
        return *outputs, np.array([] if label is None else [label & 0xFFFFFFFF], np.uint32).view(np.int32)

    def parse_many(self, buffer: Buffer, pieces: Pieces, ok: np.ndarray) -> tuple[Store, ...]:
        listed = _columns.fields(buffer, pieces.starts, pieces.ends, ok)
        found = {number: (kind, values, ends) for number, kind, values, ends in listed}
        for number in (_CHANNELS, _HEIGHT, _WIDTH, _DATA, _LABEL, _ENCODED):
            if number in found and found[number][0] != (BYTES if number == _DATA else VARINT):
                ok[:] = False
        if self._image and _DATA not in found:
            ok[:] = False
        if not ok.any():
            return ()
        columns = []
        if self._image:
            columns.append(_images(buffer, found, ok))
        if self._label:
            label = found[_LABEL][1][:, None] if _LABEL in found else np.empty((len(ok), 0), np.int64)
            columns.append(_columns.dense_column((label & 0xFFFFFFFF).astype(np.uint32).view(np.int32)))
        return _columns.pick(columns, ok)


def _images(buffer: Buffer, found: Mapping[int, Any], ok: np.ndarray) -> Store:
    """Builds the column of images. Clears `ok` for images stored in another form (encoded, pixels) than the first."""
    nothing = np.zeros(len(ok), np.int64)

    def numbers(field: int) -> np.ndarray:
        values: np.ndarray = found[field][1] if field in found else nothing
        return values

    _, starts, ends = found[_DATA]
    encoded = numbers(_ENCODED) != 0
    as_first = encoded[int(ok.argmax())]
    ok &= encoded == as_first
    if as_first:
        return _columns.byte_column(buffer, starts, ends - starts)
    extents = np.stack([numbers(field) for field in (_HEIGHT, _WIDTH, _CHANNELS)], axis=1)
    # Bounds each factor, so that the product cannot overflow.
    ok &= (extents <= ends[:, None] - starts[:, None]).all(axis=1)
    ok &= extents.prod(axis=1) == ends - starts
    return Store.of_block(RaggedBlock(buffer.bytes, starts, extents), BatchSpec(extents, buffer.bytes.dtype))


def _image(record: bytes, found: list[Any]) -> np.ndarray:
    bounds = contents(found, _DATA)
    if not bounds:
        raise BadRecord("it is not a Datum with an image: it has no data")
    start, end = bounds[-1]
    image = np.frombuffer(record, np.uint8, end - start, start)
    if last_integer(found, _ENCODED):
        return image
    shape = tuple(last_integer(found, number) or 0 for number in (_HEIGHT, _WIDTH, _CHANNELS))
    if min(shape) < 0 or shape[0] * shape[1] * shape[2] != len(image):
        raise BadRecord(
            "The content size of the raw image in LMDB caffe entry doesn't match its dimensions: it has "
            f"{len(image)} bytes of pixels, but height {shape[0]}, width {shape[1]}, {shape[2]} "
            "channels"
        )
    return image.reshape(shape)


def _num_outputs(arguments: Mapping[str, Any]) -> int:
    return int(arguments.get("image_available", True)) + int(arguments.get("label_available", True))


@reader(name=_NAME, outputs=_num_outputs, devices=("cpu",), source="operators/reader/parser/caffe_parser.h")
@also_takes(shuffle_options, reader_options)
def caffe(
    *,
    path: Static[tuple[str, ...]],
    image_available: Static[bool] = True,
    label_available: Static[bool] = True,
    **options: object,
) -> CaffeReader:
    """Reads Caffe's LMDB databases: images, encoded or as pixels, and a label.

    The first use indexes the records and caches the index in the user's cache folder.

    Args:
        path: folders of the databases.
        image_available: return the images.
        label_available: return the labels.

    Returns: the image, uint8 [bytes] if encoded, [height, width, channels] if stored as pixels (assumed to be in this
        order, as in DALI); and the label, int32 [1], or [0] for a record without a label.

    Example: jpegs, labels = fn.readers.caffe(path="caffe_lmdb")
    """
    if not (image_available or label_available):
        raise ValueError(f"{_NAME}: neither image_available nor label_available: there is nothing to read")
    return CaffeReader(required_paths(_NAME, "path", path), image_available, label_available, options)
