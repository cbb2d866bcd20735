"""A program as users write it, for type checkers: test_editor.py says what they must find in it.

A comment `# reveals: T` stands at a line of `reveal_type`, `# error` where a checker must complain; nowhere else may it.
"""

from __future__ import annotations

from typing import TypedDict, reveal_type

import jax
import numpy as np

import jdali.dynamic as jd
from jdali import Pipeline, fn, pipeline_def, types
from jdali.iterator import DataIterator


class Batch(TypedDict):
    images: jax.Array
    labels: jax.Array


@pipeline_def(batch_size=8, num_threads=2)
def training(folder: str):
    jpegs, labels = fn.readers.file(file_root=folder, random_shuffle=True, name="Reader")
    reveal_type(labels)  # reveals: DataNode
    images = fn.decoders.image(jpegs, device="mixed", output_type=types.RGB)
    reveal_type(images)  # reveals: DataNode
    images = fn.resize(images, size=[224, 224], interp_type=types.INTERP_CUBIC, dtype=types.UINT8)
    resized, sizes = fn.resize(images, resize_x=fn.random.uniform(range=[10, 20]), save_attrs=True)
    reveal_type(sizes)  # reveals: DataNode
    sound, rate = fn.decoders.audio(jpegs, dtype=np.int16)
    angle = 30 * fn.random.coin_flip() - 1.5
    reveal_type(angle)  # reveals: DataNode
    reveal_type(-angle / 2 >= 1)  # reveals: DataNode
    reveal_type(images[:, 0] & 1 == np.uint8(1))  # reveals: DataNode
    images = fn.rotate(images, angle=angle, fill_value=0)
    reveal_type(fn.external_source(source=[[1]], num_outputs=1))  # reveals: list[DataNode]
    reveal_type(fn.python_function(images, function=abs))  # reveals: DataNode
    boxes = fn.readers.coco(file_root=folder, annotations_file="a.json", ratio=True)
    reveal_type(boxes)  # reveals: tuple[DataNode, DataNode, DataNode]
    normal = fn.crop_mirror_normalize(images, mean=np.zeros(3), std=58.4, output_layout="CHW")
    reveal_type(fn.flip([images, images]))  # reveals: list[DataNode]
    reveal_type(fn.decoders.audio([jpegs, jpegs]))  # reveals: list[list[DataNode]]
    reveal_type(fn.cat([images, images], [images, images]))  # reveals: list[DataNode]
    fn.flip([images, "left"])  # error
    fn.resize(images, sise=[224, 224])  # error
    fn.resize(images, size="large")  # error
    fn.resize(images, mode="streched")  # error
    fn.resize(images, interp_type="cubic")  # error
    fn.decoders.image(jpegs, device="tpu")  # error
    fn.rotate()  # error
    _ = images + None  # error
    return normal, labels, resized, sound, rate


pipe = training("train/")
reveal_type(pipe)  # reveals: Pipeline
outputs = pipe.run()
reveal_type(outputs[0].as_cpu())  # reveals: TensorList
print(outputs[0].as_cpu().as_array().mean())
print(outputs[1].as_array()[:, 0], outputs[0].at(3).shape)
reveal_type(outputs[0][0])  # reveals: Tensor
Pipeline(batch_sise=8)  # error

for batch in DataIterator(pipe, ["images", "labels"]):
    reveal_type(batch)  # reveals: dict[str, Array]
typed = DataIterator(pipe, Batch)
for step in typed:
    reveal_type(step)  # reveals: Batch
    step["image"]  # error
reveal_type(typed.next())  # reveals: Batch

picture = jd.imread("dog.jpg")
reveal_type(picture)  # reveals: Tensor
reveal_type(jd.resize(picture, size=[8, 8], dtype=jd.float32))  # reveals: Tensor | Batch
reveal_type(jd.rotate(jd.batch([picture]), angle=3) + 1)  # reveals: Tensor | Batch
jd.rotate(picture, angel=30)  # error
