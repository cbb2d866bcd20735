"""Operators on tensors of any kind: types, shapes, joining, filling, looking up."""

from jdali.ops.tensor import _axes_of_size_one as _axes_of_size_one
from jdali.ops.tensor import _cast as _cast
from jdali.ops.tensor import _element_extract as _element_extract
from jdali.ops.tensor import _full as _full
from jdali.ops.tensor import _join as _join
from jdali.ops.tensor import _lookup_table as _lookup_table
from jdali.ops.tensor import _one_hot as _one_hot
from jdali.ops.tensor import _reshape as _reshape
from jdali.ops.tensor import _shapes as _shapes
from jdali.ops.tensor import _subscript as _subscript
from jdali.ops.tensor import _transpose as _transpose
