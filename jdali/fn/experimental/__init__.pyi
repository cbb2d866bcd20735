"""Made by tools/make_stubs.py from the operators' records; do not edit."""

from jdali.fn.experimental import decoders as decoders
from jdali.fn.experimental import inputs as inputs
from jdali.fn.experimental import readers as readers
from jdali.fn import audio_resample as audio_resample
from jdali.fn.decoders import inflate as inflate
from jdali.fn import peek_image_shape as peek_image_shape

