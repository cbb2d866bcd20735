"""A small example of every compiled operator, for `test_pure_functions` and, made ragged, `test_every_operator`.

A case holds three samples of one shape. What a case says of derivatives is mathematics, not what
jdali happens to do: `grad` names all that the result changes smoothly with, `constant` says in words
why nothing, or something a reader would expect there, has no derivative.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from support.data import image
from support.some import DRAW, drawn

from jdali import types

COUNT = 3


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """One example of one operator.

    Attributes:
        op: name of the operator.
        inputs: each input as [COUNT, ...]; a NumPy scalar or array of another length is no input.
        args: arguments with one value, among them those that must be concrete.
        traced: arguments with a value a sample, which are tracers in compiled code.
        grad: what the sum of the outputs can be differentiated by: numbers of inputs, names of `traced`.
        constant: why there is no derivative (by some inputs or arguments).
        refused: for each argument that decides sizes a call that must be refused if it is a tracer.
        layout: of the inputs.
        step: for finite differences; small enough to meet no kink, large enough for float32.
        atol: largest difference between compiled and eager integers, 0 or 1 where roundings can tie.
        ragged: of each input the axes whose size may differ by sample: a letter each, the same for the same
            size, "." for an axis that may not; None: see `sweep_cases.ragged_axes`.
        label: tells cases of one operator apart.
    """

    op: str
    inputs: Sequence[np.ndarray] = ()
    args: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    traced: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    grad: Sequence[int | str] = ()
    constant: str = ""
    refused: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    layout: str | tuple[str, ...] = ""
    step: float = 0.01
    atol: int = 0
    ragged: Sequence[str] | None = None
    label: str = ""

    def __str__(self) -> str:
        return self.op + ("-" + self.label if self.label else "")


def numbers(low: float, high: float, *shape: int, seed: int = 0, dtype: Any = np.float32) -> np.ndarray:
    """[COUNT, *shape] between `low` and `high`, no two of them close: they are evenly spaced and shuffled."""
    size = COUNT * int(np.prod(shape, dtype=int))
    spaced = low + (np.arange(size) + 0.5) * (high - low) / size
    return np.random.default_rng(seed).permutation(spaced).astype(dtype).reshape(COUNT, *shape)


def pictures(height: int, width: int, channels: int = 3, dtype: Any = np.float32) -> np.ndarray:
    return np.stack([image(height, width, channels, dtype, seed) for seed in range(COUNT)])


def alone(**values: Any) -> dict[str, dict[str, Any]]:
    """`refused` for arguments that each make a call by themselves."""
    return {name: {name: value} for name, value in values.items()}


MATRICES = np.stack([np.float32([[0.9, 0.2, 0.3 + i], [-0.1, 1.1, -0.4]]) for i in range(COUNT)])
PERSPECTIVES = np.stack(
    [np.float32([[0.9, 0.2, 0.3 + i], [-0.1, 1.1, -0.4], [0.01, -0.02 * i, 1]]) for i in range(COUNT)]
)
VOLUMES = np.stack([pictures(4, 5), pictures(4, 5)[::-1]], axis=1)  # DHWC
# Each overlaps another anchor of the case that it belongs to.
BOXES = (
    np.float32([[[0.1, 0.12, 0.48, 0.5], [0.52, 0.5, 0.88, 0.93]]])
    + np.float32([0, 0.01, 0.02])[:, None, None]
)
INDICES = "it is made of integers"
COPIES = "elements are picked by whole positions, which jump"

TENSOR = [
    Case("squeeze", [numbers(0, 1, 3, 1, 2)], {"axes": (1,)}, grad=[0]),
    Case("expand_dims", [numbers(0, 1, 3)], {"axes": (0,)}, grad=[0]),
    Case("cast", [numbers(0, 9, 4)], {"dtype": types.INT8}, constant="rounded to integers"),
    # The step is large because float16 has 11 bits.
    Case("cast", [numbers(0, 1, 4)], {"dtype": types.FLOAT16}, grad=[0], step=0.25, label="float"),
    Case(
        "cast_like", [numbers(0, 1, 4), numbers(0, 1, 2, dtype=np.float16)], grad=[0], step=0.25,
        constant="of the second input only the type counts",
    ),
    Case("element_extract", [numbers(0, 1, 3, 2)], {"element_map": (2, 0)}, grad=[0]),
    Case("full", [numbers(0, 1, 3)], {"shape": (2, 3)}, grad=[0], refused=alone(shape=(2, 3)), ragged=["."]),
    Case(
        "full_like", [numbers(0, 1, 2, 3), numbers(0, 1, 3)], grad=[1],
        constant="of the first input only shape and type count",
    ),
    Case("zeros", args={"shape": (2, 3)}, constant="no input", refused=alone(shape=(2, 3))),
    Case("ones", args={"shape": (2,), "dtype": types.FLOAT}, constant="no input", refused=alone(shape=(2,))),
    Case("zeros_like", [numbers(0, 1, 3)], constant="only the input's shape and type count"),
    Case("ones_like", [numbers(0, 1, 3)], constant="only the input's shape and type count"),
    Case("stack", [numbers(0, 1, 2, 3), numbers(0, 1, 2, 3, seed=1)], {"axis": 1}, grad=[0, 1]),
    Case("cat", [numbers(0, 1, 2, 3), numbers(0, 1, 1, 3, seed=1)], grad=[0, 1]),
    Case(
        "lookup_table", [numbers(0, 5, 4, dtype=np.uint8)],
        {"keys": (1, 3), "values": (0.5, 7.0), "default_value": -1.0}, constant=INDICES,
    ),
    Case("one_hot", [numbers(0, 5, 2, dtype=np.int32)], {"num_classes": 4}, constant=INDICES),
    Case(
        "reshape", [numbers(0, 1, 2, 3)], {"shape": (3, -1)}, grad=[0], ragged=["b."],
        refused=alone(shape=(3, 2), rel_shape=(0.5, -1.0), src_dims=(1, 0)),
    ),
    Case(
        "reinterpret", [numbers(0, 1, 2, 3)], {"dtype": types.INT32}, constant="a float's bits are no number",
        ragged=["b."],
        refused=alone(shape=(3, 2), rel_shape=(0.5, -1.0), src_dims=(1, 0)),
    ),
    Case("shapes", [numbers(0, 1, 2, 3)], {"dtype": np.int32}, constant=INDICES),
    Case("transpose", [numbers(0, 1, 2, 3, 2)], {"perm": (2, 0, 1)}, grad=[0]),
    Case("constant", args={"fdata": (0.5, 1.5), "shape": (1, 2)}, constant="its numbers are compiled in"),
    Case("per_frame", [numbers(0, 1, 2, 3)], grad=[0], ragged=["ba"]),
    Case(
        "optical_flow", [numbers(0, 255, 2, 6, 7, 1, dtype=np.uint8)],
        {"image_type": types.GRAY, "output_grid": 2, "preset": 0.5}, constant="takes integers", layout="FHWC",
        ragged=[".ba."],
    ),
    Case(
        "sequence_rearrange", [numbers(0, 1, 3, 2)], {"new_order": (2, 0, 2, 1)}, grad=[0],
        refused=alone(new_order=(1, 0, 0)), ragged=["ba"],
    ),
]  # fmt: skip

AUDIO = [
    Case(
        "audio_resample", [numbers(-1, 1, 8)], {"scale": 1.5}, grad=[0],
        refused=alone(scale=1.5, out_length=5)
        | {"in_rate": {"in_rate": 2.0, "out_rate": 3.0}, "out_rate": {"in_rate": 2.0, "out_rate": 3.0}},
    ),
    Case("mel_filter_bank", [numbers(0, 1, 5, 2)], {"nfilter": 3, "sample_rate": 8000.0}, grad=[0]),
    Case("mfcc", [numbers(0, 1, 5, 2)], {"n_mfcc": 3, "lifter": 4.0}, grad=[0]),
    Case(
        "nonsilent_region", [numbers(-1, 1, 8) ** 3], {"window_length": 2, "cutoff_db": -10.0},
        constant="indices of samples",
    ),
    Case("power_spectrum", [numbers(-1, 1, 8)], grad=[0]),
    Case("power_spectrum", [numbers(-1, 1, 8)], {"nfft": 4, "power": 1}, grad=[0], label="magnitude"),
    Case(
        "preemphasis_filter", [numbers(-1, 1, 8)], traced={"preemph_coeff": [0.9, 0.5, 0.0]},
        grad=[0, "preemph_coeff"],
    ),
    Case("spectrogram", [numbers(-1, 1, 8)], {"window_length": 4, "window_step": 2}, grad=[0]),
    Case("to_decibels", [numbers(0.5, 2, 2, 3)], {"multiplier": 20.0}, grad=[0]),
]  # fmt: skip

COLOUR = [
    Case(
        "brightness_contrast", [pictures(3, 4)],
        traced={
            "brightness": [1.5, 0.5, 1.0], "brightness_shift": [0.1, 0.0, -0.1],
            "contrast": [0.5, 1.5, 1.0], "contrast_center": [0.4, 0.5, 0.0],
        },
        grad=[0, "brightness", "brightness_shift", "contrast", "contrast_center"],
    ),
    Case(
        "brightness_contrast", [pictures(3, 4, dtype=np.uint8)], traced={"brightness": [1.5, 0.3, 1.0]},
        constant="rounded to integers", atol=1, label="uint8",
    ),
    Case(
        "brightness", [pictures(3, 4)],
        traced={"brightness": [1.5, 0.5, 1.0], "brightness_shift": [0.1, 0.0, -0.1]},
        grad=[0, "brightness", "brightness_shift"],
    ),
    Case(
        "contrast", [pictures(3, 4)],
        traced={"contrast": [0.5, 1.5, 1.0], "contrast_center": [0.4, 0.5, 0.0]},
        grad=[0, "contrast", "contrast_center"],
    ),
    Case(
        "color_space_conversion", [pictures(3, 4, dtype=np.uint8)],
        {"image_type": types.RGB, "output_type": types.YCbCr}, constant="takes and gives uint8", atol=1,
    ),
    Case(
        "hsv", [pictures(3, 4)], {"dtype": types.FLOAT},
        {"hue": [20.0, -70.0, 0.0], "saturation": [0.5, 1.0, 2.0], "value": [1.5, 1.0, 0.5]},
        grad=[0, "hue", "saturation", "value"], step=0.05,
    ),
    Case("hue", [pictures(3, 4)], traced={"hue": [20.0, -70.0, 0.0]}, grad=[0, "hue"], step=0.05),
    Case("saturation", [pictures(3, 4)], traced={"saturation": [0.5, 1.0, 2.0]}, grad=[0, "saturation"]),
    Case(
        "color_twist", [pictures(3, 4)],
        traced={
            "brightness": [1.5, 0.5, 1.0], "contrast": [0.5, 1.5, 1.0],
            "hue": [20.0, -70.0, 0.0], "saturation": [0.5, 1.0, 2.0],
        },
        grad=[0, "brightness", "contrast", "hue", "saturation"], step=0.05,
    ),
    Case(
        "clahe", [pictures(6, 7, dtype=np.uint8)], {"tiles_x": 2, "tiles_y": 3, "clip_limit": 2.0},
        constant="takes and gives uint8", layout="HWC",
    ),
    Case(
        "debayer", [pictures(4, 6, dtype=np.uint8)[..., 0]], {"blue_position": (0, 1)}, layout="HW",
        constant="takes and gives integers", refused=alone(blue_position=(0, 1)), ragged=[".."],
    ),
    Case("equalize", [pictures(3, 4, dtype=np.uint8)], constant="takes and gives uint8", layout="HWC"),
    Case(
        "jpeg_compression_distortion", [pictures(3, 4, dtype=np.uint8)], traced={"quality": np.int32([5, 50, 95])},
        constant="uint8 has none; that of float32 is no limit of differences, see its own tests", layout="HWC",
        ragged=["ab."],
    ),
]  # fmt: skip

POSITIONS = {"crop_pos_x": [0.0, 0.7, 1.0], "crop_pos_y": [1.0, 0.5, 0.2], "crop_pos_z": [0.5, 0.0, 1.0]}
CROPS = alone(crop=(3.0, 4.0), crop_h=3.0, crop_w=3.0)
RESIZES = alone(
    size=(4.0, 5.0), resize_x=4.0, resize_y=4.0, resize_z=4.0, resize_shorter=4.0, resize_longer=4.0,
) | {
    name: {"size": (4.0, 5.0), "roi_start": (0.0, 0.0), "roi_end": (3.0, 3.0), name: value}
    for name, value in {
        "roi_start": (0.0, 0.0), "roi_end": (3.0, 3.0), "interp_type": 1, "min_filter": 1, "mag_filter": 1,
    }.items()
}  # fmt: skip

WINDOWS = [
    Case(
        "crop", [pictures(6, 7)], {"crop": (3.0, 4.0)}, POSITIONS, grad=[0], constant=COPIES,
        refused=CROPS, layout="HWC",
    ),
    Case(
        "crop_mirror_normalize", [pictures(6, 7)], {"crop": (3.0, 4.0), "scale": 2.0, "shift": 0.5},
        POSITIONS | {
            "mirror": [0, 1, 1],
            "mean": [(0.4, 0.5, 0.6), (0.0, 0.0, 0.0), (1.0, 0.5, 0.0)],
            "std": [(0.5, 1.0, 2.0), (1.0, 1.0, 1.0), (0.7, 0.8, 0.9)],
        },
        grad=[0, "mean", "std"], constant=COPIES, refused=CROPS, layout="HWC",
    ),
    *(
        Case(
            name, [VOLUMES], {"crop": (1.0, 3.0, 4.0)} | layout, POSITIONS, grad=[0], constant=COPIES,
            refused={"crop_d": {"crop_d": 1.0} | layout}, layout="DHWC", label="volume",
        )
        for name, layout in (("crop", {}), ("crop_mirror_normalize", {"output_layout": "CDHW"}))
    ),
    Case(
        "erase", [pictures(6, 7)],
        traced={
            "anchor": [(1.0, 2.0), (0.0, 3.0), (2.5, 1.0)], "shape": [(2.0, 3.0), (3.0, 2.0), (2.0, 9.0)],
            "fill_value": [(0.5,), (1.0,), (0.0,)],
        },
        grad=[0, "fill_value"], constant=COPIES, layout="HWC",
    ),
    Case(
        "jitter", [pictures(5, 6)], {"nDegree": 3}, {"mask": [1, 0, 1]}, grad=[0], constant=COPIES, layout="HWC",
    ),
    Case(
        "multi_paste", [pictures(5, 6), pictures(3, 4)], {"output_size": (7, 8)},
        {
            "in_anchors": [[(0, 1), (1, 0)], [(2, 2), (0, 1)], [(1, 3), (0, 0)]],
            "shapes": [[(3, 4), (2, 3)], [(2, 2), (3, 2)], [(3, 3), (1, 4)]],
            "out_anchors": [[(0, 0), (2, 1)], [(1, 3), (4, 5)], [(2, 2), (0, 0)]],
        },
        grad=[0, 1], constant=COPIES, layout="HWC", refused=alone(output_size=(7, 8)),
    ),
    Case(
        "multi_paste", [pictures(5, 6)],
        {"output_size": (7, 8)},
        {
            "in_anchors_rel": [[(0.1, 0.2)], [(0.0, 0.0)], [(0.5, 0.3)]],
            "shapes_rel": [[(0.4, 0.5)], [(1.0, 0.5)], [(0.4, 0.4)]],
            "out_anchors_rel": [[(0.1, 0.2)], [(0.0, 0.4)], [(0.3, 0.3)]],
        },
        grad=[0], constant=COPIES, layout="HWC", label="shares", ragged=["..."],
        refused={"in_ids": {"in_ids": (0,), "output_size": (7, 8)}},
    ),
    Case(
        "paste", [pictures(5, 6)], {"fill_value": (1, 2, 3), "ratio": 1.5, "min_canvas_size": 8.0},
        {"paste_x": [0.0, 0.4, 1.0], "paste_y": [0.7, 0.2, 0.5]}, grad=[0], constant=COPIES, layout="HWC",
        refused={"ratio": {"fill_value": 0, "ratio": 1.5},
                 "min_canvas_size": {"fill_value": 0, "ratio": 1.5, "min_canvas_size": 8.0}},
    ),
    Case(
        "flip", [pictures(3, 4)],
        traced={"horizontal": [0, 1, 1], "vertical": [1, 0, 1], "depthwise": [0, 1, 0]}, grad=[0],
        constant=COPIES, layout="HWC",
    ),
    Case(
        "grid_mask", [pictures(6, 7)],
        traced={"angle": [0.0, 0.3, -2.0], "ratio": [0.5, 0.4, 0.7], "shift_x": [0.0, 1.5, -2.0],
                "shift_y": [0.0, 0.7, 3.0]},
        args={"tile": 3}, grad=[0], refused=alone(tile=3), layout="HWC",
        constant="the mask is 0 or 1",
    ),
    Case(
        "pad", [pictures(3, 4)], {"shape": (5, 6), "axes": (0, 1)}, {"fill_value": [0.5, -1.0, 0.0]},
        grad=[0, "fill_value"], refused=alone(shape=(5, 6, 3), align=(4,), axes=(0, 1)),
    ),
    Case(
        "slice", [pictures(6, 7)], {"shape": (3, 4), "axes": (0, 1)}, {"start": [(0, 1), (3, 3), (2, 0)]},
        grad=[0], constant=COPIES,
        refused=alone(end=(3, 4), rel_end=(0.5, 0.5), shape=(3, 4), rel_shape=(0.5, 0.5), start=(1, 1))
        | {"axes": {"axes": (0, 1), "start": (1, 1)}, "rel_start": {"rel_start": (0.1, 0.2)}},
        layout="HWC",
    ),
    Case(
        "slice", [pictures(6, 7)], {"shape": (3, 4), "out_of_bounds_policy": "pad"},
        {"rel_start": [(0.0, 0.2), (0.5, 0.9), (-0.3, 0.4)]}, grad=[0], constant=COPIES, layout="HWC",
        label="relative",
    ),
    Case(
        "bb_flip", [numbers(0, 0.5, 2, 4)], traced={"horizontal": [0, 1, 1], "vertical": [1, 0, 1]}, grad=[0],
        ragged=["a."],
    ),
    Case(
        "bbox_paste", [numbers(0, 0.5, 2, 4)],
        traced={"ratio": [1.5, 2.0, 3.0], "paste_x": [0.2, 0.5, 0.9], "paste_y": [0.1, 0.6, 1.0]},
        grad=[0, "ratio", "paste_x", "paste_y"], ragged=["a."],
    ),
    Case(
        "coord_flip", [numbers(0, 1, 2, 3)],
        traced={
            "flip_x": [0, 1, 1], "flip_y": [1, 0, 1], "flip_z": [1, 1, 0],
            "center_x": [0.2, 0.5, 0.7], "center_y": [0.3, 0.4, 0.6], "center_z": [0.1, 0.8, 0.9],
        },
        grad=[0, "center_x", "center_y", "center_z"], ragged=["a."],
    ),
    Case(
        "box_encoder", [BOXES, np.int32([[1, 2]] * COUNT)],
        {"anchors": (0.1, 0.1, 0.5, 0.55, 0.5, 0.5, 0.9, 0.9, 0.0, 0.0, 0.2, 0.2)},
        grad=[0], constant="labels are integers", ragged=["a.", "a"],
    ),
]  # fmt: skip

RESAMPLING = [
    Case("resize", [pictures(6, 7)], {"size": (4.0, 5.0)}, grad=[0], refused=RESIZES, layout="HWC"),
    Case(
        "resize", [pictures(6, 7, dtype=np.uint8)], {"size": (9.0, 4.0), "interp_type": types.INTERP_CUBIC},
        constant="rounded to integers", layout="HWC", atol=1, label="uint8",
    ),
    *(
        Case(
            name, [pictures(6, 7)], {"size": (5.0, 6.0), "crop": (3.0, 4.0)},
            {"mirror": [0, 1, 2]}, grad=[0], constant=COPIES, layout="HWC",
            refused=RESIZES | {argument: {"size": (5.0, 6.0), "crop": (3.0, 4.0), argument: value} for argument, value in
                               {"crop": (3.0, 4.0), "crop_pos_x": 0.5, "crop_pos_y": 0.5}.items()},
        )
        for name in ("resize_crop_mirror", "fast_resize_crop_mirror")
    ),
    *(
        Case(
            name, [VOLUMES], {"size": (3.0, 5.0, 4.0), "crop": (2.0, 3.0, 4.0)},
            {"mirror": [5, 0, 2]}, grad=[0], constant=COPIES, layout="DHWC", label="volume",
            refused={side: {"size": (3.0, 5.0, 4.0), side: 3.0} for side in ("crop_d", "crop_h", "crop_w")}
            | {"crop_pos_z": {"size": (3.0, 5.0, 4.0), "crop": (2.0, 3.0, 4.0), "crop_pos_z": 0.5}},
        )
        for name in ("resize_crop_mirror", "fast_resize_crop_mirror")
    ),
    Case(
        "random_resized_crop", [pictures(6, 7)], {"size": (4, 5)}, grad=[0], layout="HWC",
        refused=alone(interp_type=1, min_filter=1, mag_filter=1),
    ),
    Case(
        "gaussian_blur", [pictures(5, 6)], {"window_size": (3, 5)},
        {"sigma": [(0.5, 1.0), (1.0, 1.0), (0.7, 2.0)]}, grad=[0, "sigma"],
        refused=alone(sigma=(1.0,), window_size=(3,)), layout="HWC",
    ),
    Case(
        "filter", [pictures(5, 6), numbers(-1, 1, 3, 2), numbers(0, 1)], {"border": "constant"}, grad=[0, 1, 2],
        refused=alone(anchor=(1, 0)), layout=("HWC", "", ""), ragged=["ba.", "..", ""],
    ),
    Case(
        "laplacian", [pictures(5, 6)], traced={"scale": [(0.5, 1.0), (1.0, 1.0), (0.7, 2.0)]}, grad=[0, "scale"],
        refused=alone(smoothing_size=(3,), window_size=(3,)), layout="HWC",
    ),
    Case(
        "laplacian", [VOLUMES], {"window_size": (3, 7, 5), "smoothing_size": (1, 3, 1)},
        {"scale": [(0.5, 1.0, 2.0), (1.0, 1.0, 1.0), (0.7, 2.0, 1.0)]}, grad=[0, "scale"],
        refused=alone(smoothing_size=(3,), window_size=(3,)), layout="DHWC", label="large",
    ),
    *(
        Case(
            f"experimental.{name}", [numbers(0, 1, 5, 6, 2)], {"mask_size": (3, 2)}, grad=[0], step=1e-3,
            refused=alone(anchor=(0, 0), mask_size=(3, 3)), layout="HWC",
        )
        for name in ("dilate", "erode")
    ),
    Case(
        "experimental.median_blur", [numbers(0, 1, 5, 6, 2)], {"window_size": (3, 1)}, grad=[0], step=1e-3,
        refused=alone(window_size=(3, 3)), layout="HWC",
    ),
    Case(
        "rotate", [pictures(5, 6)], {"keep_size": True}, {"angle": [10.0, -33.0, 90.5]}, grad=[0, "angle"],
        refused=alone(angle=30.0) | {"size": {"angle": 30.0, "size": (4.0, 4.0)}}, layout="HWC", step=0.05,
    ),
    Case(
        "rotate", [VOLUMES], {"keep_size": True},
        {"angle": [10.0, -33.0, 90.5], "axis": [(0.1, 0.2, 1.0), (1.0, 0.3, 0.0), (0.0, 1.0, 0.2)]},
        grad=[0, "angle", "axis"], layout="DHWC", label="volume",
        refused={"axis": {"angle": 30.0, "axis": (0.0, 0.0, 1.0)}},
    ),
    Case(
        "tensor_resize", [pictures(6, 7)], {"sizes": (4.0, 5.0), "axes": (0, 1)}, grad=[0], layout="HWC",
        refused={
            name: {"axes": (0, 1), "sizes": (4.0, 5.0), name: value} for name, value in {
                "sizes": (4.0, 5.0), "alignment": (0.5, 0.5), "roi_start": (0.0, 0.0), "roi_end": (3.0, 3.0),
                "interp_type": 1, "min_filter": 1, "mag_filter": 1,
            }.items() if not name.startswith("roi")
        } | {
            name: {"axes": (0, 1), "sizes": (4.0, 5.0), "roi_start": (0.0, 0.0), "roi_end": (3.0, 3.0)}
            for name in ("roi_start", "roi_end")
        } | {"scales": {"axes": (0, 1), "scales": (0.5, 0.7)}},
    ),
    Case("water", [pictures(5, 6)], {"ampl_x": 1.5, "freq_x": 0.4, "interp_type": types.INTERP_LINEAR},
         {"mask": [1, 0, 1]}, grad=[0], constant="the mask is 0 or 1", layout="HWC"),
    Case("sphere", [pictures(5, 6)], {"interp_type": types.INTERP_LINEAR}, {"mask": [1, 0, 1]}, grad=[0],
         constant="the mask is 0 or 1", layout="HWC"),
    Case(
        "experimental.warp_perspective", [pictures(5, 6)], {"border_mode": "replicate"},
        {"matrix": PERSPECTIVES}, grad=[0, "matrix"], layout="HWC", step=1e-3,
        refused={"size": {"matrix": PERSPECTIVES[0].ravel(), "size": (4.0, 4.0)}},
    ),
    Case(
        "experimental.warp_perspective", [pictures(5, 6), PERSPECTIVES],
        {"border_mode": "reflect", "interp_type": types.INTERP_CUBIC, "inverse_map": False},
        grad=[0], layout=("HWC", ""), ragged=["ba.", ".."], label="input",
    ),
    Case(
        "experimental.remap", [pictures(5, 6), numbers(0.6, 5.4, 4, 3), numbers(0.6, 4.4, 4, 3, seed=1)],
        grad=[0, 1, 2], layout=("HWC", "HW", "HW"), step=1e-3, ragged=["ab.", "ba", "ba"],
    ),
    Case(
        "warp_affine", [pictures(5, 6)], traced={"matrix": MATRICES.reshape(COUNT, 6)}, grad=[0, "matrix"],
        refused={"size": {"matrix": MATRICES[0].ravel(), "size": (4.0, 4.0)}}, layout="HWC",
    ),
    Case(
        "warp_affine", [pictures(5, 6), MATRICES],
        {"fill_value": 0.0, "inverse_map": False, "size": (4.0, 4.0)},
        grad=[0, 1], layout=("HWC", ""), step=1e-3, ragged=["ba.", ".."], label="input",
    ),
]  # fmt: skip

NOISE = [
    Case(
        "noise.gaussian", [pictures(3, 4)], traced={"mean": [0.0, 1.0, -1.0], "stddev": [0.5, 1.0, 0.0]},
        grad=[0, "mean", "stddev"],
    ),
    Case(
        "noise.salt_and_pepper", [pictures(3, 4)],
        traced={
            "prob": [0.5, 0.3, 1.0], "salt_vs_pepper": [0.5, 1.0, 0.2],
            "salt_val": [2.0, 1.0, 3.0], "pepper_val": [-2.0, 0.0, -3.0],
        },
        grad=[0, "salt_val", "pepper_val"], constant="whether an element is replaced jumps",
    ),
    Case(
        "noise.shot", [100 * pictures(3, 4)], traced={"factor": [12.0, 1.0, 3.0]},
        constant="it counts events, which are whole numbers",
    ),
]  # fmt: skip

SHAPE = alone(shape=(2, 3))
RANDOM = [
    Case(
        "random.beta", args={"shape": (2, 3)}, traced={"alpha": [0.5, 2.0, 3.0], "beta": [1.5, 1.0, 0.7]},
        constant="drawn by rejection: what is accepted jumps with alpha and beta", refused=SHAPE,
    ),
    Case(
        "random.choice", [numbers(0, 1, 4)], {"shape": (2, 3)},
        {"p": [(0.1, 0.2, 0.3, 0.4), (0.25, 0.25, 0.25, 0.25), (0.7, 0.1, 0.1, 0.1)]},
        grad=[0], constant="which element is drawn jumps with the probabilities", refused=SHAPE, ragged=["."],
    ),
    Case(
        "random.coin_flip", args={"shape": (2, 3)}, traced={"probability": [0.5, 0.1, 0.9]},
        constant="0 or 1", refused=SHAPE,
    ),
    Case(
        "random.normal", args={"shape": (2, 3)}, traced={"mean": [0.0, 1.0, 2.0], "stddev": [1.0, 2.0, 0.5]},
        grad=["mean", "stddev"], refused=SHAPE,
    ),
    Case(
        "random.uniform", args={"shape": (2, 3)}, traced={"range": [(-1.0, 1.0), (0.0, 5.0), (2.0, 3.0)]},
        grad=["range"], refused=SHAPE,
    ),
    Case(
        "random.uniform", args={"shape": (2, 3)}, traced={"values": numbers(0, 1, 4)}, grad=["values"],
        label="values",
    ),
    Case(
        "random_crop_generator", [numbers(3, 40, 2, dtype=np.int64)], constant="positions of pixels", ragged=["."],
    ),
    Case(
        "roi_random_crop", constant="positions of pixels",
        traced={"crop_shape": [(3, 4), (5, 1), (2, 2)], "in_shape": [(9, 8), (7, 7), (6, 9)],
                "roi_start": [(2, 0), (1, 3), (0, 0)], "roi_end": [(4, 8), (2, 6), (6, 5)]},
    ),
    Case(
        "roi_random_crop", [pictures(9, 8)], constant="positions of pixels", label="input",
        traced={"crop_shape": [(3, 4), (5, 1), (2, 2)], "roi_start": [(2, 0), (1, 3), (0, 0)],
                "roi_shape": [(2, 3), (4, 2), (6, 5)]},
    ),
    Case(
        "segmentation.random_mask_pixel", [numbers(0, 9, 4, 5)], constant="positions of pixels",
        traced={"foreground": [1, 0, 2], "threshold": [7.0, 0.0, 100.0]},
    ),
    Case(
        "segmentation.random_mask_pixel", [numbers(0, 4, 4, 5, dtype=np.uint8)], constant="positions of pixels",
        args={"foreground": 1}, traced={"value": [2, 0, 3]}, label="value",
    ),
]  # fmt: skip

REDUCTIONS = [
    Case("reductions.sum", [numbers(0, 1, 2, 3)], {"axes": (1,)}, grad=[0]),
    Case("reductions.mean", [numbers(0, 1, 2, 3)], {"axes": (0,), "keep_dims": True}, grad=[0]),
    Case("reductions.mean_square", [numbers(-1, 1, 2, 3)], {"axes": (1,)}, grad=[0]),
    Case("reductions.rms", [numbers(-1, 1, 2, 3)], grad=[0]),
    Case("reductions.min", [numbers(-1, 1, 2, 3)], {"axes": (1,)}, grad=[0]),
    Case("reductions.max", [numbers(-1, 1, 2, 3)], {"axes": (0,)}, grad=[0]),
    Case(
        "reductions.variance", [numbers(-1, 1, 2, 3), numbers(0, 0.1, 2)], {"axes": (1,)}, grad=[0, 1],
        ragged=["ba", "b"],
    ),
    Case("reductions.std_dev", [numbers(-1, 1, 2, 3), numbers(0, 0.1)], {"ddof": 1}, grad=[0, 1]),
    Case("normalize", [numbers(-1, 1, 2, 3)], {"axes": (1,), "epsilon": 0.1}, grad=[0]),
    Case(
        "normalize", [numbers(-1, 1, 2, 3)], {"scale": 2.0, "shift": 1.0},
        {"mean": [0.1, 0.2, -0.3], "stddev": [0.5, 1.0, 2.0]}, grad=[0, "mean", "stddev"], label="given",
    ),
]  # fmt: skip

TRANSFORMS = [
    Case("transforms.combine", [MATRICES, MATRICES[::-1], MATRICES], grad=[0, 1, 2], ragged=[".."] * 3),
    Case(
        "coord_transform", [numbers(0, 1, 4, 2)], traced={"M": numbers(0, 1, 3, 2), "T": numbers(0, 1, 3)},
        grad=[0, "M", "T"], ragged=["a."],
    ),
    Case(
        "coord_transform", [numbers(0, 1, 4, 2)], traced={"MT": MATRICES}, grad=[0, "MT"], ragged=["a."],
        label="MT",
    ),
    Case(
        "transforms.crop",
        traced={
            "from_start": numbers(0, 0.4, 2), "from_end": numbers(0.6, 1, 2),
            "to_start": numbers(0, 0.4, 2, seed=1), "to_end": numbers(0.6, 1, 2, seed=2),
        },
        grad=["from_start", "from_end", "to_start", "to_end"],
    ),
    Case(
        "transforms.rotation", [MATRICES], traced={"angle": [10.0, -33.0, 90.5], "center": numbers(0, 1, 2)},
        grad=[0, "angle", "center"], step=0.05, ragged=[".."],
    ),
    Case(
        "transforms.rotation",
        traced={"angle": [10.0, -33.0, 90.5], "axis": [(0.1, 0.2, 1.0), (1.0, 0.3, 0.0), (0.0, 1.0, 0.2)]},
        grad=["angle", "axis"], label="space",
    ),
    Case(
        "transforms.scale", traced={"scale": numbers(0.5, 2, 3), "center": numbers(0, 1, 3)},
        grad=["scale", "center"],
    ),
    Case(
        "transforms.shear", traced={"shear": numbers(-1, 1, 2), "center": numbers(0, 1, 2)},
        grad=["shear", "center"],
    ),
    Case("transforms.shear", traced={"angles": numbers(-60, 60, 2)}, grad=["angles"], label="angles"),
    Case(
        "transforms.translation", [MATRICES], traced={"offset": numbers(0, 1, 2)}, grad=[0, "offset"],
        ragged=[".."],
    ),
]  # fmt: skip

LEFT, RIGHT = numbers(0.5, 3, 2, 3), numbers(0.5, 3, 3, seed=1)  # no two equal
WHOLE = [numbers(1, 60, 2, 3, dtype=np.int32), numbers(1, 8, 3, dtype=np.int32, seed=1)]
EVERYWHERE = {"pos": (-2, 2), "neg": (-2, 2), "abs": (-2, 2), "fabs": (-2, 2)}
FUNCTIONS = {
    "sqrt": (0.5, 3), "rsqrt": (0.5, 3), "cbrt": (0.5, 3), "exp": (-1, 1), "log": (0.5, 3), "log2": (0.5, 3),
    "log10": (0.5, 3), "sin": (-2, 2), "cos": (-2, 2), "tan": (-1, 1), "asin": (-0.8, 0.8),
    "acos": (-0.8, 0.8), "atan": (-2, 2), "sinh": (-2, 2), "cosh": (-2, 2), "tanh": (-2, 2),
    "asinh": (-2, 2), "acosh": (1.5, 3), "atanh": (-0.8, 0.8),
}  # fmt: skip
MATH = [
    *(Case(f"math.{name}", [LEFT, RIGHT], grad=[0, 1]) for name in
      ("add", "sub", "mul", "div", "pow", "fpow", "min", "max", "atan2")),
    *(Case(f"math.{name}", [numbers(*limits, 2, 2)], grad=[0]) for name, limits in
      (EVERYWHERE | FUNCTIONS).items()),
    *(Case(f"math.{name}", [LEFT, RIGHT], constant="true or false") for name in
      ("eq", "ne", "lt", "le", "gt", "ge")),
    *(Case(f"math.{name}", WHOLE, constant="takes integers") for name in
      ("bitand", "bitor", "bitxor", "lshift", "rshift")),
    *(Case(f"math.{name}", [numbers(-2, 2, 4)], constant="a staircase") for name in ("floor", "ceil")),
    Case("math.bitnot", WHOLE[:1], constant="takes integers"),
    Case("math.floordiv", [LEFT, RIGHT], grad=[0, 1]),
    Case("math.floordiv", WHOLE, constant="integers", label="int32"),
    Case("math.mod", [LEFT, RIGHT], grad=[0, 1], step=1e-3),
    Case("math.clamp", [numbers(-2, 2, 2, 4), numbers(-1, -0.5, 4), numbers(0.5, 1, 1)], grad=[0, 1, 2]),
]  # fmt: skip

# Of a size for which they loop over parts of the image, on a CPU.
LARGE = [
    Case(
        "rotate", [pictures(40, 70, 1, np.uint8)], {"keep_size": True}, {"angle": [10.0, -33.0, 90.5]},
        layout="HWC", label="large",
    ),
    Case(
        "resize", [pictures(40, 70, 1, np.uint8)], {"size": (70.0, 90.0)},
        layout="HWC", atol=1, label="large",
    ),
    Case("laplacian", [numbers(0, 1, 9, 7, 3)], layout="DHW", label="volume"),
    Case("gaussian_blur", [numbers(0, 1, 48, 48, 32)], {"sigma": 1.0}, layout="DHW", label="volume"),
]  # fmt: skip

# Cases compiled together: one large program takes much less time than many small ones.
GROUPS = [TENSOR, AUDIO, COLOUR, WINDOWS, RESAMPLING, NOISE, RANDOM, REDUCTIONS, TRANSFORMS, MATH]

# A "sample" of these is a batch.
MIXING = [
    Case(
        "mixup", [numbers(0, 1, 6, 4, 5, 3), numbers(0, 1, 6, 4)],
        traced={"alpha": [0.4, 1.0, 2.0], "probability": [0.9, 1.0, 0.7]}, grad=[0, 1],
        constant="shares are drawn by rejection, and decisions jump", layout=("HWC", ""), ragged=["....", ".."],
    ),
    Case(
        "mixup", [pictures(5, 4, dtype=np.uint8), numbers(0, 5, 5, 1, dtype=np.int32)], {"num_classes": 5},
        constant=INDICES, label="class numbers", ragged=["...", ".."],
    ),
    Case(
        "cutmix", [numbers(0, 1, 5, 10, 6, 3), numbers(0, 1, 5, 4)],
        traced={"alpha": [0.4, 1.0, 2.0], "probability": [0.9, 1.0, 0.7]}, grad=[0, 1],
        constant=COPIES, layout=("HWC", ""), ragged=["....", ".."],
    ),
]  # fmt: skip
CASES = [case for group in [*GROUPS, MIXING] for case in group]
# Those that a normal run computes, a tenth of each group: each is some dozen programs. The others are traced.
# `random_resized_crop` compiles for as long as all others that resample: `make exhaustive` computes it.
DRAWN = [
    case
    for group in [*GROUPS, MIXING]
    for case in drawn(group, math.ceil(len(group) / 10))
    if case.op != "random_resized_crop" or DRAW == "all"
]
