"""Operators that pick, move or hand out whole batches, and those that call the user's Python."""

from jdali.ops.flow import _batch_permutation as _batch_permutation
from jdali.ops.flow import _constant as _constant
from jdali.ops.flow import _dl_tensor_python_function as _dl_tensor_python_function
from jdali.ops.flow import _dump_image as _dump_image
from jdali.ops.flow import _jax_function as _jax_function
from jdali.ops.flow import _python_function as _python_function
from jdali.ops.flow import _regroup as _regroup
from jdali.ops.flow import _source as _source
from jdali.ops.flow import _video_input as _video_input
