"""Single augmentations at every magnitude, compared with DALI's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support import oracle

import jdali
from jdali import fn, types
from jdali.auto_aug import augmentations as a
from jdali.auto_aug.core import signed_bin

BINS = 11
# Largest difference in gray levels, and why it is not 0.
TOLERANCES = {
    # Coordinates are computed in another order, so a sample between two pixels may get a weight that differs in
    # the last bit, which shows where the result is near a half.
    "shear_x": 1, "shear_y": 1, "translate_x": 1, "translate_y": 1, "translate_x_no_shape": 1,
    "translate_y_no_shape": 1, "rotate": 1,
    # The mean is summed in another order.
    "contrast": 1,
}  # fmt: skip
MOVING = [
    "shear_x", "shear_y", "translate_x", "translate_y", "translate_x_no_shape", "translate_y_no_shape", "rotate",
]  # fmt: skip
NAMES = [
    *MOVING,
    "brightness", "contrast", "color", "sharpness", "posterize", "solarize", "solarize_add", "invert", "equalize",
    "auto_contrast", "identity",
]  # fmt: skip


def pictures(count: int, frames: int = 0) -> list[np.ndarray]:
    """Pictures with smooth and with rough parts, of sizes that differ.

    None is wider or higher than 12 pixels: then no magnitude puts a coordinate between two pixels, where the
    last bit of it would decide which of them is the nearest.
    """
    rng = np.random.default_rng(5)
    made = []
    for i in range(count):
        lead = (frames,) if frames else ()
        height, width = (12, 9) if i % 3 else (10, 12)
        slope = np.linspace(20, 200, width)[None, :, None] + np.linspace(0, 40, height)[:, None, None]
        rough = rng.integers(-30, 30, (*lead, height, width, 3))
        made.append(np.clip(slope + rough, 0, 255).astype(np.uint8))
    return made


def every_bin() -> tuple[list[np.int32], list[np.int32]]:
    """Each magnitude with either sign."""
    bins = [np.int32(i) for i in range(BINS) for _ in range(2)]
    return bins, [np.int32(i % 2) for i in range(2 * BINS)]


def dalis(
    names: list[str], images: list[np.ndarray], layout: str, kwargs: dict[str, Any]
) -> dict[str, list[np.ndarray]]:
    """What DALI makes of each image at each magnitude."""
    oracle.dali()
    from nvidia.dali.auto_aug import augmentations as theirs
    from nvidia.dali.auto_aug.core import signed_bin as their_signed_bin

    translated = {k: oracle.translate(v) for k, v in kwargs.items()}

    def call(data: Any, bins: Any, signs: Any) -> Any:
        signed = their_signed_bin(bins, signs)
        return tuple(
            getattr(theirs, name)(data, magnitude_bin=signed, num_magnitude_bins=BINS, **translated)
            for name in names
        )

    found, _ = oracle.run_call(call, [images, *every_bin()], layout=[layout, "", ""])
    return dict(zip(names, found, strict=True))


def ours(
    names: list[str], images: list[np.ndarray], layout: str, kwargs: dict[str, Any], device: str = "cpu"
) -> dict[str, list[np.ndarray]]:
    """What jdali makes of them, in one pipeline."""

    @jdali.pipeline_def(batch_size=len(images), num_threads=1)
    def pipeline() -> Any:
        feed = [
            fn.external_source(source=[list(v)], cycle=True, layout=name or None)
            for v, name in zip([images, *every_bin()], [layout, "", ""], strict=True)
        ]
        data = feed[0].gpu() if device == "gpu" else feed[0]
        signed = signed_bin(feed[1], feed[2])
        return tuple(
            getattr(a, name)(data, magnitude_bin=signed, num_magnitude_bins=BINS, **kwargs) for name in names
        )

    pipe = pipeline()
    outputs = pipe.run()
    return {
        name: [np.asarray(o.as_cpu().at(i)) for i in range(len(images))]
        for name, o in zip(names, outputs, strict=True)
    }


def largest_difference(found: list[np.ndarray], expected: list[np.ndarray]) -> int:
    assert [(f.shape, f.dtype) for f in found] == [(e.shape, e.dtype) for e in expected]
    return max(int(np.abs(f.astype(int) - e.astype(int)).max()) for f, e in zip(found, expected, strict=True))


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("names", "frames", "layout", "options"),
    [
        (NAMES, 0, "HWC", {}),
        (["contrast", "rotate", "equalize", "auto_contrast"], 2, "FHWC", {}),
        (MOVING, 0, "HWC", {"fill_value": None, "interp_type": types.INTERP_NN}),
    ],
    ids=["images", "sequences", "nearest neighbour with repeated borders"],
)
def test_every_augmentation_at_every_magnitude(
    names: list[str], frames: int, layout: str, options: dict[str, Any]
) -> None:
    images = pictures(2 * BINS, frames)
    kwargs = {"shape": [12, 11], **options}
    found, expected = ours(names, images, layout, kwargs), dalis(names, images, layout, kwargs)
    differences = {name: largest_difference(found[name], expected[name]) for name in names}
    assert {n: d for n, d in differences.items() if d > TOLERANCES.get(n, 0)} == {}
