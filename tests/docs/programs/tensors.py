"""Reductions, joining and reinterpreting, with pipelines that `with` fills."""

import numpy as np
import nvidia.dali as dali
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import backend, pipeline_def
from nvidia.dali.pipeline import Pipeline
from support.target import device_id, keep


def get_batch():
    return [np.arange(8, dtype=np.int32).reshape(2, 2, 2) * (i + 1) for i in range(2)]


pipe = Pipeline(batch_size=2, num_threads=2, device_id=device_id)
with pipe:
    data = fn.external_source(source=get_batch, layout="ABC")
    mean = fn.reductions.mean(data)
    pipe.set_outputs(
        fn.reductions.min(data, axis_names="AC"), fn.reductions.max(data, axes=(0, 1), keep_dims=True),
        fn.reductions.min(data, axes=()), fn.reductions.sum(data, dtype=types.INT64), mean,
        fn.reductions.std_dev(data, mean), fn.reductions.variance(data, mean, keep_dims=True),
        fn.reductions.rms(data, axes=(), dtype=types.FLOAT), fn.reductions.mean_square(data),
    )  # fmt: skip
pipe.build()
for i, out in enumerate(pipe.run()):
    out = out.as_cpu() if type(out) is backend.TensorListGPU else out
    keep(**{f"reduced{i}": out.as_array()})

constants = [types.Constant(np.arange(6).reshape(2, 3) + 100 * i) for i in range(3)]
pipe = dali.pipeline.Pipeline(batch_size=1, num_threads=2, device_id=device_id)
with pipe:
    joined = [fn.cat(*constants, axis=axis) for axis in range(2)]
    pipe.set_outputs(*joined, *[fn.stack(*constants, axis=axis) for axis in range(3)])
pipe.build()
keep(**{f"joined{i}": output.at(0) for i, output in enumerate(pipe.run())})


@pipeline_def(device_id=device_id, num_threads=2, batch_size=2)
def reinterpreted(source):
    flat = fn.external_source(source, batch=False, dtype=types.INT32)
    picture = fn.reshape(flat, shape=[-1, 6], layout="HW")
    framed = fn.expand_dims(picture, axes=[0, 3], new_axis_names="FC")
    halved = fn.reshape(picture, rel_shape=[0.5, 2], src_dims=[0, 1])
    return picture, framed, fn.squeeze(framed, axes=[0]), halved, fn.reinterpret(flat, dtype=types.UINT8)


pipe = reinterpreted(lambda info: np.arange(12 * (1 + info.idx_in_batch), dtype=np.int32))
pipe.build()
outputs = pipe.run()
keep(**{f"view{i}": output for i, output in enumerate(outputs)})
keep(layouts=[output.layout() for output in outputs])
