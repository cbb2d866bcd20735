"""Returns polygons and masks of the objects of a COCO file, image by image."""

from __future__ import annotations

import array
from typing import Annotated, NamedTuple, TypeAlias

import msgspec
import numpy as np

from jdali._errors import SampleError

# Limit of the cache of parsed outlines, bytes. Each image counts as the size of its text plus _BYTES_EACH.
_KNOWN_BYTES, _BYTES_EACH = 16 << 20, 512


class Segments(NamedTuple):
    """Outlines of the objects of an image.

    Attributes:
        polygons: int32 [polygons, 3]: number of the object in its image, first vertex, one past the last vertex.
        vertices: float32 [vertices, 2], x and y.
        mask_objects: int32 [masks], number of the object in its image.
        masks: run lengths of each mask, as a compressed string or int64 [runs].
    """

    polygons: np.ndarray
    vertices: np.ndarray
    mask_objects: np.ndarray
    masks: list[str | np.ndarray]


AllSegments: TypeAlias = "UnparsedSegments | SavedSegments"
"""A function that returns the outlines of an image by its index, or raises `SampleError` if they are invalid."""


class _RunLengths(msgspec.Struct):
    size: tuple[int | float, int | float]
    counts: str | list[Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]]


_Found = list[list[float]] | _RunLengths | None
_ALL = msgspec.json.Decoder(list[_Found])
_ONE = msgspec.json.Decoder(_Found)
_PIECES = msgspec.json.Decoder(list[msgspec.Raw])


class UnparsedSegments:
    """Keeps the outlines of a JSON file as text, and parses the outlines of an image on access.

    Outlines make up most of the file. Text can be shared among workers, but parsed outlines cannot. Parsed outlines are
    cached up to a limit, so a small file is parsed only once.

    Args:
        texts: for each image, a JSON list of its objects' `segmentation`.
        numbers: int64 [objects], index of each object in the file.
        starts: int64 [images + 1], start of each image's objects.
        sizes: int32 [images, 2], height and width.
        masks: also return run-length masks.
        ratio: scale coordinates to fractions of the image's width and height.
    """

    def __init__(
        self, path: str, texts: list[bytes], numbers: np.ndarray, starts: np.ndarray, sizes: np.ndarray, *,
        masks: bool, ratio: bool,
    ):  # fmt: skip
        self._path, self._numbers, self._starts, self._sizes = path, numbers, starts, sizes
        self._masks, self._ratio = masks, ratio
        self._text = np.frombuffer(b"".join(texts), np.uint8)
        self._text_starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        self._known: dict[int, Segments] = {}
        self._room = _KNOWN_BYTES

    def __call__(self, image: int) -> Segments:
        known = self._known.get(image)
        if known is None:
            text = self._text[span(self._text_starts, image)].tobytes()
            known = self._parsed(image, text)
            if (room := self._room - len(text) - _BYTES_EACH) >= 0:
                self._room, self._known[image] = room, known
        return known

    def _parsed(self, image: int, text: bytes) -> Segments:
        try:
            found = _ALL.decode(text)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise self._wrong_text(image, text) from error
        polygons: list[tuple[int, int, int]] = []
        coordinates = array.array("f")
        mask_objects, masks = [], list[str | np.ndarray]()
        for number, segments in enumerate(found):
            if isinstance(segments, list):
                for polygon in segments:
                    first = len(coordinates) // 2
                    coordinates.fromlist(polygon)
                    polygons.append((number, first, len(coordinates) // 2))
                    if len(polygon) % 2:
                        reason = f": a polygon has {len(polygon)} coordinates, an odd number"
                        raise self._wrong(image, number, reason)
            elif segments is not None and self._masks:
                self._check_size(image, number, segments.size)
                counts = segments.counts
                mask_objects.append(number)
                masks.append(counts if isinstance(counts, str) else np.array(counts, np.int64))
        vertices: np.ndarray = np.frombuffer(coordinates, np.float32).reshape(-1, 2)
        finite = np.isfinite(vertices)
        if not finite.all():
            wrong = int(np.flatnonzero(~finite.all(axis=1))[0])
            owner = next(number for number, _, end in polygons if wrong < end)
            raise self._wrong(image, owner, ": a polygon has a coordinate beyond the range of float32")
        if self._ratio:
            vertices = vertices / self._sizes[image, ::-1].astype(np.float32)
        return Segments(
            np.array(polygons, np.int32).reshape(-1, 3), vertices, np.array(mask_objects, np.int32), masks
        )

    def _check_size(self, image: int, number: int, size: tuple[int | float, int | float]) -> None:
        height, width = self._sizes[image].tolist()
        if size != (height, width):
            reason = f": the mask is {size[0]} x {size[1]}, but its image {height} x {width}"
            raise self._wrong(image, number, reason)

    def _wrong(self, image: int, number: int, reason: str) -> SampleError:
        index = self._numbers[self._starts[image] + number]
        return SampleError(f"{self._path}: annotations[{index}]{reason}")

    def _wrong_text(self, image: int, text: bytes) -> SampleError:
        for number, piece in enumerate(_PIECES.decode(text)):
            try:
                _ONE.decode(piece)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
                return self._wrong(image, number, f".segmentation: {error}")
        return SampleError(f"{self._path}: {text[:80]!r} are not segmentations")


class SavedSegments(NamedTuple):
    """The outlines of all images. Element i belongs to image k if starts[k] <= i < starts[k + 1].

    Attributes:
        polygon_starts, vertex_starts, mask_starts: int64 [images + 1].
        polygons, vertices, mask_objects, masks: see `Segments`; concatenated over images.
    """

    polygon_starts: np.ndarray
    polygons: np.ndarray
    vertex_starts: np.ndarray
    vertices: np.ndarray
    mask_starts: np.ndarray
    mask_objects: np.ndarray
    masks: list[str | np.ndarray]

    def __call__(self, image: int) -> Segments:
        masks = span(self.mask_starts, image)
        return Segments(
            self.polygons[span(self.polygon_starts, image)], self.vertices[span(self.vertex_starts, image)],
            self.mask_objects[masks], self.masks[masks],
        )  # fmt: skip


def saved(segments: AllSegments, images: int) -> SavedSegments:
    """Parses the outlines of all images; raises `SampleError` for a bad outline."""
    all_of_them = [segments(image) for image in range(images)]

    def starts(lengths: list[int]) -> np.ndarray:
        return np.cumsum([0, *lengths])

    return SavedSegments(
        starts([len(one.polygons) for one in all_of_them]),
        np.concatenate([one.polygons for one in all_of_them]),
        starts([len(one.vertices) for one in all_of_them]),
        np.concatenate([one.vertices for one in all_of_them]),
        starts([len(one.masks) for one in all_of_them]),
        np.concatenate([one.mask_objects for one in all_of_them]),
        [mask for one in all_of_them for mask in one.masks],
    )


def span(starts: np.ndarray, image: int) -> slice:
    return slice(starts.item(image), starts.item(image + 1))
