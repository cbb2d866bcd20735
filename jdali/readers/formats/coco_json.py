"""Parses the annotations of a COCO file into arrays."""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from jdali._storage import NameTable
from jdali._storage import files as _storage
from jdali.readers.formats.coco_segments import AllSegments, UnparsedSegments

_T = TypeVar("_T")
# Accepts integers that are written as floats, such as 7.0.
_Int32 = Annotated[int, msgspec.Meta(ge=-(1 << 31), lt=1 << 31)] | float
_Int64 = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)] | float
# Matches NaN and Infinity, which Python's `json` writes although JSON lacks them. Also matches strings, to skip them.
_NOT_FINITE = re.compile(rb'"(?:[^"\\]++|\\.)*+"|-?\bInfinity\b|\bNaN\b', re.DOTALL)


class Annotations(NamedTuple):
    """Annotations of n images; object i belongs to image k if object_starts[k] <= i < object_starts[k + 1].

    Attributes:
        names: names of the image files.
        image_ids: int32 [n]; zeros if not requested.
        sizes: int32 [n, 2], height and width.
        object_starts: int64 [n + 1].
        boxes: float32 [objects, 4].
        labels: int32 [objects].
        segments: function that returns the polygons and masks of an image's objects.
        classes: {label: name} for the categories that have a name.
    """

    names: NameTable
    image_ids: np.ndarray
    sizes: np.ndarray
    object_starts: np.ndarray
    boxes: np.ndarray
    labels: np.ndarray
    segments: AllSegments
    classes: Mapping[int, str]


class CocoFields(NamedTuple):
    """Determines which fields to read, and in which form. Attributes not listed here are arguments of `readers.coco`.

    Attributes:
        polygons: read polygons.
        masks: read polygons and run-length masks.
        ids: return the ids of the images.
        images: file names of the images to read, in order; None: all images, ordered by id.
    """

    polygons: bool
    masks: bool
    ids: bool
    images: Sequence[str] | None
    skip_empty: bool
    include_iscrowd: bool
    size_threshold: float
    ltrb: bool
    ratio: bool
    avoid_class_remapping: bool


class _Image(msgspec.Struct, gc=False):
    id: _Int64
    file_name: str
    width: _Int32 = 0
    height: _Int32 = 0


class _Category(msgspec.Struct, gc=False):
    id: _Int64
    name: Any = None


class _Object(msgspec.Struct, gc=False):
    image_id: _Int64
    category_id: _Int64
    bbox: tuple[float, float, float, float]
    iscrowd: int | bool | float | None = 0


class _ObjectWithMask(_Object, gc=False):
    segmentation: msgspec.Raw = msgspec.Raw(b"null")


class _File(msgspec.Struct):
    images: list[_Image]
    annotations: list[_Object] = []
    categories: list[_Category] = []


class _FileWithMasks(msgspec.Struct):
    images: list[_Image]
    annotations: list[_ObjectWithMask] = []
    categories: list[_Category] = []


_INVALID = {  # DALI's words for a field of a wrong type
    "bbox": "Invalid COCO annotation: `bbox` must contain exactly 4 values, all of them numbers: ",
    "file_name": "Invalid COCO annotation: `file_name` must be a string: ",
}


class Bad(ValueError):
    """Raised if the file is damaged; the caller adds the file's path to the message."""


def parse(path: str, wanted: CocoFields) -> Annotations:
    """Parses the annotations of a file.

    Raises:
        FileNotFoundError: the file cannot be read.
        ValueError: the file is damaged, or an annotation is invalid.
    """
    with _storage.found(f'Could not open JSON annotations file: "{path}"'):
        text = _storage.read(path)
        # Each image and object has at least one brace, so counting braces bounds their number.
        _storage.check_items(path, text.count(b"{"), "entries")
    try:
        # The parser skips fields that `kind` does not declare. It is several times as fast if it skips masks.
        kind: type[_File | _FileWithMasks] = _FileWithMasks if wanted.polygons or wanted.masks else _File
        return _arrange(path, decoded(text, kind), wanted)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, Bad) as error:
        words = next((words for field, words in _INVALID.items() if f".{field}" in str(error)), "")
        raise ValueError(f"{path}: {words}{error}") from error


def _null_for_number(found: re.Match[bytes]) -> bytes:
    text: bytes = found[0]
    return text if text.startswith(b'"') else b"null"


def decoded(text: bytes, kind: type[_T]) -> _T:
    """Decodes JSON; NaN and Infinity count as null. Raises `msgspec.DecodeError`."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError:
        if (finite := _NOT_FINITE.sub(_null_for_number, text)) == text:
            raise
        return msgspec.json.decode(finite, type=kind)


def _arrange(path: str, file: _File | _FileWithMasks, wanted: CocoFields) -> Annotations:
    images, chosen = file.images, _chosen(file.images, wanted.images)
    objects = file.annotations
    boxes = _boxes(objects)
    owner = _owners(objects, images)
    labels = _labels(objects, file.categories, wanted)
    kept = np.all(boxes[:, 2:] >= np.float32(wanted.size_threshold), axis=1)
    if not wanted.include_iscrowd:
        kept &= np.array([not o.iscrowd for o in objects], bool)
    chosen, starts, numbers, image = _grouped(owner, kept, chosen, wanted.skip_empty)
    sizes = np.stack([_all("images", images, side) for side in ("height", "width")], axis=1)[chosen]
    sizes = sizes.astype(np.int32)
    if wanted.ratio or wanted.masks:
        _check_sizes(sizes, chosen, images)
    boxes = boxes[numbers]
    if wanted.ltrb:
        boxes[:, 2:] += boxes[:, :2]
    if wanted.ratio:
        boxes /= np.tile(sizes[:, ::-1].astype(np.float32), 2)[image]
    segments = UnparsedSegments(
        path, _texts(objects, numbers, starts, wanted), numbers, starts, sizes,
        masks=wanted.masks, ratio=wanted.ratio and not wanted.masks,
    )  # fmt: skip
    return Annotations(
        names=NameTable.of(images[i].file_name for i in chosen.tolist()),
        image_ids=_image_ids(images, chosen) if wanted.ids else np.zeros(len(chosen), np.int32), sizes=sizes,
        object_starts=starts, boxes=boxes, labels=labels[numbers], segments=segments,
        classes=_classes(file.categories, wanted),
    )  # fmt: skip


def _classes(categories: Sequence[_Category], wanted: CocoFields) -> dict[int, str]:
    ids = (
        _all("categories", categories, "id").tolist() if wanted.avoid_class_remapping else itertools.count(1)
    )
    named = zip(ids, (category.name for category in categories), strict=False)
    return {label: name for label, name in named if isinstance(name, str)}


def _grouped(
    owner: np.ndarray, kept: np.ndarray, chosen: np.ndarray, skip_empty: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Groups the objects by image.

    Args:
        owner: int64 [n], index of the image of each object.
        kept: bool [n], True for the objects to take.
        chosen: int64, indices of the images to read, in order.

    Returns: indices of the remaining images; start of each image's objects; indices of the objects; for each object,
        the position of its image among the remaining images.
    """
    numbers = np.flatnonzero(kept)
    numbers = numbers[np.argsort(owner[numbers], kind="stable")]
    counts = np.bincount(owner[numbers], minlength=int(chosen.max(initial=-1)) + 1)
    first = np.cumsum(counts) - counts
    if skip_empty:
        chosen = chosen[counts[chosen] > 0]
    starts = _starts(counts[chosen])
    image = np.repeat(np.arange(len(chosen)), counts[chosen])
    return chosen, starts, numbers[first[chosen][image] + np.arange(starts[-1]) - starts[image]], image


def _starts(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _chosen(images: Sequence[_Image], names: Sequence[str] | None) -> np.ndarray:
    for index, image in enumerate(images):
        if "\0" in image.file_name:
            raise Bad(f"images[{index}]: the file_name {image.file_name!r} has a byte of 0")
    if names is None:
        return np.argsort(_all("images", images, "id"), kind="stable")
    indices = {image.file_name: index for index, image in enumerate(images)}
    missing = [name for name in names if name not in indices]
    if missing:
        raise Bad(f"it has no image {missing[0]!r}, which `images` names ({len(missing)} such names)")
    return np.array([indices[name] for name in names], np.int64)


def _boxes(objects: Sequence[_Object]) -> np.ndarray:
    """Returns the boxes, float32 [n, 4]; each row is (x, y, width, height)."""
    numbers = itertools.chain.from_iterable(o.bbox for o in objects)
    with np.errstate(over="ignore"):
        boxes = np.fromiter(numbers, np.float64, 4 * len(objects)).astype(np.float32).reshape(-1, 4)
    wrong = np.flatnonzero(~np.isfinite(boxes).all(axis=1) | (boxes[:, 2:] < 0).any(axis=1))
    if len(wrong):
        index = int(wrong[0])
        raise Bad(
            f"annotations[{index}]: bbox {list(objects[index].bbox)} is not a box (x, y, width, height)"
        )
    return boxes


def _owners(objects: Sequence[_Object], images: Sequence[_Image]) -> np.ndarray:
    owners = _indices_of(_all("annotations", objects, "image_id"), _all("images", images, "id"))
    if len(wrong := np.flatnonzero(owners < 0)):
        index = int(wrong[0])
        raise Bad(f"annotations[{index}]: there is no image with the image_id {objects[index].image_id}")
    return owners


def _labels(objects: Sequence[_Object], categories: Sequence[_Category], wanted: CocoFields) -> np.ndarray:
    ids = _all("annotations", objects, "category_id")
    if wanted.avoid_class_remapping:
        return _as_int32("annotations", "category_id", ids, np.arange(len(ids)), "the labels")
    found = _indices_of(ids, _all("categories", categories, "id"))
    if len(wrong := np.flatnonzero(found < 0)):
        index = int(wrong[0])
        raise Bad(
            f"annotations[{index}]: there is no category with the category_id {objects[index].category_id} "
            "(avoid_class_remapping=True takes the ids as they are)"
        )
    return (found + 1).astype(np.int32)


def _all(part: str, records: Sequence[object], name: str) -> np.ndarray:
    """Collects an attribute of all records into int64 [n]; errors name `part`, the list that contains the records."""
    values = list(map(operator.attrgetter(name), records))
    if float in set(map(type, values)):
        for index, value in enumerate(values):
            if not (math.isfinite(value) and value == int(value) and -(1 << 63) <= value < 1 << 63):
                raise Bad(f"{part}[{index}]: the {name} {value!r} is not a whole number of 64 bits")
            values[index] = int(value)
    return np.array(values, np.int64)


def _image_ids(images: Sequence[_Image], chosen: np.ndarray) -> np.ndarray:
    return _as_int32("images", "id", _all("images", images, "id")[chosen], chosen, "the output of image_ids")


def _as_int32(part: str, name: str, values: np.ndarray, numbers: np.ndarray, output: str) -> np.ndarray:
    """Converts values to int32; an error names the list (`part`) and the number of the record."""
    if len(wrong := np.flatnonzero(values != values.astype(np.int32))):
        first = wrong[0]
        raise Bad(f"{part}[{numbers[first]}]: the {name} {values[first]} does not fit in {output}, int32")
    return values.astype(np.int32)


def _indices_of(wanted: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Returns the first position in `ids` of each wanted value, int64 [n]; -1 for a missing value."""
    order = np.argsort(ids, kind="stable")
    found = np.append(order, -1)[np.searchsorted(ids[order], wanted)]
    found[np.append(ids, 0)[found] != wanted] = -1
    return found


def _check_sizes(sizes: np.ndarray, chosen: np.ndarray, images: Sequence[_Image]) -> None:
    if len(wrong := np.flatnonzero((sizes <= 0).any(axis=1))):
        index = int(chosen[wrong[0]])
        raise Bad(
            f"images[{index}]: the size {images[index].height} x {images[index].width} of "
            f"{images[index].file_name!r} must be positive"
        )


def _texts(
    objects: Sequence[object], numbers: np.ndarray, starts: np.ndarray, wanted: CocoFields
) -> list[bytes]:
    """Collects, for each image, a JSON list of its objects' `segmentation`; the lists are empty if `wanted` excludes outlines.

    Copies the lists, because slices of the file's text would keep the whole text in memory.
    """
    if not (wanted.polygons or wanted.masks):
        return [b"[]"] * (len(starts) - 1)
    texts = [objects[number].segmentation for number in numbers.tolist()]
    return [b"[" + b",".join(texts[first:end]) + b"]" for first, end in itertools.pairwise(starts.tolist())]
