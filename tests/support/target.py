"""Tells the programs of `docs/programs` where they run, and takes their outputs."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

# The CPU backend of the real DALI, which needs no GPU, takes no other device.
_REAL = os.environ.get("PROGRAMS_TARGET") == "real"
device_id = None if _REAL else 0
GPU = "cpu" if _REAL else "gpu"
MIXED = "cpu" if _REAL else "mixed"

kept: dict[str, list[np.ndarray]] = {}


def keep(**outputs: Any) -> None:
    """Keeps the samples of batches, tensors and lists of arrays, by name."""
    kept.update((name, _arrays(output)) for name, output in outputs.items())


def _arrays(output: Any) -> list[np.ndarray]:
    output = output.as_cpu() if hasattr(output, "as_cpu") else output
    if hasattr(output, "at"):
        return [np.array(output.at(i)) for i in range(len(output))]
    is_batch = isinstance(output, (list, tuple)) or type(output).__name__ == "Batch"
    return [np.array(sample) for sample in output] if is_batch else [np.array(output)]
