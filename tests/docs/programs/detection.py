"""A detector's input: COCO, boxes, polygons, an encoder of boxes, and the same data in dynamic mode."""

from pathlib import Path

import numpy as np
import nvidia.dali.experimental.dynamic as ndd
import nvidia.dali.fn as fn
import nvidia.dali.math as math
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline
from support.target import MIXED, device_id, keep

folder, annotations = Path("coco"), Path("coco/instances.json")
pipe = Pipeline(batch_size=4, num_threads=2, device_id=device_id)
with pipe:
    encoded, boxes, labels, polygons, vertices = fn.readers.coco(
        file_root=folder, annotations_file=annotations, polygon_masks=True, ltrb=True, ratio=True
    )
    shape = fn.peek_image_shape(encoded, dtype=types.INT32)
    short = math.min(fn.slice(shape, 0, 1, axes=[0]), fn.slice(shape, 1, 1, axes=[0]))
    image = fn.flip(fn.decoders.image(encoded, device=MIXED), horizontal=1)
    flipped = fn.bb_flip(boxes, ltrb=True, horizontal=1)
    moved = fn.coord_transform(vertices, M=np.float32([[1, 0], [0, -1]]), T=np.float32([0.5, 1]))
    encoded_boxes, encoded_labels = fn.box_encoder(
        flipped, labels, criteria=0.5, anchors=[0.1, 0.1, 0.5, 0.5, 0.3, 0.3, 0.9, 0.9]
    )
    pipe.set_outputs(
        image, flipped, labels, polygons, moved, short, math.sqrt(fn.cast(short, dtype=types.FLOAT)),
        encoded_boxes, encoded_labels,
    )  # fmt: skip
pipe.build()
keep(**{f"output{i}": output for i, output in enumerate(pipe.run())})

pipe = Pipeline(batch_size=4, num_threads=2, device_id=device_id, seed=7)
with pipe:
    encoded, boxes, labels = fn.readers.coco(
        file_root=folder, annotations_file=annotations, ltrb=True, ratio=True
    )
    anchor, size, boxes, labels = fn.random_bbox_crop(
        boxes, labels, aspect_ratio=[0.5, 2.0], thresholds=[0, 0.3, 0.7], scaling=[0.3, 1.0],
        bbox_layout="xyXY", allow_no_crop=True, num_attempts=50,
    )  # fmt: skip
    image = fn.decoders.image_slice(encoded, anchor, size, device=MIXED)
    image = fn.resize(image, size=(16, 16), min_filter=types.DALIInterpType.INTERP_TRIANGULAR)
    pipe.set_outputs(image, boxes, labels)
pipe.build()
keep(shapes=[np.array(shape) for shape in pipe.run()[0].shape()])

reader = ndd.readers.COCO(file_root=folder, annotations_file=annotations, polygon_masks=True, ratio=True)
for encoded, boxes, labels, _, vertices in reader.next_epoch(batch_size=4):
    keep(
        dynamic=np.asarray(boxes.select(2)), label=np.asarray(labels.select(2)),
        vertices=np.asarray(vertices.select(2)), images=ndd.decoders.image(encoded),
    )  # fmt: skip
    break
