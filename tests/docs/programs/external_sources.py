"""External sources: an iterator, a callable, data that are fed, and the classes of `ops`."""

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline
from support.target import GPU, MIXED, device_id, keep


class Source:
    def __init__(self, batch_size):
        with open("images/file_list.txt") as lines:
            self.files = [line.rstrip() for line in lines]
        self.batch_size = batch_size

    def __iter__(self):
        self.i = 0
        return self

    def __next__(self):
        batch, labels = [], []
        for _ in range(self.batch_size):
            name, label = self.files[self.i % len(self.files)].split(" ")
            batch.append(np.fromfile("images/" + name, dtype=np.uint8))
            labels.append(np.array([label], dtype=np.uint8))
            self.i += 1
        return batch, labels


class Brighter(Pipeline):
    def __init__(self, batch_size, num_threads, device_id):
        super().__init__(batch_size, num_threads, device_id, seed=12)
        self.source = ops.ExternalSource(source=Source(batch_size), num_outputs=2)
        self.decode = ops.decoders.Image(device=MIXED, output_type=types.RGB)
        self.enhance = ops.BrightnessContrast(device=GPU, contrast=2)

    def define_graph(self):
        jpegs, labels = self.source()
        return self.enhance(self.decode(jpegs)), labels


pipe = Brighter(batch_size=3, num_threads=2, device_id=device_id)
pipe.build()
images, labels = pipe.run()
keep(images=images.as_cpu(), labels=labels)


class Fed(Pipeline):
    def __init__(self):
        super().__init__(2, 2, device_id)
        self.source = ops.ExternalSource()
        self.cast = ops.Cast(dtype=types.FLOAT)

    def define_graph(self):
        self.data = self.source()
        return self.cast(self.data)

    def iter_setup(self):
        self.feed_input(self.data, [np.full((2, 2), 3, np.uint8), np.full((1, 4), 5, np.uint8)])


pipe = Fed()
pipe.build()
keep(fed=pipe.run()[0])

pipe = Pipeline(batch_size=2, num_threads=2, device_id=device_id)
with pipe:
    pipe.set_outputs(fn.crop(fn.external_source(name="x", layout="HWC"), crop=(3, 4)))
pipe.build()
pipe.feed_input("x", [np.arange(90, dtype=np.uint8).reshape(5, 6, 3)] * 2)
keep(cropped=pipe.run()[0])
