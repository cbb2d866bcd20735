"""Made by tools/make_stubs.py from the operators' records; do not edit."""

from jdali.ops.decoders import Image as Image
from jdali.ops.decoders import ImageCrop as ImageCrop
from jdali.ops.decoders import ImageRandomCrop as ImageRandomCrop
from jdali.ops.decoders import ImageSlice as ImageSlice
from jdali.ops.decoders import Video as Video

