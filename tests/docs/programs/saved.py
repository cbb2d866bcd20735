"""Definitions and positions that are saved: serialization and checkpoints."""

import numpy as np
import nvidia.dali.fn as fn
from nvidia.dali import pipeline_def
from nvidia.dali.pipeline import Pipeline
from support.target import device_id, keep


def equal(one, other):
    return all(
        np.array_equal(a.at(i), b.at(i)) for a, b in zip(one, other, strict=True) for i in range(len(a))
    )


@pipeline_def(batch_size=3, num_threads=2, device_id=device_id, seed=12, enable_checkpointing=True)
def turned():
    encoded, labels = fn.readers.file(file_root="images", random_shuffle=True)
    angle = fn.random.uniform(range=(-30.0, 30.0))
    return fn.rotate(fn.decoders.image(encoded), angle=angle, fill_value=0, size=(40, 40)), labels, angle


pipe = turned()
pipe.build()
for _ in range(2):
    pipe.run()
pipe.checkpoint("turned.cpt")
with open("turned.cpt", "rb") as file:
    restored = turned(checkpoint=file.read())
restored.build()
keep(continues=[np.array(equal(pipe.run(), restored.run()))])

pipe = turned()
copy = Pipeline(batch_size=3, num_threads=2, device_id=device_id, seed=12)
copy.deserialize_and_build(pipe.serialize())
pipe.build()
keep(copied=[np.array(equal(pipe.run(), copy.run()))])
