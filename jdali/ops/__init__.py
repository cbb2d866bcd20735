"""Operators as pure functions of one sample, for use inside `jit`, `vmap`, `grad` and `shard_map`.

Arguments have DALI's names. Arguments that decide the size of the result must be concrete while tracing. Random
operators take a JAX key, first or as `key=`: `ops.noise.gaussian(jax.random.key(0), image)`. 64-bit types need
`jax_enable_x64`; without it, results are 32 bits wide, as everywhere in JAX.

Map a batch with `jax.vmap`, because a leading axis does not count as a batch. Without `layout=`, [N, H, W, C] is a sequence
of frames to operators that take only pictures, such as `resize`, which apply the same arguments to all frames. To `crop`,
`crop_mirror_normalize` and `slice` it is a volume, to others, such as `normalize`, one array of four axes. [N, T] is one
sound of N steps and T channels. With `layout="HWC"`, an array of four axes raises an error. Random operators that draw
once for all frames of a sequence require its layout, such as "FHWC". `mixup` and `cutmix` mix the samples of a batch:
their inputs have a leading axis of samples, and layout, `extent` and `out_shape` describe one sample.

Samples of several sizes can share one compiled program if they are padded to one shape. Every function takes two arguments
for this:

* `extent`: true size of the input, int [ndim]; for several inputs a tuple with a size or None for each input.
  The result is then a pair: the output and its true size, int32 [ndim]; for several outputs, two tuples.
  `extent` may be a tracer if each axis of the outputs is static or as long as an axis of an input. It must be concrete
  if the operator computes values from it on the host, such as the scale of a resize or the number of frames of a
  spectrogram.
  Inputs that must have equal sizes must also have the same padded shape.
* `out_shape`: static shape to which the output is padded; for several outputs a tuple of shapes. The output must fit
  into this shape. None: the true size if it is known, else the shape of the padded input.

Values past the true size are unspecified, in inputs and outputs. They never affect values within the true size, but
must be masked before a sum over the output.

In your own programs, XLA decides whether a product and a sum are rounded once or twice. The same operator, called alone,
in `jit` or in `vmap`, may therefore give floats that differ in the last bits, and integers that differ by 1 if the value
before rounding was close to a half. A pipeline and the result of `Pipeline.function` compute the same bits in all cases.
"""

from jdali._operators.surface import ALIASES as _ALIASES
from jdali._operators.surface import class_name as _class_name
from jdali._operators.surface import fill as _fill
from jdali._system.lazy import imported as _imported
from jdali.ops import audio as audio
from jdali.ops import bbox as bbox
from jdali.ops import decoders as decoders
from jdali.ops import flow as flow
from jdali.ops import image as image
from jdali.ops import io as io
from jdali.ops import math as math
from jdali.ops import noise as noise
from jdali.ops import random as random
from jdali.ops import reductions as reductions
from jdali.ops import segmentation as segmentation
from jdali.ops import sequence as sequence
from jdali.ops import tensor as tensor
from jdali.ops import transforms as transforms
from jdali.ops._shown import deprecated as _deprecated
from jdali.ops._shown import shown as _shown

_fill(__name__, _shown, _ALIASES, _class_name, _deprecated)
_imported(__name__, {"Compose": "jdali.fn._classes"})
