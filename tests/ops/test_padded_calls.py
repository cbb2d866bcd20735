"""The pure functions of `jdali.ops` on padded data: every compiled operator, with sizes that are known and traced."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ops.pure_calls import (
    DEVICES,
    Sample,
    batch_of,
    compare,
    layout_of,
    mapped,
    one,
    public,
    samples,
)
from ops.pure_cases import CASES, COUNT, DRAWN, Case
from ops.sweep_cases import ragged_axes

import jdali.ops
from jdali._errors import TracedArgumentError
from jdali._numerics.platform import known_platform
from jdali._operators.record import REGISTRY

PADDING = {"a": 2, "b": 2, "c": 1}
# Cases of operators that work out more from the size of an input than the size of an axis.
KNOWN_SIZES = {
    "audio_resample", "cat", "clahe", "fast_resize_crop_mirror", "fast_resize_crop_mirror-volume", "filter", "full",
    "optical_flow", "paste", "power_spectrum", "reshape", "resize", "resize-uint8", "resize_crop_mirror",
    "resize_crop_mirror-volume", "spectrogram", "tensor_resize",
}  # fmt: skip
PADDED = [case for case in CASES if any(set(axes) - {"."} for axes in ragged_axes(case))]
KNOWN = [case for case in PADDED if str(case) in KNOWN_SIZES]
TRACED = [case for case in PADDED if str(case) not in KNOWN_SIZES]


def each(cases: list[Case]) -> pytest.MarkDecorator:
    """Parametrized over the cases; a normal run has those of `DRAWN`."""
    return pytest.mark.parametrize(
        "case",
        [pytest.param(case, marks=() if case in DRAWN else pytest.mark.exhaustive) for case in cases],
        ids=str,
    )


def padded_call(case: Case, sample: Sample, extents: list[Any]) -> tuple[Any, ...]:
    """The outputs, and their true sizes, of a call whose inputs are padded by what nobody may see."""
    op, inputs = REGISTRY[case.op], []
    for i, (value, axes) in enumerate(zip(sample.inputs, ragged_axes(case), strict=True)):
        widths = [(0, PADDING.get(name, 0)) for name in axes]
        junk = np.nan if value.dtype.kind == "f" else True
        inputs.append(
            jnp.pad(value, widths, constant_values=junk) if extents[i] is not None and axes else value
        )
    key = (sample.key,) if op.random else ()
    given = extents[0] if len(extents) == 1 else tuple(extents)
    outs, sizes = public(case.op)(
        *key, *inputs, **case.args, **sample.traced, **layout_of(case), extent=given
    )
    return (outs, sizes) if isinstance(outs, tuple) else ((outs,), (sizes,))


def true_sizes(case: Case) -> list[Any]:
    arguments = [REGISTRY[case.op].input(i).argument for i in range(len(case.inputs))]
    return [
        None if argument else np.int32(v.shape[1:])
        for argument, v in zip(arguments, case.inputs, strict=True)
    ]


def with_known_sizes(case: Case) -> Callable[[Sample], Any]:
    return lambda every: padded_call(case, one(every, 0), true_sizes(case))


def with_traced_sizes(case: Case) -> Callable[[Sample], Any]:
    def function(every: Sample) -> Any:
        sizes = [s if s is None else jnp.tile(s, (DEVICES, 1)) for s in true_sizes(case)]
        return jax.vmap(functools.partial(padded_call, case))(every, sizes)

    return function


def compare_padded(case: Case, got: Any, want: tuple[Any, ...]) -> None:
    outs, sizes = got
    assert [tuple(np.asarray(size).tolist()) for size in sizes] == [out.shape for out in want]
    compare(case, tuple(out[tuple(map(slice, w.shape))] for out, w in zip(outs, want, strict=True)), want)


def not_padded(case: Case, among: list[Case]) -> list[tuple[Any, ...]]:
    """The first samples; `test_pure_functions` compares them with plain calls."""
    outputs = batch_of(case, mapped, among)
    return [tuple(out[i] for out in outputs) for i in range(COUNT)]


@each(KNOWN)
def test_padding_of_a_known_size_does_not_show(case: Case):
    among = [case for case in KNOWN if case in DRAWN]
    compare_padded(case, batch_of(case, with_known_sizes, among), not_padded(case, among)[0])


@each(TRACED)
def test_padding_of_a_traced_size_does_not_show(case: Case):
    among = [case for case in TRACED if case in DRAWN]
    outs, sizes = batch_of(case, with_traced_sizes, among)
    for i, want in enumerate(not_padded(case, among)):
        compare_padded(case, jax.tree.map(lambda leaf, i=i: leaf[i], (outs, sizes)), want)


@pytest.mark.parametrize("case", KNOWN, ids=str)
def test_size_that_decides_more_must_be_concrete(case: Case):
    every = samples(case, DEVICES)
    with pytest.raises(TracedArgumentError, match=f"^{case.op}: more than the size of an axis depends on"):
        jax.eval_shape(with_traced_sizes(case), every)


PICTURE = np.random.default_rng(0).uniform(0, 255, (4, 6, 3)).astype(np.float32)


def test_a_known_size_may_decide_all():
    padded = np.pad(PICTURE, [(0, 5), (0, 1), (0, 0)], constant_values=np.nan)
    want = jdali.ops.resize(PICTURE, size=(3, 5))
    got, size = jax.jit(lambda p: jdali.ops.resize(p, size=(3, 5), extent=(4, 6, 3), out_shape=(8, 8, 4)))(
        padded
    )
    assert got.shape == (8, 8, 4)
    np.testing.assert_array_equal(size, [3, 5, 3])
    # With JDALI_TRACE_FOR a plain call computes each operation alone, and a program fuses products with sums.
    rounding = 0.0 if known_platform() is None else 1e-6
    np.testing.assert_allclose(got[:3, :5, :3], want, rtol=rounding)


def test_a_size_may_be_known_in_part():
    """Of a picture that is as high as it is wide in memory, the height is a tracer and the rest is not."""
    padded = np.pad(PICTURE, [(0, 2), (0, 0), (0, 0)])

    def half(p, height):
        return jdali.ops.crop(p, crop_w=2.0, crop_h=2.0, crop_pos_y=1.0, extent=(height, 6, 3))

    got, size = jax.jit(half)(padded, 4)
    np.testing.assert_array_equal(got, jdali.ops.crop(PICTURE, crop_w=2.0, crop_h=2.0, crop_pos_y=1.0))
    np.testing.assert_array_equal(size, [2, 2, 3])


def test_padded_results_go_on_to_the_next_function():
    padded = np.pad(PICTURE, [(0, 3), (0, 2), (0, 0)], constant_values=np.nan)

    @jax.jit
    @jax.vmap
    def chain(picture, size):
        flipped, size = jdali.ops.flip(picture, extent=size, layout="HWC")
        mean, _ = jdali.ops.reductions.mean(flipped, axes=(0, 1), extent=size)
        shifted, size = jdali.ops.math.sub(flipped, mean, extent=(size, None))
        return shifted, size

    got, size = chain(padded[None], np.int32(PICTURE.shape)[None])
    want = jdali.ops.flip(PICTURE)
    np.testing.assert_array_equal(size, [PICTURE.shape])
    np.testing.assert_allclose(got[0, :4, :6], want - PICTURE.mean((0, 1)), atol=1e-3)


def test_axes_that_are_smaller_together_are_told_apart():
    """Inputs that must agree are, axis by axis: here both are square in memory, and not in truth."""
    square = np.zeros((2, 5, 5), np.float32)

    def joined(sizes):
        return jdali.ops.stack(*square, axis=1, extent=(sizes, sizes))[1]

    np.testing.assert_array_equal(jax.jit(joined)(np.int32([2, 3])), [2, 2, 3])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"extent": (4, 6)}, r"flip: extent of input 'image' must be 3 integers, got int64 \(2,\)"),
        ({"extent": (4.0, 6.0, 3.0)}, r"flip: extent of input 'image' must be 3 integers, got float64"),
        (
            {"extent": (4, 7, 3)},
            r"flip: extent of input 'image' is 7 on axis 1, of an array of shape \(4, 6, 3\)",
        ),
        ({"extent": (-1, 6, 3)}, r"flip: extent of input 'image' is -1 on axis 0"),
        (
            {"out_shape": (4, 5, 3)},
            r"flip: out_shape \(4, 5, 3\) does not hold an output of up to \(4, 6, 3\)",
        ),
        ({"out_shape": (4, 6)}, r"flip: out_shape \(4, 6\) does not hold"),
    ],
)
def test_wrong_sizes_are_refused(options, error):
    with pytest.raises(ValueError, match=f"^{error}"):
        jdali.ops.flip(PICTURE, **options)


def test_what_has_no_size_takes_none():
    with pytest.raises(TypeError, match=r"^transforms.rotation: has no input, so it takes no extent"):
        jdali.ops.transforms.rotation(angle=3.0, extent=(2, 3))
    with pytest.raises(ValueError, match=r"^slice: extent of input 'shape_input': it is an argument"):
        jdali.ops.slice(PICTURE, np.int32([0]), np.int32([2]), axes=[0], extent=((4, 6, 3), None, (1,)))
    with pytest.raises(ValueError, match=r"^math.add: extent must be one size for each of the 2 inputs"):
        jdali.ops.math.add(PICTURE, PICTURE, extent=[(4, 6, 3)])
