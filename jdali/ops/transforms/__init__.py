from jdali.ops.transforms import _combine as _combine
from jdali.ops.transforms import _coord_transform as _coord_transform
from jdali.ops.transforms import _crop as _crop
from jdali.ops.transforms import _rotation as _rotation
from jdali.ops.transforms import _scale as _scale
from jdali.ops.transforms import _shear as _shear
from jdali.ops.transforms import _translation as _translation
