"""Provides dynamic mode, in which operators run immediately on a `Tensor` or a `Batch`, without a pipeline.

    >>> import jdali.dynamic as jd
    >>> picture = jd.imread("cat.jpg")
    >>> small = jd.resize(picture, size=(224, 224))

Functions are generated from the operators' definitions, like the functions of `jdali.fn`. JAX compiles most operators,
once for each combination of shapes and static arguments. A compiled operator runs asynchronously. To wait for its
result, convert the result to NumPy or call `evaluate`.

JAX's functions and transformations take arrays, so convert a `Tensor`, or a `Batch` of samples of one size, with
`jax.numpy.asarray`: `jnp.sum(jnp.asarray(small))`.
"""

from jdali import types as types
from jdali._operators.surface import fill as _fill
from jdali._system.lazy import imported as _imported
from jdali.dynamic import _dtype
from jdali.dynamic import capture as capture
from jdali.dynamic import checkpoint as checkpoint
from jdali.dynamic import math as math
from jdali.dynamic import pytorch as pytorch
from jdali.dynamic import random as random
from jdali.dynamic._batch import Batch as Batch
from jdali.dynamic._batch import as_batch as as_batch
from jdali.dynamic._batch import batch as batch
from jdali.dynamic._build import shown as _shown
from jdali.dynamic._context import EvalContext as EvalContext
from jdali.dynamic._context import EvalMode as EvalMode
from jdali.dynamic._context import Stream as Stream
from jdali.dynamic._context import ThreadPool as ThreadPool
from jdali.dynamic._context import get_current_stream as get_current_stream
from jdali.dynamic._context import get_default_stream as get_default_stream
from jdali.dynamic._context import get_num_threads as get_num_threads
from jdali.dynamic._context import set_current_stream as set_current_stream
from jdali.dynamic._context import set_default_stream as set_default_stream
from jdali.dynamic._context import set_num_threads as set_num_threads
from jdali.dynamic._context import stream as stream
from jdali.dynamic._device import Device as Device
from jdali.dynamic._device import device as device
from jdali.dynamic._dtype import DataType as DataType
from jdali.dynamic._dtype import DType as DType
from jdali.dynamic._dtype import ImageType as ImageType
from jdali.dynamic._dtype import InterpType as InterpType
from jdali.dynamic._dtype import bfloat16 as bfloat16
from jdali.dynamic._dtype import dtype as dtype
from jdali.dynamic._dtype import float16 as float16
from jdali.dynamic._dtype import float32 as float32
from jdali.dynamic._dtype import float64 as float64
from jdali.dynamic._dtype import int8 as int8
from jdali.dynamic._dtype import int16 as int16
from jdali.dynamic._dtype import int32 as int32
from jdali.dynamic._dtype import int64 as int64
from jdali.dynamic._dtype import type_id as type_id
from jdali.dynamic._dtype import uint8 as uint8
from jdali.dynamic._dtype import uint16 as uint16
from jdali.dynamic._dtype import uint32 as uint32
from jdali.dynamic._dtype import uint64 as uint64
from jdali.dynamic._external_source import ExternalSource as ExternalSource
from jdali.dynamic._tensor import Tensor as Tensor
from jdali.dynamic._tensor import as_tensor as as_tensor
from jdali.dynamic._tensor import tensor as tensor

bool = _dtype.boolean

_fill(__name__, _shown, {"experimental.resize": "resize"})  # DALI's only deprecated alias here
_imported(__name__, {"imread": "jdali.dynamic._imread"})  # lazy, because `_imread` loads the decoder
