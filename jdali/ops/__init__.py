"""The operators as pure functions of one sample, for use inside `jit`, `vmap`, `grad` and `shard_map`.

An image goes in with its true size, DALI's arguments by name; arguments that decide the size of the
result must be concrete while tracing. Random operators take a JAX key, first or as `key=`:
`ops.noise.gaussian(jax.random.key(0), image)`. Results of 64-bit types have them only with
`jax_enable_x64`; without it they are 32 bits wide, as everywhere in JAX.

A batch is mapped by `jax.vmap`; a leading axis is not taken for one. Without `layout=`, [N, H, W, C] are the frames of a
sequence, which operators of pictures work on one by one with the same arguments, and [N, T] is a sound of N steps and T channels.
`layout="HWC"` refuses such an array, and so do random operators that would draw once for all frames.
`mixup` and `cutmix` mix the samples of a batch: their inputs have a leading axis of samples; layout, `extent` and `out_shape` are
those of a sample.

Samples of several sizes in one program are padded to one shape. Every function takes two arguments for them:

* `extent`: the true size of the input, int [ndim]; of several inputs a tuple with one size, or None, for each.
  The result is then a pair: the output and its true size, int32 [ndim] (a tuple of each, of several outputs).
  Where it is a tracer, it may decide the sizes of outputs only so far as an axis of them is as long as an
  axis of an input; where an operator works out more from it on the host (a resize its scale, a spectrogram its
  frames), it must be concrete. Inputs that must agree in size are padded alike.
* `out_shape`: a static shape to pad the output to (a tuple of shapes, of several). It must hold the output. None:
  the true size where that is known, else the shape of the padded input.

What lies past the true size is unspecified, in inputs and in outputs, and never shows within it; so it must be
masked before a sum over the output.

In programs of your own, XLA decides where a product and a sum are rounded as one. So an operator called by itself, in
`jit` and in `vmap` may differ in the last bits of a float, and by 1 in an integer that was rounded at a tie. A
pipeline, and what `Pipeline.function` returns, has the same bits in any of them.
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
