"""Reads COCO data sets: images, and the boxes, labels and masks of their objects from a JSON file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jdali._errors import SampleError
from jdali._operators.record import Static, also_takes, reader
from jdali._storage import NameTable, read_file, read_named
from jdali._storage import files as _storage
from jdali._system import limits
from jdali.readers.base import Loaded, reader_options, shuffle_options, with_layouts
from jdali.readers.formats import coco_preprocessed as _coco_preprocessed
from jdali.readers.formats.coco_json import Annotations, CocoFields, parse
from jdali.readers.formats.coco_masks import Runs, decompressed, painted, runs_of_counts, runs_of_polygons
from jdali.readers.formats.coco_segments import Segments, span
from jdali.readers.formats.columns import dense_column, ragged_column
from jdali.readers.formats.named_files import NO_ROOT, NamedFilesReader
from jdali.readers.formats.records import path_list
from jdali.readers.shared_tables import shared

_NAME = "readers.coco"
# Arguments that were already applied to saved annotations. Setting one when saved annotations are read raises an error.
_OF_JSON = ("annotations_file", "images", "skip_empty", "ltrb", "ratio", "size_threshold")


class CocoReader(NamedFilesReader):
    """Reads images and their annotations."""

    often_cheap = True

    def __init__(
        self,
        root: str,
        parsed: Annotations,
        *,
        polygons: bool,
        masks: bool,
        ids: bool,
        options: Mapping[str, object],
    ):
        super().__init__(root, parsed.names, options)
        self._parsed = parsed
        self._polygons, self._masks, self._ids = polygons, masks, ids
        self.layouts = ("", "", "", *["", ""] * polygons, *["HWC"] * masks, *[""] * ids)
        self.num_outputs = len(self.layouts)
        self.class_names = {2: parsed.classes} if parsed.classes else {}

    def load(self, index: int) -> tuple[np.ndarray, ...]:
        parsed = self._parsed
        objects = span(parsed.object_starts, index)
        outputs = [read_file(self.path(index)), parsed.boxes[objects], parsed.labels[objects]]
        if self._polygons or self._masks:
            try:
                segments = parsed.segments(index)
                if self._polygons:
                    outputs += segments.polygons, segments.vertices
                else:
                    outputs.append(self._painted(index, segments, parsed.labels[objects]))
            except ValueError as error:
                raise SampleError(f"{_NAME}: the masks of {self.source(index)}: {error}") from error
        if self._ids:
            outputs.append(parsed.image_ids[index : index + 1])
        return tuple(outputs)

    def load_many(self, indices: np.ndarray) -> Loaded:
        if self._polygons or self._masks:
            return super().load_many(indices)
        parsed = self._parsed
        contents = read_named(self._folder, self.names, indices)
        chosen = indices[contents.positions]
        first = parsed.object_starts[chosen]
        counts = parsed.object_starts[chosen + 1] - first
        columns = [
            contents.column(),
            ragged_column(parsed.boxes, first, counts),
            ragged_column(parsed.labels, first, counts),
        ]
        if self._ids:
            columns.append(dense_column(parsed.image_ids[chosen, None]))
        return with_layouts(Loaded(tuple(columns), contents.failures), self.layouts)

    def _painted(self, index: int, segments: Segments, labels: np.ndarray) -> np.ndarray:
        height, width = self._parsed.sizes[index].tolist()
        limits.check("max_pixels", height * width, f"a mask of {height} x {width}")
        limits.check("max_sample_bytes", 4 * height * width, f"a mask of {height} x {width}")
        runs: list[tuple[int, Runs]] = []
        polygons = segments.polygons
        if len(polygons):
            sizes = (polygons[:, 2] - polygons[:, 1]).astype(np.int64)
            found, polygon = runs_of_polygons(segments.vertices, sizes, height, width)
            owner = labels[polygons[polygon, 0]]
            runs += [
                (label, Runs(found.starts[owner == label], found.ends[owner == label]))
                for label in np.unique(owner).tolist()
            ]
        for mask, number in zip(segments.masks, segments.mask_objects.tolist(), strict=True):
            counts = decompressed(mask) if isinstance(mask, str) else mask
            try:
                runs.append((labels[number].item(), runs_of_counts(counts, height, width)))
            except ValueError as error:
                raise ValueError(f"object {number}: {error}") from error
        return painted(runs, height, width)


def _num_outputs(arguments: Mapping[str, object]) -> int:
    masks = 2 * bool(arguments.get("polygon_masks")) + bool(arguments.get("pixelwise_masks"))
    return 3 + masks + bool(arguments.get("image_ids"))


@reader(name=_NAME, outputs=_num_outputs, devices=("cpu",), source="operators/reader/coco_reader_op.cc")
@also_takes(shuffle_options, reader_options)
def coco(
    *,
    annotations_file: Static[str] = "",
    avoid_class_remapping: Static[bool] = False,
    file_root: Static[str | None] = None,
    image_ids: Static[bool] = False,
    images: Static[tuple[str, ...] | None] = None,
    include_iscrowd: Static[bool] = True,
    ltrb: Static[bool] = False,
    pixelwise_masks: Static[bool] = False,
    polygon_masks: Static[bool] = False,
    preprocessed_annotations: Static[str] = "",
    ratio: Static[bool] = False,
    save_preprocessed_annotations: Static[bool] = False,
    save_preprocessed_annotations_dir: Static[str] = "",
    size_threshold: Static[float] = 0.1,
    skip_empty: Static[bool] = False,
    **options: object,
) -> CocoReader:
    """Reads images and their objects from a data set in the COCO format.

    The outputs are the image's bytes, and the boxes and labels of its objects. `polygon_masks` adds
    polygons and their vertices; `pixelwise_masks` adds a picture of labels; `image_ids` adds the id.

    In the picture of labels, a pixel that several objects cover has the largest of their labels.
    `Pipeline.reader_meta(name)["classes"][label]` is the name of the category.

    The parser accepts NaN and Infinity in fields that it does not read, ids of 64 bits, and whole numbers written as
    floats (7.0).

    Parity: DALI rejects files with such numbers, or stops reading at the number. DALI skips annotations that have no
    box, a negative size or an unknown image, skips the rest of a truncated file, and gives unknown categories label 0;
    here these are errors, and so are `images` that the file lacks. DALI draws a different picture of labels: it keeps
    only the last run-length mask of a label, and none if the label has polygons; it leaves the picture empty if the
    smallest label has no mask; it gives the smallest label to the run of pixels that ends the picture; with `ratio`, it
    draws polygons in the unit square.

    Args:
        annotations_file: the JSON file.
        avoid_class_remapping: labels are the ids of categories; otherwise their positions in the file, counted from 1.
        file_root: folder that the images' names are relative to.
        image_ids: return the ids of the images, too.
        images: file names of the images to read, in this order; None: all images, ordered by id.
        include_iscrowd: also read objects that are marked as crowds.
        ltrb: boxes are (left, top, right, bottom), not (left, top, width, height).
        pixelwise_masks: return a picture of labels, too.
        polygon_masks: return polygons and their vertices, too.
        preprocessed_annotations: folder of annotations saved by DALI or jdali, to read in place of the JSON file.
        ratio: boxes and vertices are fractions of the image's width and height, not pixels.
        save_preprocessed_annotations: save the parsed annotations.
        save_preprocessed_annotations_dir: folder to save the annotations to, which must exist.
        size_threshold: leave out objects with a smaller width or height, pixels.
        skip_empty: leave out images without objects.

    Returns: the image, uint8 [bytes]; the boxes, float32 [objects, 4]; the labels, int32 [objects]; then, if requested, the
        polygons, int32 [polygons, 3] (number of the object, first vertex, one past the last vertex), and the vertices,
        float32 [vertices, 2] (x, y), or the picture of labels, int32 [H, W, 1]; and the id, int32 [1].

    Example:
        jpegs, boxes, labels = fn.readers.coco(
            file_root="coco", annotations_file="coco/instances.json", ltrb=True, ratio=True
        )
    """
    outputs = {"polygons": polygon_masks, "masks": pixelwise_masks}
    if polygon_masks and pixelwise_masks:
        raise ValueError(f"{_NAME}: ``pixelwise_masks`` and ``polygon_masks`` are mutually exclusive")
    if file_root is None:
        raise ValueError(f"{_NAME}: {NO_ROOT}: the folder of the images")
    if bool(save_preprocessed_annotations) != bool(save_preprocessed_annotations_dir):
        raise ValueError(
            f"{_NAME}: ``save_preprocessed_annotations`` and ``save_preprocessed_annotations_dir`` should be provided together"
        )
    chosen = (
        None if images is None else shared("images", lambda: NameTable.of(path_list(_NAME, "images", images)))
    )
    wanted = CocoFields(
        **outputs, ids=image_ids, images=chosen,
        skip_empty=skip_empty, include_iscrowd=include_iscrowd, size_threshold=size_threshold, ltrb=ltrb,
        ratio=ratio, avoid_class_remapping=avoid_class_remapping,
    )  # fmt: skip
    file_root, annotations_file, preprocessed_annotations = map(
        _storage.user_path, (file_root, annotations_file, preprocessed_annotations)
    )
    try:
        if preprocessed_annotations:
            _check_left_out(dict(wanted._asdict(), annotations_file=annotations_file))
            parsed = shared(
                "annotations",
                lambda: _coco_preprocessed.load(preprocessed_annotations, **outputs, ids=image_ids),
            )
        elif annotations_file:
            parsed = shared("annotations", lambda: parse(annotations_file, wanted))
        else:
            raise ValueError("Either ``annotations_file`` or ``preprocessed_annotations`` must be provided")
        if not parsed.names:
            raise ValueError(
                f"No files found: there are no images to read in {annotations_file or preprocessed_annotations}"
            )
        if save_preprocessed_annotations:
            _coco_preprocessed.save(save_preprocessed_annotations_dir, parsed, **outputs, ids=image_ids)
        data = annotations_file or preprocessed_annotations
        names = shared(
            "names",
            lambda: _storage.table_from_data(
                file_root, parsed.names, lambda i: f"image {i} of {data}", free=False
            ),
        )
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{_NAME}: {error}") from error
    except (OSError, ValueError) as error:
        raise ValueError(f"{_NAME}: {error}") from error
    return CocoReader(file_root, parsed._replace(names=names), **outputs, ids=image_ids, options=options)


def _check_left_out(arguments: Mapping[str, object]) -> None:
    for name in _OF_JSON:
        default = coco.args[name].default
        if arguments[name] != default:
            raise ValueError(
                f'When reading data from preprocessed annotation files, "{name}" is not supported: it is applied before saving'
            )
