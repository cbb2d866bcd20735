"""A source whose samples processes make."""

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from support.numbered_samples import Samples
from support.target import device_id, keep


@pipeline_def(batch_size=4, num_threads=2, device_id=device_id, py_num_workers=1, py_start_method="spawn")
def numbered():
    data, label = fn.external_source(
        source=Samples(2), num_outputs=2, batch=False, parallel=True, dtype=[types.INT32, types.INT32]
    )
    return data + 1, label


pipe = numbered()
pipe.build()
data, label = pipe.run()
keep(data=data, label=label)
more = 0
try:
    while True:
        pipe.run()
        more += 1
except StopIteration:
    pipe.reset()
keep(more=[np.int64(more)], again=pipe.run()[1])
