"""Debug mode: nodes have values, which are printed and read, and arrays are inputs."""

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali.pipeline.experimental import pipeline_def
from support.target import device_id, keep


@pipeline_def(batch_size=2, num_threads=1, device_id=device_id)
def looked_at(print_it):
    encoded, labels = fn.readers.file(file_root="images")
    image = fn.decoders.image(encoded, device="cpu")
    if print_it:
        keep(printed=str(image).split("(")[0], seen=image.get())
    return fn.rotate(image, angle=90.0, fill_value=0), labels


outputs = []
for debug in (True, False):
    pipe = looked_at(debug, debug=debug)
    pipe.build()
    outputs.append(pipe.run()[0].at(0))
np.testing.assert_array_equal(*outputs)


@pipeline_def(batch_size=2, num_threads=1, device_id=device_id, debug=True)
def of_arrays():
    return fn.cast([np.full((2, 3), i) for i in range(2)], dtype=types.FLOAT) + np.float32(1)


pipe = of_arrays()
pipe.build()
(arrays,) = pipe.run()
assert [arrays.at(i)[0, 0] for i in range(2)] == [1, 2]
