"""Saves and loads parsed COCO annotations, in a folder of files in DALI's format.

A file consists of the number of its items (uint32) and the items. Each mask begins with a header.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec
import numpy as np

from jdali._storage import NameTable
from jdali._storage import files as _storage
from jdali.readers.formats.coco_json import Annotations
from jdali.readers.formats.coco_masks import decompressed
from jdali.readers.formats.coco_segments import SavedSegments, saved

_MASK_HEAD = np.dtype("<u8")  # height, width and number of runs
_MASK_RUN = np.dtype("<u4")
_CLASSES = "classes.json"


def save(folder: str, parsed: Annotations, *, polygons: bool, masks: bool, ids: bool) -> None:
    """Writes the annotations that a reader with these outputs needs into an existing folder.

    Raises:
        OSError: a file cannot be written.
        ValueError: a compressed mask is damaged.
    """
    items: dict[str, np.ndarray] = {
        "offsets": parsed.object_starts[:-1].astype("<i4"),
        "counts": np.diff(parsed.object_starts).astype("<i4"),
        "boxes": parsed.boxes.ravel(),
        "labels": parsed.labels,
    }
    if polygons or masks:
        segments = saved(parsed.segments, len(parsed.names))
        items |= {
            "polygon_data": segments.polygons,
            "polygon_offset": segments.polygon_starts[:-1],
            "polygons_count": np.diff(segments.polygon_starts),
            "vertices": segments.vertices,
            "vertices_offset": segments.vertex_starts[:-1],
            "vertices_count": np.diff(segments.vertex_starts),
        }
        if masks:
            items |= {
                "masks_rles_idx": segments.mask_objects,
                "masks_offset": segments.mask_starts[:-1],
                "mask_count": np.diff(segments.mask_starts),
                "heights": parsed.sizes[:, 0],
                "widths": parsed.sizes[:, 1],
            }
            packed = b"".join(_packed_masks(parsed, segments))
            _write(folder, "masks_rles", len(segments.masks), packed)
    if ids:
        items["original_ids"] = parsed.image_ids
    for name, array in items.items():
        _write(folder, name, len(array), np.ascontiguousarray(array).tobytes())
    with open(os.path.join(folder, _CLASSES), "wb") as file:  # DALI has no such file
        file.write(msgspec.json.encode(parsed.classes))
    with open(os.path.join(folder, "filenames.dat"), "wb") as file:
        file.write(b"".join(os.fsencode(name) + b"\n" for name in parsed.names))


def _write(folder: str, name: str, count: int, content: bytes) -> None:
    with open(os.path.join(folder, f"{name}.dat"), "wb") as file:
        file.write(np.uint32(count).tobytes() + content)


def _packed_masks(parsed: Annotations, segments: SavedSegments) -> Iterator[bytes]:
    image = np.repeat(np.arange(len(parsed.names)), np.diff(segments.mask_starts))
    for position, mask in enumerate(segments.masks):
        counts = decompressed(mask) if isinstance(mask, str) else mask
        if len(counts) and not 0 <= counts.min() <= counts.max() < 1 << 32:
            raise ValueError(f"a mask of {parsed.names[image[position]]} has a run of impossible length")
        height, width = parsed.sizes[image[position]].tolist()
        yield (
            np.array([height, width, len(counts)], _MASK_HEAD).tobytes() + counts.astype(_MASK_RUN).tobytes()
        )


def load(folder: str, *, polygons: bool, masks: bool, ids: bool) -> Annotations:
    """Reads the annotations that the requested outputs need.

    Raises:
        FileNotFoundError: the files are missing.
        ValueError: a file is damaged, or contradicts another file.
    """
    with _storage.found(f"cannot read filenames.dat in preprocessed_annotations {folder}"):
        lines = _storage.lines(_storage.join(folder, "filenames.dat"))
    lines = [line.removesuffix(b"\r") for line in lines]
    if not lines[-1]:
        lines.pop()
    names = NameTable.of(map(os.fsdecode, lines))
    count = len(names)
    starts = _starts(folder, count, "offsets", "counts", "<i4")
    boxes = _items(folder, "boxes", "<f4", 4 * int(starts[-1])).reshape(-1, 4)
    labels = _items(folder, "labels", "<i4", int(starts[-1]))
    none = np.zeros(count + 1, np.int64)
    polygon_starts, vertex_starts, mask_starts = none, none, none
    if polygons or masks:
        polygon_starts = _starts(folder, count, "polygon_offset", "polygons_count", "<i8")
        vertex_starts = _starts(folder, count, "vertices_offset", "vertices_count", "<i8")
    polygon_data = _items(folder, "polygon_data", "<i4", int(polygon_starts[-1]), 3)
    vertices = _items(folder, "vertices", "<f4", int(vertex_starts[-1]), 2)
    _check_polygons(folder, polygon_data, np.diff(starts), polygon_starts, vertex_starts)
    sizes = np.zeros((count, 2), np.int32)
    mask_objects, mask_list = np.zeros(0, np.int32), list[str | np.ndarray]()
    if masks:
        mask_starts = _starts(folder, count, "masks_offset", "mask_count", "<i8")
        sizes = np.stack([_items(folder, n, "<i4", count) for n in ("heights", "widths")], axis=1)
        if (sizes <= 0).any():
            raise ValueError(f"{folder}/heights.dat or widths.dat has a size that is not positive")
        mask_objects = _items(folder, "masks_rles_idx", "<i4", int(mask_starts[-1]))
        mask_list = _masks(folder, np.repeat(sizes, np.diff(mask_starts), axis=0))
    limit = np.repeat(np.diff(starts), np.diff(mask_starts))
    if ((mask_objects < 0) | (mask_objects >= limit)).any():
        raise ValueError(f"{folder}/masks_rles_idx.dat names an object that is not there")
    image_ids = _items(folder, "original_ids", "<i4", count) if ids else np.zeros(count, np.int32)
    segments = SavedSegments(
        polygon_starts, polygon_data, vertex_starts, vertices, mask_starts, mask_objects, mask_list
    )
    return Annotations(names, image_ids, sizes, starts, boxes, labels, segments, _classes(folder))


def _classes(folder: str) -> dict[int, str]:
    """Reads the names of the labels; returns {} if their file is missing, because DALI does not write it."""
    path = _storage.join(folder, _CLASSES)
    try:
        return msgspec.json.decode(_storage.read(path), type=dict[int, str])
    except FileNotFoundError:
        return {}
    except msgspec.DecodeError as error:
        raise ValueError(f"{path} holds no names of classes: {error}") from error


def _content(folder: str, name: str) -> bytes:
    """Reads a file; for a missing file, returns the content of a file without items."""
    path = _storage.join(folder, f"{name}.dat")
    try:
        content = _storage.read(path)
    except FileNotFoundError:
        return bytes(4)
    if len(content) < 4:
        raise ValueError(f"{path} ends within its head of 4 bytes")
    return content


def _items(folder: str, name: str, dtype: str, count: int, columns: int = 1) -> np.ndarray:
    """Reads the items of a file, [count] or [count, columns] of `dtype`."""
    content = _content(folder, name) if count else bytes(4)
    size = count * columns * np.dtype(dtype).itemsize
    stored = int(np.frombuffer(content, "<u4", 1)[0])
    if stored != count or len(content) - 4 != size:
        raise ValueError(
            f"{folder}/{name}.dat must have {count} items in {size} bytes, but has {stored} in {len(content) - 4}; "
            "it is damaged, or was saved for other outputs"
        )
    items = np.frombuffer(content, dtype, offset=4)
    return items.reshape(-1, columns) if columns > 1 else items


def _starts(folder: str, images: int, offsets: str, counts: str, dtype: str) -> np.ndarray:
    """Returns the start of each image's items, and the end of the last image's items, int64 [images + 1]."""
    lengths = _items(folder, counts, dtype, images).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    if (lengths < 0).any() or (_items(folder, offsets, dtype, images) != starts[:-1]).any():
        raise ValueError(f"{folder}/{offsets}.dat and {counts}.dat do not fit each other")
    return starts


def _check_polygons(
    folder: str,
    polygons: np.ndarray,
    objects: np.ndarray,
    polygon_starts: np.ndarray,
    vertex_starts: np.ndarray,
) -> None:
    image = np.repeat(np.arange(len(objects)), np.diff(polygon_starts))
    owner, first, end = polygons.reshape(-1, 3).T
    wrong = (owner < 0) | (owner >= objects[image]) | (first < 0) | (first > end)
    if (wrong | (end > np.diff(vertex_starts)[image])).any():
        raise ValueError(f"{folder}/polygon_data.dat names an object or a vertex that is not there")


def _masks(folder: str, sizes: np.ndarray) -> list[str | np.ndarray]:
    content = _content(folder, "masks_rles") if len(sizes) else bytes(4)
    if np.frombuffer(content, "<u4", 1)[0] != len(sizes):
        raise ValueError(f"{folder}/masks_rles.dat must have {len(sizes)} masks")
    masks: list[str | np.ndarray] = []
    at, head = 4, 3 * _MASK_HEAD.itemsize
    for number, size in enumerate(sizes.tolist()):
        left = len(content) - at - head
        if left < 0:
            raise ValueError(f"{folder}/masks_rles.dat ends within mask {number}")
        *mask_size, runs = np.frombuffer(content, _MASK_HEAD, 3, at).tolist()
        if runs * _MASK_RUN.itemsize > left:
            raise ValueError(f"{folder}/masks_rles.dat ends within mask {number}")
        if mask_size != size:
            raise ValueError(
                f"{folder}/masks_rles.dat: mask {number} is {mask_size[0]} x {mask_size[1]}, but its image "
                f"{size[0]} x {size[1]}"
            )
        masks.append(np.frombuffer(content, _MASK_RUN, runs, at + head).astype(np.int64))
        at += head + runs * _MASK_RUN.itemsize
    return masks
