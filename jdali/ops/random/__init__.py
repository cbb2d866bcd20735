from jdali.ops.random import _beta as _beta
from jdali.ops.random import _choice as _choice
from jdali.ops.random import _coin_flip as _coin_flip
from jdali.ops.random import _normal as _normal
from jdali.ops.random import _uniform as _uniform
