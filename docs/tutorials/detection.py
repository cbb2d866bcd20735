# %% [markdown]
# # Detection with boxes
#
# Pictures and their boxes must be cropped, flipped and resized together. A small data set in COCO's format is drawn here:
# discs and squares on a noisy ground. Put your own `instances.json` in its place.

# %%
import json
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

Path("shapes").mkdir(exist_ok=True)
random = np.random.default_rng(0)
images, annotations = [], []
height, width = 96, 128
for number in range(8):
    picture = Image.fromarray(random.integers(60, 110, (height, width, 3), np.uint8))
    pen = ImageDraw.Draw(picture)
    for _ in range(int(random.integers(1, 4))):
        size = int(random.integers(20, 45))
        x, y = int(random.integers(0, width - size)), int(random.integers(0, height - size))
        category = int(random.integers(1, 3))
        draw = pen.ellipse if category == 1 else pen.rectangle
        draw([x, y, x + size - 1, y + size - 1], fill=tuple(int(v) for v in random.integers(130, 255, 3)))
        annotations.append(
            {
                "id": len(annotations),
                "image_id": number,
                "category_id": category,
                "bbox": [x, y, size, size],
                "area": size * size,
                "iscrowd": 0,
            }
        )
    picture.save(f"shapes/{number}.jpg", quality=95)
    images.append({"id": number, "file_name": f"{number}.jpg", "width": width, "height": height})

categories = [{"id": 1, "name": "disc"}, {"id": 2, "name": "square"}]
Path("instances.json").write_text(
    json.dumps({"images": images, "annotations": annotations, "categories": categories})
)
print(len(images), "pictures,", len(annotations), "boxes")

# %% [markdown]
# ## Read
#
# `ltrb=True, ratio=True` gives boxes as left, top, right, bottom, in shares of the picture: they stay true when it is resized.
# Pictures have different numbers of boxes, so a batch of boxes is ragged.

# %%
from jdali import fn, pipeline_def, types


@pipeline_def(batch_size=4, num_threads=2, seed=3)
def plain():
    jpegs, boxes, labels = fn.readers.coco(
        file_root="shapes", annotations_file="instances.json", ltrb=True, ratio=True, name="Reader"
    )
    return fn.decoders.image(jpegs, output_type=types.RGB), boxes, labels


pipe = plain()
pictures, boxes, labels = pipe.run()
print(boxes.shape())
pipe.close()

# %%
import matplotlib.pyplot as plt


def show(pictures, boxes, labels, count=4):
    _, axes = plt.subplots(1, count, figsize=(8, 2.3))
    for i, axis in enumerate(axes):
        picture = np.asarray(pictures.as_cpu().at(i))
        axis.imshow(picture)
        height, width = picture.shape[:2]
        for (left, top, right, bottom), label in zip(
            boxes.as_cpu().at(i), labels.as_cpu().at(i).ravel(), strict=True
        ):
            corner, size = (left * width, top * height), ((right - left) * width, (bottom - top) * height)
            axis.add_patch(plt.Rectangle(corner, *size, fill=False, color="yellow", linewidth=2))
            axis.text(corner[0], corner[1] - 2, categories[int(label) - 1]["name"], fontsize=7)
        axis.axis("off")
    plt.show()


show(pictures, boxes, labels)

# %% [markdown]
# ## Augment
#
# `random_bbox_crop` draws a window that keeps enough of a box, and gives the boxes that are left. `slice` cuts the picture to
# the window, and `bb_flip` mirrors boxes where `flip` mirrors the picture: both take the same coin.


# %%
def augmented():
    """Reads and augments one sample: a plain function, which several pipelines may call."""
    jpegs, boxes, labels = fn.readers.coco(
        file_root="shapes",
        annotations_file="instances.json",
        ltrb=True,
        ratio=True,
        random_shuffle=True,
        name="Reader",
    )
    images = fn.decoders.image(jpegs, output_type=types.RGB)
    anchor, size, boxes, labels = fn.random_bbox_crop(
        boxes,
        labels,
        bbox_layout="xyXY",
        thresholds=[0.3, 0.5, 0.7],
        scaling=[0.4, 1.0],
        aspect_ratio=[0.6, 1.6],
    )
    images = fn.slice(images, anchor, size)
    coin = fn.random.coin_flip()
    images = fn.flip(images, horizontal=coin)
    boxes = fn.bb_flip(boxes, ltrb=True, horizontal=coin)
    images = fn.resize(images, size=[128, 128])
    images = fn.color_twist(
        images, hue=fn.random.uniform(range=[-20, 20]), saturation=fn.random.uniform(range=[0.6, 1.4])
    )
    return images, boxes, labels


@pipeline_def(batch_size=4, num_threads=2, seed=3)
def training():
    return augmented()


pipe = training()
pictures, boxes, labels = pipe.run()
show(pictures, boxes, labels)
pipe.close()

# %% [markdown]
# ## Batches for a model
#
# A compiled training step wants one shape. `fn.pad` fills the boxes of a batch up to the largest number; with `shape=` up to a
# fixed one, so that the step is compiled once. Boxes of -1 are no boxes.


# %%
@pipeline_def(batch_size=4, num_threads=2, seed=3)
def padded():
    images, boxes, labels = augmented()
    boxes = fn.pad(boxes, axes=[0], shape=[4], fill_value=-1)
    labels = fn.pad(labels, axes=[0], shape=[4], fill_value=0)
    return images, boxes, labels


from jdali.iterator import DataIterator

with DataIterator(padded(), ["images", "boxes", "labels"], reader_name="Reader") as batches:
    for batch in batches:
        print({name: (value.shape, str(value.dtype)) for name, value in batch.items()})
        assert batch["boxes"].shape[1] == 4
