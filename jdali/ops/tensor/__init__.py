from jdali.ops.tensor import _shapes as _shapes
from jdali.ops.tensor import _subscript as _subscript
