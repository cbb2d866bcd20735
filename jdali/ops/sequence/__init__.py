"""Operators on sequences of frames."""

from jdali.ops.sequence import _optical_flow as _optical_flow
from jdali.ops.sequence import _per_frame as _per_frame
from jdali.ops.sequence import _sequence_rearrange as _sequence_rearrange
