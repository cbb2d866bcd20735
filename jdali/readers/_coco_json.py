"""The annotations of a COCO file as arrays."""

from __future__ import annotations

import array
import itertools
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np

from jdali.readers import _storage

_Int32 = Annotated[int, msgspec.Meta(ge=-(1 << 31), lt=1 << 31)]


class Annotations(NamedTuple):
    """What is known of n images; of object, polygon and mask i belong to image k those with
    starts[k] <= i < starts[k + 1].

    Attributes:
        names: of the files.
        image_ids: int32 [n].
        sizes: int32 [n, 2], height and width.
        object_starts: int64 [n + 1].
        boxes: float32 [objects, 4].
        labels: int32 [objects].
        polygon_starts: int64 [n + 1].
        polygons: int32 [polygons, 3], number of the object in its image, first vertex and the one after the
            last, counted in the image.
        vertex_starts: int64 [n + 1].
        vertices: float32 [vertices, 2], x and y.
        mask_starts: int64 [n + 1].
        mask_objects: int32 [masks], number of the object in its image.
        masks: lengths of the runs, compressed or int64 [runs].
    """

    names: list[str]
    image_ids: np.ndarray
    sizes: np.ndarray
    object_starts: np.ndarray
    boxes: np.ndarray
    labels: np.ndarray
    polygon_starts: np.ndarray
    polygons: np.ndarray
    vertex_starts: np.ndarray
    vertices: np.ndarray
    mask_starts: np.ndarray
    mask_objects: np.ndarray
    masks: list[str | np.ndarray]


class Wanted(NamedTuple):
    """What to take of a file, and in which form; see `readers.coco`.

    Attributes:
        polygons: read polygons.
        masks: read polygons and masks of runs.
        images: names of the images; None: all, by their ids.
    """

    polygons: bool
    masks: bool
    images: Sequence[str] | None
    skip_empty: bool
    include_iscrowd: bool
    size_threshold: float
    ltrb: bool
    ratio: bool
    avoid_class_remapping: bool


class _Image(msgspec.Struct, gc=False):
    id: _Int32
    file_name: str
    width: _Int32 = 0
    height: _Int32 = 0


class _Category(msgspec.Struct, gc=False):
    id: _Int32


class _Object(msgspec.Struct, gc=False):
    image_id: _Int32
    category_id: _Int32
    bbox: tuple[float, float, float, float]
    iscrowd: int | bool = 0


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


class _RunLengths(msgspec.Struct):
    size: tuple[int, int]
    counts: str | list[Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]]


class Bad(ValueError):
    """What is wrong with a file, said by code that does not know its path."""


def parse(path: str, wanted: Wanted) -> Annotations:
    """The annotations in a file.

    Raises:
        FileNotFoundError: it cannot be read.
        ValueError: it is damaged, or an annotation makes no sense.
    """
    try:
        return _arrange(_decoded(_storage.read(path), wanted), wanted)
    except OSError as error:
        raise FileNotFoundError(f"cannot read annotations_file {path}: {error.strerror}") from error
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, Bad) as error:
        raise ValueError(f"{path}: {error}") from error


def _decoded(text: bytes, wanted: Wanted) -> _File | _FileWithMasks:
    # Whatever is not asked for is skipped by the parser, which takes a fraction of the time.
    if wanted.polygons or wanted.masks:
        return msgspec.json.decode(text, type=_FileWithMasks)
    return msgspec.json.decode(text, type=_File)


def _arrange(file: _File | _FileWithMasks, wanted: Wanted) -> Annotations:
    """The objects of the wanted images, image by image."""
    images, chosen = file.images, _chosen(file.images, wanted.images)
    objects = file.annotations
    boxes = _boxes(objects)
    owner = _owners(objects, images)
    labels = _labels(objects, file.categories, wanted)
    kept = np.all(boxes[:, 2:] >= np.float32(wanted.size_threshold), axis=1)
    if not wanted.include_iscrowd:
        kept &= np.array([not o.iscrowd for o in objects], bool)
    chosen, starts, numbers, image = _placed(owner, kept, chosen, wanted.skip_empty)
    sizes = np.array([(images[i].height, images[i].width) for i in chosen.tolist()], np.int32).reshape(-1, 2)
    if wanted.ratio or wanted.masks:
        _check_sizes(sizes, chosen, images)
    boxes = boxes[numbers]
    if wanted.ltrb:
        boxes[:, 2:] += boxes[:, :2]
    scale = sizes[:, ::-1].astype(np.float32)
    if wanted.ratio:
        boxes /= np.tile(scale, 2)[image]
    found = _segments(objects, numbers, image, sizes, wanted)
    vertex_image = np.repeat(image[found.polygon_places], found.polygon_sizes)
    vertices = found.vertices
    if wanted.ratio and not wanted.masks:
        vertices = vertices / scale[vertex_image]
    vertex_starts = _starts(np.bincount(vertex_image, minlength=len(chosen)))
    polygon_image = image[found.polygon_places]
    ends = np.cumsum(found.polygon_sizes) - vertex_starts[polygon_image]
    polygons = np.stack(
        [found.polygon_places - starts[polygon_image], ends - found.polygon_sizes, ends], axis=1
    )
    mask_image = image[found.mask_places]
    return Annotations(
        names=[images[i].file_name for i in chosen.tolist()],
        image_ids=np.array([images[i].id for i in chosen.tolist()], np.int32),
        sizes=sizes, object_starts=starts, boxes=boxes, labels=labels[numbers],
        polygon_starts=_starts(np.bincount(polygon_image, minlength=len(chosen))),
        polygons=polygons.astype(np.int32), vertex_starts=vertex_starts, vertices=vertices,
        mask_starts=_starts(np.bincount(mask_image, minlength=len(chosen))),
        mask_objects=(found.mask_places - starts[mask_image]).astype(np.int32), masks=found.masks,
    )  # fmt: skip


def _placed(
    owner: np.ndarray, kept: np.ndarray, chosen: np.ndarray, skip_empty: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Which images there are in the end, and their objects, image by image.

    Args:
        owner: int64 [n], the image of each object.
        kept: bool [n], which objects to take.
        chosen: int64, the images to read, in order.
        skip_empty: leave out images without objects.

    Returns: the images; where the objects of each begin; the objects; the place among `chosen` of each.
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
    """int64, which images to read, in order."""
    for place, image in enumerate(images):
        if "\0" in image.file_name:
            raise Bad(f"images[{place}]: the file_name {image.file_name!r} has a byte of 0")
    if names is None:
        return np.argsort(np.fromiter((i.id for i in images), np.int64, len(images)), kind="stable")
    places = {image.file_name: place for place, image in enumerate(images)}
    missing = [name for name in names if name not in places]
    if missing:
        raise Bad(f"it has no image {missing[0]!r}, which `images` names ({len(missing)} such names)")
    return np.array([places[name] for name in names], np.int64)


def _boxes(objects: Sequence[_Object]) -> np.ndarray:
    """float32 [n, 4] x, y, width, height."""
    numbers = itertools.chain.from_iterable(o.bbox for o in objects)
    with np.errstate(over="ignore"):
        boxes = np.fromiter(numbers, np.float64, 4 * len(objects)).astype(np.float32).reshape(-1, 4)
    wrong = np.flatnonzero(~np.isfinite(boxes).all(axis=1) | (boxes[:, 2:] < 0).any(axis=1))
    if len(wrong):
        place = int(wrong[0])
        raise Bad(f"annotations[{place}]: bbox {list(objects[place].bbox)} is no box (x, y, width, height)")
    return boxes


def _owners(objects: Sequence[_Object], images: Sequence[_Image]) -> np.ndarray:
    """int64 [n], the image of each object."""
    ids = np.array([image.id for image in images], np.int64)
    order = np.argsort(ids, kind="stable")
    wanted = np.array([o.image_id for o in objects], np.int64)
    found = np.searchsorted(ids[order], wanted)
    owners = np.append(order, -1)[found]
    owners[np.append(ids, 0)[owners] != wanted] = -1
    if len(wrong := np.flatnonzero(owners < 0)):
        place = int(wrong[0])
        raise Bad(f"annotations[{place}]: there is no image with the image_id {objects[place].image_id}")
    return owners


def _labels(objects: Sequence[_Object], categories: Sequence[_Category], wanted: Wanted) -> np.ndarray:
    """int32 [n]."""
    if wanted.avoid_class_remapping:
        return np.array([o.category_id for o in objects], np.int32)
    numbers: dict[int, int] = {}
    for number, category in enumerate(categories, 1):
        numbers.setdefault(category.id, number)
    labels = np.array([numbers.get(o.category_id, -1) for o in objects], np.int32)
    if len(wrong := np.flatnonzero(labels < 0)):
        place = int(wrong[0])
        raise Bad(
            f"annotations[{place}]: there is no category with the category_id {objects[place].category_id} "
            "(avoid_class_remapping=True takes the ids as they are)"
        )
    return labels


def _check_sizes(sizes: np.ndarray, chosen: np.ndarray, images: Sequence[_Image]) -> None:
    if len(wrong := np.flatnonzero((sizes <= 0).any(axis=1))):
        place = int(chosen[wrong[0]])
        raise Bad(
            f"images[{place}]: the size {images[place].height} x {images[place].width} of "
            f"{images[place].file_name!r} must be positive"
        )


class _Segments(NamedTuple):
    """Polygons and masks of the objects, by the object's place in the order of output."""

    polygon_places: np.ndarray
    polygon_sizes: np.ndarray
    vertices: np.ndarray
    mask_places: np.ndarray
    masks: list[str | np.ndarray]


def _segments(
    objects: Sequence[Any], numbers: np.ndarray, image: np.ndarray, sizes: np.ndarray, wanted: Wanted
) -> _Segments:
    """Those of the objects `numbers`, each in the image of that place."""
    polygon_places, polygon_sizes, mask_places = array.array("q"), array.array("q"), array.array("q")
    coordinates = array.array("f")
    masks: list[str | np.ndarray] = []
    decoder = msgspec.json.Decoder(list[list[float]] | _RunLengths | None)
    for place, number in enumerate(numbers.tolist() if wanted.polygons or wanted.masks else ()):
        try:
            found = decoder.decode(objects[number].segmentation)
        except msgspec.DecodeError as error:
            raise Bad(f"annotations[{number}].segmentation: {error}") from error
        if type(found) is list:  # the loop runs a million times: this is the cheap way to tell
            for polygon in found:
                polygon_places.append(place)
                polygon_sizes.append(len(polygon))
                coordinates.fromlist(polygon)
        elif found is not None and wanted.masks:
            height, width = sizes[image[place]].tolist()
            if found.size != (height, width):
                raise Bad(
                    f"annotations[{number}]: the mask is {found.size[0]} x {found.size[1]}, but its image "
                    f"{height} x {width}"
                )
            mask_places.append(place)
            masks.append(found.counts if isinstance(found.counts, str) else np.array(found.counts, np.int64))
    places, lengths = np.array(polygon_places, np.int64), np.array(polygon_sizes, np.int64)
    if len(wrong := np.flatnonzero(lengths % 2)):
        number = int(numbers[places[wrong[0]]])
        raise Bad(f"annotations[{number}]: a polygon has {lengths[wrong[0]]} coordinates, an odd number")
    vertices = np.frombuffer(coordinates, np.float32).reshape(-1, 2)
    if not np.isfinite(vertices).all():
        raise Bad("a polygon has a coordinate beyond the range of float32")
    return _Segments(places, lengths // 2, vertices, np.array(mask_places, np.int64), masks)
