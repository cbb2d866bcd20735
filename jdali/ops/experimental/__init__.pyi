"""Made by tools/make_stubs.py from the operators' records; do not edit."""

from jdali.ops.experimental import decoders as decoders
from jdali.ops.experimental import inputs as inputs
from jdali.ops.experimental import readers as readers
from jdali.ops import AudioResample as AudioResample
from jdali.ops.decoders import Inflate as Inflate
from jdali.ops import PeekImageShape as PeekImageShape

