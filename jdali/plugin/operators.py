"""Exports the decorators and types for writing operators in a plugin.

See the guide in docs/custom_operators.md; `jdali.plugin_manager` loads such operators.
"""

from jdali._batches import BatchSpec, Plan, valid_mask
from jdali._errors import SampleError
from jdali._kernels.take_window import fit_axis
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import PerFrame, PerSample, Static, batch_operator, host_operator, operator

__all__ = [
    "BatchSpec",
    "PerFrame",
    "PerSample",
    "Plan",
    "SampleError",
    "Static",
    "batch_operator",
    "fit_axis",
    "host_operator",
    "operator",
    "saturate_cast",
    "valid_mask",
]
