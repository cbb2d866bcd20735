"""Expressions on nodes: operators, constants, scalars, types, comparisons, masks."""

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.types import Constant
from support.target import device_id, keep

left = [np.int32([[42, 7, 0], [0, 1, 2]]), np.int32([[5, 10, 15], [10, 100, 1000]])]
right = [np.int32([[3, 3, 3], [1, 3, 5]]), np.int32([[1, 5, 5], [1, 1, 1]])]

pipe = Pipeline(batch_size=2, num_threads=2, device_id=device_id)
with pipe:
    a, b = fn.external_source(source=lambda: (left, right), num_outputs=2)
    scalars = fn.external_source(lambda: np.arange(1, 3))
    small = fn.cast(a, dtype=types.UINT8)
    pipe.set_outputs(
        a + b, a * b, a // b, a / b, a + 200, a * 0.75, Constant(15).float32() - b, a + scalars,
        small * Constant(10).uint8(), small & 240, (small > 6) | (small < 2), -a, small * (small > 6),
    )  # fmt: skip
pipe.build()
keep(**{f"output{i}": output.as_array() for i, output in enumerate(pipe.run())})
keep(text=[str(Constant(10)), str(Constant(10.0, types.DALIDataType.UINT8))])
keep(kind=[types.to_dali_type(np.dtype(np.float32).name).name])
