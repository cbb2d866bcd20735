"""Made by tools/make_stubs.py from the operators' records; do not edit."""

from jdali.dynamic.experimental import decoders as decoders
from jdali.dynamic.experimental import readers as readers

