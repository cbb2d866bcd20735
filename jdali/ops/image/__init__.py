from jdali.ops.image import _brightness_contrast as _brightness_contrast
from jdali.ops.image import _crop as _crop
from jdali.ops.image import _crop_mirror_normalize as _crop_mirror_normalize
