"""Reads Caffe2's LMDB databases of images, labels and further tensors."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from jdali._batches import Store
from jdali._operators.record import Static, also_takes, reader
from jdali._storage import Pieces
from jdali.readers.base import nothing, reader_options, shuffle_options
from jdali.readers.formats import columns as _columns
from jdali.readers.formats.columns import Buffer
from jdali.readers.formats.lmdb import DatabaseReader
from jdali.readers.formats.protobuf import BYTES, VARINT, contents, fields, integers, last_integer, reals
from jdali.readers.formats.records import BadRecord, required_paths

_NAME = "readers.caffe2"
# Field numbers of a TensorProto.
_DIMS, _TYPE, _FLOATS, _INT32S, _BYTES, _STRINGS, _DOUBLES, _INT64S = 1, 2, 3, 4, 5, 6, 9, 10
# TensorProto.DataType; small integers and bools are stored in the field for INT32.
_FLOAT, _INT32, _BYTE, _STRING, _INT64, _DOUBLE = 1, 2, 3, 4, 10, 13
_AS_INT32 = {_INT32: np.int32, 5: np.bool_, 6: np.uint8, 7: np.int8, 8: np.uint16, 9: np.int16}
_BOX_SIZE = 4
# The field that holds the elements, for each type that `parse_many` handles.
_FIELDS = {_FLOAT: _FLOATS, _BYTE: _BYTES, _STRING: _STRINGS, _INT64: _INT64S} | dict.fromkeys(
    _AS_INT32, _INT32S
)
_PARSED_TOGETHER = frozenset(_FIELDS)


class LabelType(enum.IntEnum):
    """The kinds of stored labels."""

    SINGLE = 0  # one number
    MULTI_SPARSE = 1  # indices of classes, read as a vector of 0 and 1
    MULTI_DENSE = 2  # a vector, read as stored
    MULTI_WEIGHTED_SPARSE = 3  # indices of classes and their weights, read as a vector of weights
    NONE = 4


_SPARSE = (LabelType.MULTI_SPARSE, LabelType.MULTI_WEIGHTED_SPARSE)


@dataclasses.dataclass(frozen=True)
class RecordFields:
    """Arguments of `readers.caffe2` that describe the content of a record."""

    image_available: bool
    label_type: LabelType
    num_labels: int
    additional_inputs: int
    bbox: bool

    @property
    def num_outputs(self) -> int:
        label = self.label_type != LabelType.NONE
        box = self.bbox or self.label_type in _SPARSE
        return self.image_available + label + self.additional_inputs + box


class Caffe2Reader(DatabaseReader):
    """Reads the tensors of Caffe2 databases."""

    def __init__(self, paths: Sequence[str], wanted: RecordFields, options: Mapping[str, object]):
        super().__init__(_NAME, paths, options)
        self.num_outputs = wanted.num_outputs
        self._wanted = wanted

    def parse(self, record: bytes) -> tuple[np.ndarray, ...]:
        wanted = self._wanted
        tensors = [_Tensor(record, *bounds) for bounds in contents(fields(record, 0, len(record)), 1)]
        outputs, next_ = [], 0
        if wanted.image_available:
            outputs.append(_at(tensors, 0, "an image").image())
            next_ = 1
        if wanted.label_type != LabelType.NONE:
            outputs.append(self._label(tensors, next_))
            next_ += 1
        # As in DALI, `next_` does not skip the weights of a weighted label, so they are also an additional input.
        for _ in range(wanted.additional_inputs):
            outputs.append(_at(tensors, next_, "a further tensor").values())
            next_ += 1
        if wanted.label_type in _SPARSE:
            outputs.append(_last_box(tensors, next_, required=wanted.bbox))
        elif wanted.bbox:
            outputs.append(_at(tensors, next_, "a box").box())
        return tuple(outputs)

    def parse_many(self, buffer: Buffer, pieces: Pieces, ok: np.ndarray) -> tuple[Store, ...]:
        wanted = self._wanted
        if wanted.label_type in _SPARSE:
            ok[:] = False
            return ()
        # Shape and allowed types of each output; the shape None allows any number of elements.
        forms: list[tuple[tuple[int, ...] | None, Set[int]]] = [(None, {_STRING})] * wanted.image_available
        if wanted.label_type != LabelType.NONE:
            forms.append(((1,) if wanted.label_type == LabelType.SINGLE else None, _PARSED_TOGETHER))
        forms += [(None, _PARSED_TOGETHER)] * wanted.additional_inputs
        forms += [((_BOX_SIZE,), {_INT32})] * wanted.bbox
        tensors = [
            (start, end)
            for number, kind, start, end in _columns.fields(buffer, pieces.starts, pieces.ends, ok)
            if (number, kind) == (1, BYTES)
        ]
        if len(tensors) < len(forms):
            ok[:] = False
        columns: list[Store] = []
        for (start, end), form in zip(tensors, forms, strict=False):
            if ok.any():
                columns.append(_column(buffer, start, end, ok, *form))
        return _columns.pick(columns, ok) if ok.any() else ()

    def _label(self, tensors: Sequence[_Tensor], index: int) -> np.ndarray:
        label = _at(tensors, index, "a label").values()
        kind = self._wanted.label_type
        if kind == LabelType.SINGLE and len(label) != 1:
            raise BadRecord(f"its label has {len(label)} elements, a label of type {kind.value} has one")
        if kind not in _SPARSE:
            return label
        classes = self._wanted.num_labels
        if label.dtype.kind not in "iu" or (len(label) and not 0 <= label.min() <= label.max() < classes):
            raise BadRecord(
                f"its label must be numbers of classes below num_labels = {classes}, but is {label[:8]}"
            )
        if kind == LabelType.MULTI_SPARSE:
            vector = np.zeros(classes, np.int32)
            vector[label] = 1
            return vector
        weights = _at(tensors, index + 1, "the weights of the label").values()
        if len(weights) != len(label):
            raise BadRecord(f"its label has {len(label)} classes, but {len(weights)} weights")
        weighted = np.zeros(classes, np.float32)
        weighted[label] = weights
        return weighted


def _column(
    buffer: Buffer, start: np.ndarray, end: np.ndarray, ok: np.ndarray, shape: tuple[int, ...] | None,
    kinds: Set[int],
) -> Store:  # fmt: skip
    """Builds the column of a tensor.

    Clears `ok` for each tensor whose type differs from the first tensor's. If the type of the first tensor is not in
    `kinds`, clears `ok` for all tensors.
    """
    # The offsets of records that are not ok are arbitrary, so zeros replace them.
    listed = _columns.fields(buffer, np.where(ok, start, 0), np.where(ok, end, 0), ok)
    found = {number: (kind, values, ends) for number, kind, values, ends in listed if number != _DIMS}
    model = int(ok.argmax())
    form, types, _ = found.get(_TYPE, (VARINT, np.full(len(ok), _FLOAT), None))
    kind = types.item(model)
    field = _FIELDS.get(kind, 0)
    # Each field must occur once, with all its elements in one piece.
    listed_once = len(found) == sum(number != _DIMS for number, *_ in listed)
    if kind not in kinds or form != VARINT or not listed_once or found.get(field, (None,))[0] != BYTES:
        ok[:] = False
        return nothing()
    ok &= types == kind
    _, first, last = found[field]
    first, last = np.where(ok, first, 0), np.where(ok, last, 0)
    if kind in (_BYTE, _STRING):
        return _columns.byte_column(buffer, first, last - first)
    if kind == _FLOAT:
        values, counts = _columns.packed_reals(buffer, first, last, ok)
    else:
        values, counts = _columns.packed_integers(buffer, first, last, ok)
        values = values.astype(_AS_INT32.get(kind, np.int64))
    return _columns.shaped_column(values, counts, shape, (), ok)


def _at(tensors: Sequence[_Tensor], index: int, what: str) -> _Tensor:
    if index >= len(tensors):
        raise BadRecord(f"it has {len(tensors)} tensors, {what} should be number {index}")
    return tensors[index]


def _last_box(tensors: Sequence[_Tensor], consumed: int, *, required: bool) -> np.ndarray:
    """Returns the box that follows sparse labels: the last tensor if it is a box, or int32 [0]."""
    last = tensors[-1]
    if required or (len(tensors) > consumed and last.type == _INT32 and len(last.values()) == _BOX_SIZE):
        return last.box()
    return np.empty(0, np.int32)


class _Tensor:
    """A TensorProto in data[start:end]."""

    def __init__(self, data: bytes, start: int, end: int):
        self._data = data
        self._fields = fields(data, start, end)
        self.type = last_integer(self._fields, _TYPE)
        if self.type is None:
            self.type = _FLOAT

    def values(self) -> np.ndarray:
        """Returns the elements, [n]."""
        if self.type == _FLOAT:
            return reals(self._data, self._fields, _FLOATS, np.dtype("<f4"))
        if self.type == _DOUBLE:
            return reals(self._data, self._fields, _DOUBLES, np.dtype("<f8"))
        if self.type == _INT64:
            return integers(self._data, self._fields, _INT64S)
        if self.type in _AS_INT32:
            return integers(self._data, self._fields, _INT32S).astype(_AS_INT32[self.type])
        if self.type in (_BYTE, _STRING):
            return self._content()
        raise BadRecord(f"it has a tensor of the type {self.type}, which is not known")

    def image(self) -> np.ndarray:
        """Returns an encoded image as uint8 [bytes], or pixels as [height, width, channels]."""
        if self.type not in (_BYTE, _STRING):
            raise BadRecord(f"its image is a tensor of the type {self.type}, it must be {_STRING} or {_BYTE}")
        image = self._content()
        if self.type == _STRING:
            return image
        shape = [int(size) for size in integers(self._data, self._fields, _DIMS)]
        if len(shape) == 2:
            shape.append(1)
        if len(shape) != 3 or min(shape) < 0 or shape[0] * shape[1] * shape[2] != len(image):
            raise BadRecord(f"it has {len(image)} bytes of pixels, but the sizes {shape}")
        return image.reshape(shape)

    def box(self) -> np.ndarray:
        if self.type != _INT32 or len(self.values()) != _BOX_SIZE:
            raise BadRecord(
                f"its box must be {_BOX_SIZE} INT32, but has {len(self.values())} of the type {self.type}"
            )
        return self.values()

    def _content(self) -> np.ndarray:
        bounds = contents(self._fields, _STRINGS if self.type == _STRING else _BYTES)
        if len(bounds) != 1:
            raise BadRecord(f"it has a tensor of {len(bounds)} strings of bytes, there must be one")
        start, end = bounds[0]
        return np.frombuffer(self._data, np.uint8, end - start, start)


def _wanted(arguments: Mapping[str, Any]) -> RecordFields:
    label_type = arguments.get("label_type", 0)
    if label_type not in list(LabelType):
        raise ValueError(f"{_NAME}: label_type must be from 0 to {max(LabelType)}, not {label_type}")
    wanted = RecordFields(
        arguments.get("image_available", True), LabelType(label_type), arguments.get("num_labels", 1),
        arguments.get("additional_inputs", 0), arguments.get("bbox", False),
    )  # fmt: skip
    if wanted.num_labels < 1 or wanted.additional_inputs < 0:
        raise ValueError(
            f"{_NAME}: num_labels must be at least 1 and additional_inputs at least 0, "
            f"got {wanted.num_labels} and {wanted.additional_inputs}"
        )
    if not wanted.num_outputs:
        raise ValueError(f"{_NAME}: with these arguments there is nothing to read")
    return wanted


def _num_outputs(arguments: Mapping[str, object]) -> int:
    return _wanted(arguments).num_outputs


@reader(name=_NAME, outputs=_num_outputs, devices=("cpu",), source="operators/reader/parser/caffe2_parser.h")
@also_takes(shuffle_options, reader_options)
def caffe2(
    *,
    path: Static[tuple[str, ...]],
    additional_inputs: Static[int] = 0,
    bbox: Static[bool] = False,
    image_available: Static[bool] = True,
    label_type: Static[int] = 0,
    num_labels: Static[int] = 1,
    **options: object,
) -> Caffe2Reader:
    """Reads Caffe2's LMDB databases: images, encoded or as pixels, labels, further tensors and a box.

    The first use indexes the records and caches the index in the user's cache folder.

    Parity: as in DALI, sparse labels (types 1 and 3) add an output for a box, the last tensor of the record. If that
    tensor is no box and `bbox` is False, the output is int32 [0]; DALI fails.

    Args:
        path: folders of the databases.
        additional_inputs: number of further tensors in each record; each is an output.
        bbox: return the box at the end of the record.
        image_available: the first tensor of a record is an image.
        label_type: 0: a number; 1: indices of classes, read as a vector of 0 and 1; 2: a vector; 3: indices
            of classes and their weights, read as a vector of weights; 4: no label.
        num_labels: number of classes, for label types 1 and 3.

    Returns: the image, uint8 [bytes] if encoded, [height, width, channels] if stored as pixels; the label, [1],
        [num_labels] or as stored; further tensors, [elements]; the box, int32 [4].

    Example: jpegs, labels = fn.readers.caffe2(path="caffe2_lmdb")
    """
    wanted = _wanted(
        {
            "additional_inputs": additional_inputs, "bbox": bbox, "image_available": image_available,
            "label_type": label_type, "num_labels": num_labels,
        }
    )  # fmt: skip
    return Caffe2Reader(required_paths(_NAME, "path", path), wanted, options)
