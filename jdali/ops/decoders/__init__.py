from jdali.ops.decoders import _audio as _audio
from jdali.ops.decoders import _image as _image
from jdali.ops.decoders import _image_crop as _image_crop
from jdali.ops.decoders import _image_random_crop as _image_random_crop
from jdali.ops.decoders import _image_slice as _image_slice
from jdali.ops.decoders import _inflate as _inflate
from jdali.ops.decoders import _numpy as _numpy
from jdali.ops.decoders import _peek_image_shape as _peek_image_shape
