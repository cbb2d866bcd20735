"""Pictures of what the image operators do: each at a few settings, on one photograph."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import jdali.dynamic as jd
from jdali import types
from website.sources import photograph

# Settings by operator. The photograph is the first input.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "brightness": [{"brightness": 0.6}, {"brightness": 1.5}],
    "brightness_contrast": [{"brightness": 1.2, "contrast": 0.6}, {"contrast": 1.6}],
    "clahe": [{"tiles_x": 8, "tiles_y": 8, "clip_limit": 3.0}],
    "color_space_conversion": [
        {"image_type": types.RGB, "output_type": types.GRAY},
        {"image_type": types.RGB, "output_type": types.BGR},
    ],
    "color_twist": [{"hue": 60.0}, {"saturation": 2.0, "brightness": 1.1}],
    "contrast": [{"contrast": 0.5}, {"contrast": 1.7}],
    "crop": [{"crop": (100, 100)}, {"crop": (80, 200), "crop_pos_y": 0.0}],
    "equalize": [{}],
    "erase": [
        {"anchor": (40.0, 60.0), "shape": (60.0, 80.0), "axis_names": "HW"},
        {"anchor": (0.1, 0.1, 0.5, 0.6), "shape": (0.2, 0.2, 0.3, 0.3), "normalized": True, "fill_value": 255},
    ],
    "experimental.dilate": [{"mask_size": (7, 7)}],
    "experimental.erode": [{"mask_size": (7, 7)}],
    "experimental.median_blur": [{}, {"window_size": (9, 9)}],
    "experimental.warp_perspective": [
        {"matrix": np.array([[1, 0.2, -20], [0.05, 1.1, -10], [0.0004, 0.0008, 1]], np.float32), "fill_value": 0.0}
    ],
    "flip": [{}, {"horizontal": 0, "vertical": 1}],
    "gaussian_blur": [{"sigma": 2.0}, {"sigma": 6.0}],
    "grid_mask": [{"tile": 40}, {"tile": 60, "ratio": 0.4, "angle": 0.6}],
    "hsv": [{"hue": 120.0}, {"saturation": 0.3, "value": 1.2}],
    "hue": [{"hue": 90.0}],
    "jitter": [{"nDegree": 8}],
    "jpeg_compression_distortion": [{"quality": 5}, {"quality": 30}],
    "laplacian": [{"window_size": 5, "dtype": types.UINT8, "scale": 0.2}],
    "noise.gaussian": [{"stddev": 40.0}],
    "noise.salt_and_pepper": [{"prob": 0.1}],
    "noise.shot": [{"factor": 20.0}],
    "pad": [{"axis_names": "HW", "align": (256, 256)}],
    "paste": [{"ratio": 1.5, "fill_value": (30, 60, 90)}],
    "random_resized_crop": [{"size": (160, 160)}],
    "resize": [{"size": (60, 90)}, {"size": (160, 60), "interp_type": types.INTERP_NN}],
    "resize_crop_mirror": [{"resize_shorter": 120.0, "crop": (100, 100), "mirror": 1}],
    "rotate": [{"angle": 20.0}, {"angle": 45.0, "fill_value": 128.0, "keep_size": True}],
    "saturation": [{"saturation": 0.2}, {"saturation": 2.5}],
    "sphere": [{}],
    "tensor_resize": [{"sizes": (60, 90), "axes": (0, 1)}],
    "warp_affine": [{"matrix": (1.0, 0.3, -20.0, 0.1, 0.9, 10.0), "fill_value": 0.0}],
    "water": [{}, {"ampl_x": 20.0, "ampl_y": 5.0}],
}  # fmt: skip


def described(settings: dict[str, Any]) -> str:
    """Settings as they are written in a call."""
    return ", ".join(f"{name}={_value(value)}" for name, value in settings.items()) or "no arguments"


def _value(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    return f"types.{value.name}" if hasattr(value, "name") else repr(value)


def draw_settings(name: str, folder: Path) -> list[tuple[str, str]]:
    """Writes the pictures of an operator.

    Args:
        name: of the operator.
        folder: where to.

    Returns: the file's name and the settings of each.
    """
    function: Any = functools.reduce(getattr, name.split("."), jd)
    picture = jd.tensor(photograph(), layout="HWC")
    made = []
    jd.random.set_seed(1)  # the same pictures whenever they are made
    for number, settings in enumerate(SETTINGS[name]):
        array = np.asarray(function(picture, **settings).cpu())
        array = array[..., 0] if array.shape[-1] == 1 else array
        file = f"{name}-{number}.png"
        Image.fromarray(np.clip(array, 0, 255).astype(np.uint8)).save(folder / file)
        made.append((file, described(settings)))
    return made
