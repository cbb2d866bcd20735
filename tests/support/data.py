"""Small test data made on the spot, and where the shared data pack is, if it is there."""

from __future__ import annotations

from pathlib import Path

import numpy as np

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def image(
    height: int, width: int, channels: int | None = 3, dtype: object = np.uint8, seed: int = 0
) -> np.ndarray:
    """A smooth picture with some noise, over the whole range of `dtype` (0 to 1 for floats)."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width] / max(height, width, 1)
    planes = [np.sin((3 + c) * x + (2 + seed) * y) * 0.4 + 0.5 for c in range(channels or 1)]
    value = np.stack(planes, axis=-1) + rng.normal(0, 0.05, (height, width, channels or 1))
    value = np.clip(value, 0, 1)
    kind = np.dtype(dtype)
    if kind.kind == "f":
        out = value.astype(kind)
    elif kind.kind == "b":
        out = value > 0.5
    else:
        limits = np.iinfo(kind)
        low, high = (float(limits.min), float(limits.max)) if kind.itemsize < 4 else (-1e6, 1e6)
        low = max(low, float(limits.min))
        out = (low + value * (high - low)).astype(kind)
    return out[..., 0] if channels is None else out
