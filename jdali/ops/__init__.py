"""The operators as pure functions of one sample, for use inside `jit`, `vmap`, `grad` and `shard_map`.

An image goes in with its true size, DALI's arguments by name; arguments that decide the size of the
result must be concrete while tracing. Random operators take a JAX key first. Results of 64-bit types
have them only with `jax_enable_x64`; without it they are 32 bits wide, as everywhere in JAX.
"""

import sys

from jdali._operator import REGISTRY
from jdali._surface import place
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
from jdali.ops import sequence as sequence
from jdali.ops import tensor as tensor
from jdali.ops import transforms as transforms
from jdali.ops._pure import make_pure

for _op in list(REGISTRY.values()):
    if _op.kind == "device" and not _op.name.startswith("_"):
        place(sys.modules[__name__], _op.name, make_pure(_op), sys.modules)
