"""Functions of `jdali.ops` take one sample: what they do with a batch is refused, or legal for a reason in a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
import pytest
from ops.pure_calls import jit, layout_of, one, public, samples
from ops.pure_cases import CASES, COUNT, MIXING, Case

from jdali import ops
from jdali._operators.record import REGISTRY, CompiledOp

# Functions of one number.
_UNARY = [
    op.name
    for op in REGISTRY.values()
    if op.name.startswith("math.") and len(op.inputs) == 1 and isinstance(op, CompiledOp)
]

# The result is that of `jax.vmap`, whichever way the leading axis is understood.
ALIKE = {
    "frames of a sequence, each of which is worked on like a picture": (
        "clahe", "color_space_conversion", "color_twist", "brightness", "brightness_contrast", "contrast", "crop", "equalize",
        "experimental.dilate", "experimental.erode", "experimental.median_blur", "experimental.warp_perspective",
        "fast_resize_crop_mirror", "flip", "grid_mask", "hsv", "hue", "jpeg_compression_distortion", "multi_paste", "paste",
        "resize", "resize_crop_mirror", "saturation", "sphere", "warp_affine", "water",
    ),
    "each element by itself, whatever the number of axes": (
        "cast", "cast_like", "lookup_table", "ones_like", "zeros_like", "reinterpret", "per_frame",
        *_UNARY,
    ),
    "axes counted from the last one": (
        "one_hot", "mel_filter_bank", "bb_flip", "bbox_paste", "coord_transform", "power_spectrum",
    ),
}  # fmt: skip

# The result is another one; it is what the call says, for one sample with that many axes.
OTHERWISE = {
    "axes are counted from the first one, or named by arguments": (
        "expand_dims", "element_extract", "stack", "reshape", "mfcc", "pad", "slice", "sequence_rearrange", "tensor_resize",
        "normalize",
        *(f"reductions.{name}" for name in ("sum", "mean", "mean_square", "rms", "min", "max")),
    ),
    "the whole array counts: its shape, its maximum, its elements at random": (
        "shapes", "to_decibels", "noise.gaussian", "noise.salt_and_pepper", "noise.shot", "segmentation.random_mask_pixel",
    ),
    "[N, T] may be a sound of N steps with T channels": ("audio_resample", "preemphasis_filter"),
    "a volume without a layout is taken to be a sequence": ("rotate",),
}  # fmt: skip

LEGAL = {name for group in (ALIKE, OTHERWISE) for names in group.values() for name in names}

CALLS = [
    pytest.param(case, batched, layout, id=f"{case}-{'arguments' if batched else 'inputs'}-{''.join(layout.values())}")
    for case in CASES if case.inputs and case not in MIXING
    for batched in ((False, True) if case.traced else (False,))
    for layout in ([{}, layout_of(case)] if isinstance(case.layout, str) and case.layout and layout_of(case) else [{}])
]  # fmt: skip


def called(case: Case, inputs: Any, arguments: Any, layout: Mapping[str, str]) -> Any:
    key = (one(samples(case, 1), 0).key,) if REGISTRY[case.op].random else ()
    return public(case.op)(*key, *inputs, **case.args, **arguments, **layout)


@pytest.mark.cases(45)
@pytest.mark.parametrize(("case", "batched", "layout"), CALLS)
def test_a_batch_is_refused_with_jax_vmap_or_legal(
    case: Case, batched: bool, layout: Mapping[str, str]
) -> None:
    every = samples(case, COUNT)
    first = one(every, 0)
    arguments = every.traced if batched else first.traced
    try:
        jax.eval_shape(lambda: called(case, every.inputs, arguments, layout))
    except (TypeError, ValueError) as error:
        if "jax.vmap" in "".join([str(error), *getattr(error, "__notes__", [])]):
            return
        with pytest.raises(type(error)):  # the call is wrong for one sample as well
            jax.eval_shape(lambda: called(case, first.inputs, first.traced, layout))
    else:
        assert case.op in LEGAL
        assert not batched or case.op == "normalize"  # whose vectors may be as long as an axis


def test_the_table_has_no_others() -> None:
    compiled = {op.name for op in REGISTRY.values() if isinstance(op, CompiledOp)}
    assert compiled >= LEGAL


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "case", [c for c in CASES if any(c.op in names for names in ALIKE.values())], ids=str
)
def test_the_result_of_alike_operators_is_that_of_vmap(case: Case) -> None:
    every = samples(case, COUNT)
    arguments = one(every, 0).traced
    for layout in ({}, layout_of(case)):
        try:
            batch = jit(lambda inputs, layout=layout: called(case, inputs, arguments, layout))(every.inputs)
            each = jit(jax.vmap(lambda *row, layout=layout: called(case, row, arguments, layout)))(
                *every.inputs
            )
        except (TypeError, ValueError):
            continue
        np.testing.assert_array_equal(np.asarray(batch), np.asarray(each))


@pytest.mark.parametrize("name", ["jitter", "random_resized_crop"])
def test_one_draw_for_all_frames_is_asked_for_by_a_layout(name: str) -> None:
    pictures, arguments = np.zeros((3, 8, 8, 3), np.uint8), {"size": [4, 4]} if "crop" in name else {}
    with pytest.raises(ValueError, match=r'jax.vmap, with a key for each sample, or give layout="FHWC"'):
        public(name)(jax.random.key(0), pictures, **arguments)
    jax.eval_shape(lambda: public(name)(jax.random.key(0), pictures, layout="FHWC", **arguments))


def test_a_layout_that_says_one_picture() -> None:
    pictures = np.zeros((3, 8, 8, 3), np.uint8)
    with pytest.raises(
        ValueError, match=r'the layout "HWC" names 3 axes, the input has 4. .* with jax.vmap.$'
    ):
        ops.resize(pictures, size=[4, 4], layout="HWC")
    with pytest.raises(ValueError, match=r'the layout "HWC" names 3 axes, the input has 2$'):
        ops.resize(pictures[0, ..., 0], size=[4, 4], layout="HWC")


def test_advice_is_for_batches_only() -> None:
    pictures = np.zeros((3, 8, 8, 3), np.uint8)
    with pytest.raises(TypeError, match="angle") as raised:
        ops.rotate(pictures, angle=np.float32([1, 2, 3]))
    assert "the call is right for each of the 3 rows" in raised.value.__notes__[0]
    with pytest.raises(TypeError, match="angle") as raised:
        ops.rotate(pictures, angle=np.float32([1, 2]))
    assert not getattr(raised.value, "__notes__", [])


@pytest.mark.parametrize("jitted", [False, True])
def test_arguments_of_each_sample_in_jit(jitted: bool) -> None:
    def turned(pictures: Any, angles: Any) -> Any:
        return ops.rotate(pictures, angle=angles, keep_size=True)

    function = jax.jit(turned) if jitted else turned
    with pytest.raises((TypeError, ValueError)) as raised:
        function(np.zeros((3, 8, 8, 3), np.uint8), np.float32([1, 2, 3]))
    assert "with jax.vmap" in "".join(raised.value.__notes__)
