"""The pure functions of `jdali.ops` under `jit`, `vmap`, `grad` and `shard_map`, every compiled operator.

The examples are in `pure_cases`. What the operators compute is tested elsewhere; here every
transformation must give what the plain call gives, and derivatives what finite differences give.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, PartitionSpec
from ops.pure_cases import CASES, COUNT, GROUPS, LARGE, Case
from ops.sweep_cases import ragged_axes
from support.contract import sample_keys

import jdali.ops
from jdali._errors import TracedArgumentError
from jdali._operator import REGISTRY, ArgKind, Operator

DEVICES = 8
OPERATORS = {op.name: op for op in REGISTRY.values() if op.kind == "device" and not op.name.startswith("_")}
DIFFERENTIABLE = [case for case in CASES if case.grad]

each_case = pytest.mark.parametrize("case", CASES, ids=str)


def public(name: str) -> Callable[..., Any]:
    return functools.reduce(getattr, name.split("."), jdali.ops)


@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """What a transformation maps over; one sample, or several stacked."""

    key: Any
    inputs: list[Any]
    traced: dict[str, Any]


jax.tree_util.register_dataclass(Sample, ["key", "inputs", "traced"], [])


def samples(case: Case, count: int) -> Sample:
    """The case's samples, again and again, each with a key of its own."""
    which = np.arange(count) % COUNT
    arguments = {
        name: np.asarray(values, REGISTRY[case.op].args[name].convert(values[0]).dtype)[which]
        for name, values in case.traced.items()
    }
    return Sample(_keys(count), [np.asarray(i)[which] for i in case.inputs], arguments)


@functools.cache
def _keys(count: int) -> Any:
    return sample_keys(count)


def one(stacked: Sample, index: int) -> Sample:
    return jax.tree.map(lambda leaf: leaf[index], stacked)


def layout_of(case: Case) -> dict[str, Any]:
    """The layout of the inputs; some operators have an argument of that name, of the output."""
    return {} if "layout" in REGISTRY[case.op].args else {"layout": case.layout}


def call(case: Case, sample: Sample) -> tuple[Any, ...]:
    key = (sample.key,) if REGISTRY[case.op].random else ()
    out = public(case.op)(*key, *sample.inputs, **case.args, **sample.traced, **layout_of(case))
    return out if isinstance(out, tuple) else (out,)


# Programs run once here, so how fast they are made counts.
jit = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


@functools.cache
def compiled(case: Case) -> Callable[[Sample], tuple[Any, ...]]:
    return jit(functools.partial(call, case))


def mapped(case: Case) -> Callable[[Sample], tuple[Any, ...]]:
    return jax.vmap(functools.partial(call, case))


def sharded(case: Case) -> Callable[[Sample], tuple[Any, ...]]:
    mesh = Mesh(np.array(jax.devices()[:DEVICES]), ("batch",))
    spec = PartitionSpec("batch")
    return jax.shard_map(mapped(case), mesh=mesh, in_specs=spec, out_specs=spec)


def batch_of(case: Case, transform: Callable[[Case], Any]) -> tuple[Any, ...]:
    """`transform(case)` of the samples of a batch."""
    group = next((tuple(group) for group in GROUPS if case in group), (case,))
    try:
        return together(group, transform)[case]
    except Exception:  # perhaps another case's fault
        return together((case,), transform)[case]


@functools.cache
def together(group: tuple[Case, ...], transform: Callable[[Case], Any]) -> dict[Case, Any]:
    if transform is derivatives:
        group = tuple(case for case in group if case.grad)
    if transform in (with_known_sizes, with_traced_sizes):
        known = transform is with_known_sizes
        group = tuple(case for case in group if case in PADDED and (str(case) in KNOWN_SIZES) == known)
    functions = [transform(case) for case in group]
    every = [samples(case, DEVICES) for case in group]
    results = jit(lambda every: [f(s) for f, s in zip(functions, every, strict=True)])(every)
    return dict(zip(group, results, strict=True))


@functools.cache
def eager(case: Case) -> list[tuple[Any, ...]]:
    """The plain calls for the first COUNT samples."""
    stacked = samples(case, DEVICES)
    return [call(case, one(stacked, i)) for i in range(COUNT)]


def compare(case: Case, got: tuple[Any, ...], want: tuple[Any, ...]) -> None:
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
        g, w = np.asarray(g), np.asarray(w)
        if w.dtype.kind == "f":
            # One program may fuse or reorder what another does step by step: some ulps of the largest value.
            scale = float(np.abs(w.astype(np.float64)).max(initial=1))
            np.testing.assert_allclose(g, w, rtol=0, atol=1e-5 * scale)
        else:
            np.testing.assert_allclose(g.astype(np.int64), w.astype(np.int64), rtol=0, atol=case.atol)


def test_every_operator_has_a_case():
    assert {case.op for case in CASES} == set(OPERATORS)


def test_every_case_says_what_its_derivatives_are():
    assert not [str(case) for case in CASES if not case.grad and not case.constant]


@pytest.mark.parametrize("op", OPERATORS.values(), ids=lambda op: op.name)
def test_every_argument_is_traced_or_refused(op: Operator):
    cases = [case for case in CASES if case.op == op.name]
    used = {name for case in cases for name in (*case.traced, *case.refused)}
    per_sample = {a.name for a in op.public_args.values() if a.kind is ArgKind.PER_SAMPLE}
    assert used == per_sample


@each_case
def test_jit(case: Case):
    function = compiled(case)
    stacked = samples(case, DEVICES)
    for i, want in enumerate(eager(case)):
        compare(case, function(one(stacked, i)), want)


@each_case
def test_vmap(case: Case):
    for i, want in enumerate(eager(case)):
        compare(case, tuple(out[i] for out in batch_of(case, mapped)), want)


@pytest.mark.parametrize("case", [*CASES, *LARGE], ids=str)
def test_shard_map(case: Case):
    compare(case, batch_of(case, sharded), batch_of(case, mapped))


def factors_of(case: Case) -> list[np.ndarray]:
    """What the outputs are multiplied by before they are summed up, so that no derivatives cancel."""
    return [np.random.default_rng(i).uniform(0.5, 1, out.shape) for i, out in enumerate(eager(case)[0])]


def places(case: Case, sample: Sample) -> dict[int | str, Any]:
    """The values that the outputs are differentiated by."""
    return {n: sample.inputs[n] if isinstance(n, int) else sample.traced[n] for n in case.grad}


def with_values(sample: Sample, values: dict[int | str, Any]) -> Sample:
    inputs = [values.get(i, given) for i, given in enumerate(sample.inputs)]
    return Sample(sample.key, inputs, {name: values.get(name, v) for name, v in sample.traced.items()})


def derivatives(case: Case) -> Callable[[Sample], list[Any]]:
    """Those of the first sample's outputs, in the order of `case.grad`."""
    factors = [factor.astype(np.float32) for factor in factors_of(case)]

    def total(values: list[Any], sample: Sample) -> Any:
        outs = call(case, with_values(sample, dict(zip(case.grad, values, strict=True))))
        return sum(jnp.sum(out * factor) for out, factor in zip(outs, factors, strict=True))

    def function(stacked: Sample) -> list[Any]:
        first = one(stacked, 0)
        return jax.grad(total)(list(places(case, first).values()), first)

    return function


def central_differences(case: Case, sample: Sample, name: int | str) -> np.ndarray:
    factors, value = factors_of(case), places(case, sample)[name]

    def total(moved: np.ndarray) -> float:
        outs = compiled(case)(with_values(sample, {name: moved}))
        return sum(float(np.sum(np.float64(out) * factor)) for out, factor in zip(outs, factors, strict=True))

    differences = np.zeros(np.shape(value))
    for index in np.ndindex(np.shape(value)):
        above, below = np.array(value), np.array(value)
        above[index] += case.step
        below[index] -= case.step
        differences[index] = (total(above) - total(below)) / (float(above[index]) - float(below[index]))
    return differences


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_grad(case: Case):
    sample = one(samples(case, DEVICES), 0)
    for name, derivative in zip(case.grad, batch_of(case, derivatives), strict=True):
        assert np.isfinite(derivative).all(), name
        expected = central_differences(case, sample, name)
        # They are wrong by the third derivative times step², and by the noise of float32.
        scale = max(float(np.abs(expected).max()), 1e-2)
        np.testing.assert_allclose(derivative, expected, rtol=0, atol=1e-2 * scale, err_msg=str(name))


REFUSED = [(case, name) for case in CASES for name in case.refused]


@pytest.mark.parametrize(("case", "name"), REFUSED, ids=lambda v: str(v))
def test_argument_that_decides_sizes_must_be_concrete(case: Case, name: str):
    op = REGISTRY[case.op]
    required = {a.name: case.args[a.name] for a in op.args.values() if a.required and a.name in case.args}
    args = required | dict(case.refused[name])
    value = op.args[name].convert(args.pop(name))
    sample = one(samples(case, DEVICES), 0)
    key = (sample.key,) if op.random else ()

    def function(value: Any) -> Any:
        return public(case.op)(*key, *sample.inputs, **args, **{name: value}, **layout_of(case))

    with pytest.raises(TracedArgumentError, match=f"^{case.op}: argument '{name}' decides"):
        jax.eval_shape(function, value)


@pytest.mark.parametrize("op", OPERATORS.values(), ids=lambda op: op.name)
def test_static_argument_must_be_concrete(op: Operator):
    case = next(case for case in CASES if case.op == op.name)
    sample = one(samples(case, DEVICES), 0)
    key = (sample.key,) if op.random else ()
    for arg in op.public_args.values():
        if arg.kind is ArgKind.STATIC:
            with pytest.raises(TracedArgumentError, match=f"^{op.name}: {arg.name} must be static"):
                jax.eval_shape(
                    lambda value, arg=arg: public(op.name)(*key, *sample.inputs, **{arg.name: value}),
                    jnp.int32(1),
                )


@pytest.mark.parametrize(
    ("op", "concrete", "name"),
    [
        ("reshape", [], "shape_input"),
        ("reinterpret", [], "shape_input"),
        ("slice", [np.int32([1, 2])], "shape_input"),
    ],
    ids=str,
)
def test_input_that_decides_sizes_must_be_concrete(op: str, concrete: list[Any], name: str):
    data = np.zeros((3, 4), np.float32)
    with pytest.raises(TracedArgumentError, match=f"^{op}: argument '{name}' decides"):
        jax.eval_shape(lambda value: public(op)(data, *concrete, value, layout="HW"), np.int32([2, 6]))


def test_inputs_that_decide_sizes_may_be_constants_of_a_program():
    data = np.arange(12, dtype=np.float32).reshape(3, 4)
    reshaped = jax.jit(lambda d: jdali.ops.reshape(d, np.int32([2, 6])))(data)
    np.testing.assert_array_equal(reshaped, data.reshape(2, 6))
    cut = jax.jit(lambda d: jdali.ops.slice(d, np.int32([1, 0]), np.int32([2, 3]), layout="HW"))(data)
    np.testing.assert_array_equal(cut, data[:3, 1:3])


# --- padded data ----------------------------------------------------------------------------------
PADDING = {"a": 2, "b": 2, "c": 1}
# Cases of operators that work out more from the size of an input than the size of an axis.
KNOWN_SIZES = {
    "audio_resample", "cat", "full", "power_spectrum", "reshape", "resize", "resize-uint8", "resize_crop_mirror",
    "resize_crop_mirror-volume", "spectrogram",
}  # fmt: skip
PADDED = [case for case in CASES if any(set(axes) - {"."} for axes in ragged_axes(case))]


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


@pytest.mark.parametrize("case", [c for c in PADDED if str(c) in KNOWN_SIZES], ids=str)
def test_padding_of_a_known_size_does_not_show(case: Case):
    compare_padded(case, batch_of(case, with_known_sizes), eager(case)[0])


@pytest.mark.parametrize("case", [c for c in PADDED if str(c) not in KNOWN_SIZES], ids=str)
def test_padding_of_a_traced_size_does_not_show(case: Case):
    outs, sizes = batch_of(case, with_traced_sizes)
    for i, want in enumerate(eager(case)):
        compare_padded(case, jax.tree.map(lambda leaf, i=i: leaf[i], (outs, sizes)), want)


@pytest.mark.parametrize("case", [c for c in PADDED if str(c) in KNOWN_SIZES], ids=str)
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
    np.testing.assert_array_equal(got[:3, :5, :3], want)


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


def test_sizes_that_cannot_be_told_apart_are_refused():
    """Of a square array, both axes of `stack` are always smaller together only if inputs may not differ."""
    square = np.zeros((2, 5, 5), np.float32)

    def joined(sizes):
        return jdali.ops.stack(*square, axis=1, extent=(sizes, sizes))[1]

    np.testing.assert_array_equal(jax.jit(joined)(np.int32([2, 3])), [2, 2, 3])
    with pytest.raises(TracedArgumentError, match=r"^transforms.combine: more than the size"):
        jax.eval_shape(
            lambda n: jdali.ops.transforms.combine(square[0, :3, :4], square[0, :3, :4], extent=(n, n)),
            np.int32([3, 4]),
        )


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


def test_layout_of_the_output_is_an_argument_where_dali_has_one():
    signal = np.linspace(-1, 1, 16, dtype=np.float32)
    size = {"window_length": 4, "window_step": 2}
    by_frequency, by_time = (jdali.ops.spectrogram(signal, layout=name, **size) for name in ("ft", "tf"))
    assert by_time.shape == (9, 3)
    np.testing.assert_array_equal(by_time, by_frequency.T)


def test_python_numbers_have_the_types_of_constants():
    small = np.uint8([250, 7])
    with jax.enable_x64(True):
        assert jdali.ops.math.add(small, 10).dtype == np.int32
        assert jdali.ops.math.mul(small, 0.5).dtype == np.float32
        assert jdali.ops.stack([1.5, 2.0], [3.0, 4.0]).dtype == np.float32
        assert jdali.ops.math.add(small, np.float64(10)).dtype == np.float64
        assert jax.jit(lambda value: jdali.ops.math.add(value, 10))(small).dtype == np.int32


def test_random_operator_asks_for_its_key():
    with pytest.raises(TypeError, match=r"^random.normal: needs a JAX key as its first argument"):
        jdali.ops.random.normal()
