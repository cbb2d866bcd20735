"""Options of DALI's pipelines that say nothing to XLA."""

from __future__ import annotations

import enum
from typing import Any


class StreamPolicy(enum.Enum):
    """DALI's CUDA stream policies; XLA schedules its own streams, so all are without effect."""

    UNSPECIFIED = -1
    SINGLE = 0
    PER_BACKEND = 1
    PER_OPERATOR = 2


class OperatorConcurrency(enum.Enum):
    """DALI's operator concurrency; without effect, the plan of the stages decides."""

    UNSPECIFIED = -1
    NONE = 0
    BACKEND = 1
    FULL = 2


# Arguments of DALI's Pipeline that steer CUDA memory or streams. They are taken so
# that DALI code runs unchanged, kept as attributes, and have no effect under XLA.
WITHOUT_EFFECT: dict[str, Any] = {
    "bytes_per_sample": 0,
    "set_affinity": False,
    "max_streams": None,
    "default_cuda_stream_priority": None,
    "enable_memory_stats": False,
    "exec_dynamic": None,
    "experimental_exec_dynamic": None,
    "stream_policy": None,
    "concurrency": None,
}
