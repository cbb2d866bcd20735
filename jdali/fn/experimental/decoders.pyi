"""Made by tools/make_stubs.py from the operators' records; do not edit."""

from jdali.fn.decoders import image as image
from jdali.fn.decoders import image_crop as image_crop
from jdali.fn.decoders import image_random_crop as image_random_crop
from jdali.fn.decoders import image_slice as image_slice
from jdali.fn.decoders import video as video

