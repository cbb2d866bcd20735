from jdali.ops.math import _arithmetic as _arithmetic
from jdali.ops.math import _bitwise as _bitwise
from jdali.ops.math import _comparison as _comparison
from jdali.ops.math import _functions as _functions
