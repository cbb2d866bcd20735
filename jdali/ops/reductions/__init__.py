"""Operators that reduce axes, and those that need a reduction."""

from jdali.ops.reductions import _mean as _mean
from jdali.ops.reductions import _min_max as _min_max
from jdali.ops.reductions import _normalize as _normalize
from jdali.ops.reductions import _sum as _sum
from jdali.ops.reductions import _variance as _variance
