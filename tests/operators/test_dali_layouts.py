"""Every layout that DALI lists for an operator is taken here too, and gives the same; a normal run has two, of six operators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support import oracle
from support.some import drawn

import jdali
from jdali import fn, types
from jdali._operators.record import REGISTRY, CompiledOp

pytestmark = pytest.mark.oracle

SIZES = {"F": 2, "D": 4, "H": 5, "W": 7, "C": 3}
# Nearest neighbours: programs of the other filters take ten times as long to compile.
RESIZED = {"resize_x": 9, "resize_y": 4, "interp_type": types.INTERP_NN}
COLORS = {"hue": 20.0, "saturation": 1.2}
# Arguments for images, and for volumes where these want others.
CASES: dict[str, tuple[dict[str, Any], ...]] = {
    "brightness": ({"brightness": 1.2},),
    "brightness_contrast": ({"brightness": 1.2, "contrast": 0.9},),
    "color_space_conversion": ({"image_type": types.RGB, "output_type": types.YCbCr},),
    "color_twist": (COLORS,),
    "contrast": ({"contrast": 1.2},),
    "crop": ({"crop": [3, 4]},),
    "crop_mirror_normalize": ({"crop": [3, 4], "mirror": 1, "mean": [100.0], "output_layout": ""},),
    "equalize": ({},),
    "flip": ({"vertical": 1}, {"depthwise": 1}),
    "hsv": (COLORS,),
    "hue": ({"hue": 20.0},),
    "jpeg_compression_distortion": ({"quality": 50},),
    "resize": (RESIZED, RESIZED | {"resize_z": 3}),
    "resize_crop_mirror": (RESIZED | {"crop": [3, 4]}, RESIZED | {"resize_z": 3, "crop": [2, 3, 4]}),
    "rotate": ({"angle": 30.0}, {"angle": 30.0, "axis": [0.0, 1.0, 0.0]}),
    "saturation": ({"saturation": 1.2},),
    "warp_affine": (
        {"matrix": [1.0, 0.2, 0.5, -0.2, 1.0, 1.0]},
        {"matrix": [1.0, 0.2, 0.0, 0.5, -0.2, 1.0, 0.1, 1.0, 0.0, 0.1, 0.9, 0.2]},
    ),
}
# Random ones, those without a CPU kernel in DALI, those of several inputs or of HWC and its sequences only, and a variant
# of resize_crop_mirror.
TESTED_BY_THEMSELVES = {
    "clahe", "debayer", "experimental.dilate", "experimental.erode", "experimental.median_blur",
    "experimental.remap", "experimental.warp_perspective", "fast_resize_crop_mirror", "jitter", "multi_paste",
    "optical_flow", "paste", "random_resized_crop", "sphere", "water",
}  # fmt: skip
# Integers rounded from reals that are computed in another order.
STEP = dict.fromkeys(CASES, 1) | {"crop": 0, "flip": 0, "crop_mirror_normalize": 1e-5}


def listed(name: str) -> list[str]:
    """Layouts of the first input."""
    # Of `crop` those with five axes are listed, but DALI raises "Not supported number of dimensions".
    return [layout for layout in oracle.layouts(name) if not (name == "crop" and len(layout) == 5)]


def samples(layout: str) -> list[np.ndarray]:
    """Two that differ in width."""
    rng = np.random.default_rng(len(layout))
    shapes = ([SIZES[axis] + (axis == "W" and more) for axis in layout] for more in (0, 3))
    return [rng.integers(0, 256, shape).astype(np.uint8) for shape in shapes]


def test_every_operator_is_here():
    lists = {op.name for op in REGISTRY.values() if isinstance(op, CompiledOp) and oracle.layouts(op.name)}
    assert lists - TESTED_BY_THEMSELVES == set(CASES)


@pytest.mark.cases(6)
@pytest.mark.parametrize("name", CASES)
def test_takes_all_layouts(name):
    layouts = sorted(drawn(listed(name), 2))
    arguments = [CASES[name]["D" in layout and len(CASES[name]) > 1] for layout in layouts]

    inputs = [samples(layout) for layout in layouts]

    def in_dali(*nodes: Any) -> list[Any]:
        given = [{k: oracle.translate(v) for k, v in a.items()} for a in arguments]
        return [oracle.function(name)(x, **a) for x, a in zip(nodes, given, strict=True)]

    want, names = oracle.run_call(in_dali, inputs, layout=layouts)
    pipe = jdali.Pipeline(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        nodes = [
            fn.external_source(source=[given], cycle=True, layout=layout)
            for given, layout in zip(inputs, layouts, strict=True)
        ]
        pipe.set_outputs(*(getattr(fn, name)(x, **a) for x, a in zip(nodes, arguments, strict=True)))
    with pipe:
        outputs = pipe.run()
    assert [output.layout() for output in outputs] == names
    for output, expected, layout in zip(outputs, want, layouts, strict=True):
        for i, sample in enumerate(expected):
            np.testing.assert_allclose(
                np.asarray(output.at(i), np.float64), sample, rtol=0, atol=STEP[name], err_msg=layout
            )
