"""The pure functions of `jdali.ops` under `jit`, `vmap`, `grad` and `shard_map`, every compiled operator.

The examples are in `pure_cases`. What the operators compute is tested elsewhere; here every
transformation must give what the plain call gives, and derivatives what finite differences give.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from ops.pure_calls import (
    DEVICES,
    OPERATORS,
    Sample,
    batch_of,
    call,
    compare,
    compiled,
    eager,
    jit,
    layout_of,
    mapped,
    one,
    over_devices,
    public,
    samples,
    sharded,
)  # fmt: skip
from ops.pure_cases import CASES, DRAWN, GROUPS, LARGE, Case
from support import oracle
from support.shared_programs import compilations
from support.some import drawn, kept, some

import jdali
import jdali.ops
from jdali import ops, types
from jdali._errors import TracedArgumentError
from jdali._numerics.platform import forced, known_platform
from jdali._operators.record import REGISTRY, ArgKind, Operator


def of_operators(case: Case) -> list[str]:
    return [case.op]


DIFFERENTIABLE = [case for case in CASES if case.grad]
DIFFERENTIATED = drawn(kept(DIFFERENTIABLE, of_operators), 18)


def only(chosen: Sequence[Case], cases: Sequence[Case] = CASES) -> pytest.MarkDecorator:
    """Parametrized over the cases; a normal run has those that were chosen."""
    return pytest.mark.parametrize(
        "case",
        [pytest.param(case, marks=() if case in chosen else pytest.mark.exhaustive) for case in cases],
        ids=str,
    )


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


@only(DRAWN)
def test_jit(case: Case):
    function = compiled(case)
    stacked = samples(case, DEVICES)
    for i, want in enumerate(eager(case)):
        compare(case, function(one(stacked, i)), want)


@pytest.mark.skipif(
    known_platform() is not None,
    reason="JDALI_TRACE_FOR calls a branch without the program that has all of them",
)
@only(DRAWN)
def test_a_plain_call_compiles_once(case: Case):
    """A loop that is not part of a program of its own is compiled anew by each call."""
    eager(case)
    sample = one(samples(case, DEVICES), 0)
    with compilations() as programs:
        call(case, sample)
    assert programs == []


@only(DRAWN)
def test_vmap(case: Case):
    for i, want in enumerate(eager(case)):
        compare(case, tuple(out[i] for out in batch_of(case, mapped)), want)


EVERY = [*CASES, *LARGE]


def of_groups(seed: int) -> Any:
    """Runs a case of each group, another one for each seed: what is sharded by the sample computes what it did."""
    group_of = {case: number for number, group in enumerate(GROUPS) for case in group}
    return some("case", EVERY, lambda case: [group_of.get(case)], seed, ids=str)


@pytest.mark.cases(4)
@of_groups(1)
def test_shard_map(case: Case):
    compare(case, batch_of(case, sharded, (case,)), batch_of(case, mapped))


@pytest.mark.cases(4)
@of_groups(2)
def test_batch_sharded_over_a_mesh_of_explicit_axes(case: Case):
    """What `jax.make_mesh` makes, without a word about sharding in the user's program."""
    got = batch_of(case, mapped, (case,), axis_type=AxisType.Explicit)
    compare(case, got, batch_of(case, mapped))
    if case.inputs:
        assert all(out.sharding.is_equivalent_to(over_devices(AxisType.Explicit), out.ndim) for out in got)


@pytest.mark.cases(20)
@only([case for case in EVERY if case not in DRAWN], EVERY)
def test_a_sharded_batch_is_traced(case: Case):
    """In one of the two ways; what JAX refuses of them it refuses here. A normal run has the cases that it does not compute."""
    batch, explicit = samples(case, DEVICES), EVERY.index(case) % 4 >= 2
    placed = jax.device_put(batch, over_devices(AxisType.Explicit)) if explicit else batch
    got = jax.eval_shape((mapped if explicit else sharded)(case), placed)
    assert {out.shape[0] for out in got} == {DEVICES}
    if explicit and case.inputs:
        assert {out.sharding.spec[0] for out in got} == {"batch"}


def test_axes_of_one_sample_stay_sharded_over_explicit_axes_where_their_sizes_allow_it():
    mesh = jax.make_mesh((2,), ("row",), axis_types=(AxisType.Explicit,), devices=jax.devices()[:2])
    rows = NamedSharding(mesh, PartitionSpec("row"))
    picture = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    placed = jax.device_put(picture, rows)
    flipped = jax.jit(lambda image: jdali.ops.flip(image, layout="HWC"))(placed)
    np.testing.assert_array_equal(flipped, picture[:, ::-1])
    assert flipped.sharding.is_equivalent_to(rows, 3)
    cut = jax.jit(lambda image: jdali.ops.slice(image, [0], [3], axes=[0]))(placed)
    np.testing.assert_array_equal(cut, picture[:3])
    assert cut.sharding.is_fully_replicated


def factors_of(case: Case) -> list[np.ndarray]:
    """What the outputs are multiplied by before they are summed up, so that no derivatives cancel."""
    outputs = jax.eval_shape(lambda stacked: call(case, one(stacked, 0)), samples(case, DEVICES))
    return [np.random.default_rng(i).uniform(0.5, 1, out.shape) for i, out in enumerate(outputs)]


def variables(case: Case, sample: Sample) -> dict[int | str, Any]:
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
        return jax.grad(total)(list(variables(case, first).values()), first)

    return function


def central_differences(case: Case, sample: Sample, name: int | str) -> np.ndarray:
    factors, value = factors_of(case), variables(case, sample)[name]

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


@only(DIFFERENTIATED, DIFFERENTIABLE)
def test_grad(case: Case):
    sample = one(samples(case, DEVICES), 0)
    for name, derivative in zip(case.grad, batch_of(case, derivatives, DIFFERENTIATED), strict=True):
        assert np.isfinite(derivative).all(), name
        expected = central_differences(case, sample, name)
        # They are wrong by the third derivative times step², and by the noise of float32.
        scale = max(float(np.abs(expected).max()), 1e-2)
        np.testing.assert_allclose(derivative, expected, rtol=0, atol=1e-2 * scale, err_msg=str(name))


# Cases whose program for accelerators is another than the CPU's, one of each kernel; those that compile quickly.
ACCELERATED = {
    "nonsilent_region", "clahe", "jpeg_compression_distortion", "filter", "laplacian-large", "experimental.median_blur",
    "spectrogram", "rotate-large", "audio_resample", "crop_mirror_normalize", "flip", "to_decibels",
}  # fmt: skip
SLOWER = {
    "multi_paste", "multi_paste-shares", "resize", "resize-uint8", "resize_crop_mirror", "resize_crop_mirror-volume",
    "fast_resize_crop_mirror", "fast_resize_crop_mirror-volume", "laplacian", "tensor_resize",
    "resize-large", "laplacian-volume", "gaussian_blur-volume",
}  # fmt: skip
# Those whose program for a TPU is another than that for a GPU.
OF_TPUS = {"rotate-large", "spectrogram", "resize"}


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    ("case", "platform"),
    [
        pytest.param(
            case, platform, id=f"{case}-{platform}",
            marks=() if str(case) in ACCELERATED else pytest.mark.exhaustive,
        )
        for case in EVERY
        if str(case) in ACCELERATED | SLOWER
        for platform in ("gpu", *["tpu"] * (str(case) in OF_TPUS))
    ],
)  # fmt: skip
def test_program_for_accelerators(case: Case, platform: str):
    """Its `jit(vmap)` and its derivatives, run on a CPU."""
    wanted = eager(case), batch_of(case, derivatives, DIFFERENTIATED) if case.grad else ()
    own = derivatives(case) if case.grad else lambda _: []
    with forced(platform):
        outputs, found = jit(lambda every: (mapped(case)(every), own(every)))(samples(case, DEVICES))
    for i, want in enumerate(wanted[0]):
        compare(case, tuple(out[i] for out in outputs), want)
    for derivative, want in zip(found, wanted[1], strict=True):
        scale = max(float(np.abs(want).max()), 1e-2)
        np.testing.assert_allclose(derivative, want, rtol=0, atol=1e-5 * scale)


@pytest.mark.exhaustive
def test_no_other_case_has_a_program_for_accelerators(monkeypatch):
    """But for conversions to small integers, which numerics/test_rounding.py has."""
    monkeypatch.setattr("jdali._numerics.rounding.known_platform", lambda: "cpu")

    def traced(case: Case, platform: str) -> str:
        with forced(platform):
            return str(jax.make_jaxpr(lambda every: mapped(case)(every))(samples(case, 2)))

    found = {str(case) for case in EVERY if traced(case, "cpu") != traced(case, "gpu")}
    assert found == ACCELERATED | SLOWER


REFUSED = [(case, name) for case in CASES for name in case.refused]


@pytest.mark.cases(20)
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


@pytest.mark.cases(25)
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


@pytest.mark.cases(20)
@pytest.mark.parametrize("case", [case for case in CASES if 0 in case.grad], ids=str)
def test_floats_stay_floats_unless_another_type_is_asked_for(case: Case):
    """A derivative of bytes would be 0, silently."""
    optional = {name for name, arg in OPERATORS[case.op].public_args.items() if not arg.required}
    args = {name: value for name, value in case.args.items() if name != "dtype" or name not in optional}
    outputs = jax.eval_shape(
        lambda sample: call(dataclasses.replace(case, args=args), sample), one(samples(case, 1), 0)
    )
    assert any(jnp.issubdtype(out.dtype, jnp.floating) for out in outputs)


@pytest.mark.cases(1)
@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16, jnp.float32])
def test_hsv_of_floats(dtype: Any):
    picture = jnp.asarray(np.linspace(0.1, 0.9, 36).reshape(3, 4, 3), dtype)

    def total(saturation: Any) -> Any:
        result = jdali.ops.hsv(picture, hue=20.0, saturation=saturation)
        assert result.dtype == dtype
        return result.astype(jnp.float32).sum()

    # It is linear in the saturation: its derivative is the difference of two values.
    slope = total(1.5) - total(0.5)
    assert abs(slope) > 0.1
    np.testing.assert_allclose(jax.grad(total)(1.0), slope, rtol=2e-2 if dtype != jnp.float32 else 1e-4)
    assert jdali.ops.hsv((picture * 255).astype(jnp.uint8), hue=20.0).dtype == jnp.uint8
    assert jdali.ops.hsv((picture * 255).astype(jnp.int16), hue=20.0).dtype == jnp.uint8
    assert jdali.ops.hsv(picture, hue=20.0, dtype=jdali.types.UINT8).dtype == jnp.uint8


@pytest.mark.oracle
def test_hsv_of_floats_is_bytes_on_dalis_surfaces():
    picture = np.linspace(0, 255, 36, dtype=np.float32).reshape(3, 4, 3)
    ((theirs,),) = oracle.run("hsv", [[picture]], {"hue": 20.0}, layout="HWC")
    assert theirs.dtype == np.uint8
    with jdali.Pipeline(batch_size=1, num_threads=1) as pipe:
        pipe.set_outputs(
            jdali.fn.hsv(jdali.fn.external_source([[picture]], cycle=True, layout="HWC"), hue=20.0)
        )
    (ours,) = pipe.run()
    pipe.close()
    for found in (
        ours.at(0),
        np.asarray(jdali.dynamic.hsv(jdali.dynamic.tensor(picture, layout="HWC"), hue=20.0)),
    ):
        assert found.dtype == np.uint8
        np.testing.assert_array_equal(found, theirs)


def test_inputs_that_decide_sizes_may_be_constants_of_a_program():
    data = np.arange(12, dtype=np.float32).reshape(3, 4)
    reshaped = jax.jit(lambda d: jdali.ops.reshape(d, np.int32([2, 6])))(data)
    np.testing.assert_array_equal(reshaped, data.reshape(2, 6))
    cut = jax.jit(lambda d: jdali.ops.slice(d, np.int32([1, 0]), np.int32([2, 3]), layout="HW"))(data)
    np.testing.assert_array_equal(cut, data[:3, 1:3])


def test_layout_of_the_output_is_an_argument_where_dali_has_one():
    signal = np.linspace(-1, 1, 16, dtype=np.float32)
    size = {"window_length": 4, "window_step": 2}
    by_frequency, by_time = (jdali.ops.spectrogram(signal, layout=name, **size) for name in ("ft", "tf"))
    assert by_time.shape == (9, 3)
    np.testing.assert_array_equal(by_time, by_frequency.T)


@pytest.mark.parametrize(
    ("function", "arguments", "narrow"),
    [
        (ops.cast, {"dtype": types.INT64}, np.int32),
        (ops.cast, {"dtype": types.FLOAT64}, np.float32),
        (ops.normalize, {"dtype": types.UINT64}, np.uint32),
        (ops.shapes, {}, np.int32),
        (ops.reductions.sum, {"dtype": types.UINT64}, np.uint32),
        (ops.one_hot, {"dtype": types.FLOAT64, "num_classes": 2}, np.float32),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_64_bits_are_32_without_x64(function, arguments, narrow):
    for run in (function, jax.jit(functools.partial(function, **arguments))):
        given = arguments if run is function else {}
        assert run(jnp.ones((4, 4, 3)), **given).dtype == narrow
    assert ops.reductions.sum(jnp.ones(3, jnp.int32)).dtype == np.int32


def test_python_numbers_have_the_types_of_constants():
    small = np.uint8([250, 7])
    with jax.enable_x64(True):
        assert jdali.ops.math.add(small, 10).dtype == np.int32
        assert jdali.ops.math.mul(small, 0.5).dtype == np.float32
        assert jdali.ops.stack([1.5, 2.0], [3.0, 4.0]).dtype == np.float32
        assert jdali.ops.math.add(small, np.float64(10)).dtype == np.float64
        assert jax.jit(lambda value: jdali.ops.math.add(value, 10))(small).dtype == np.int32


@pytest.mark.cases(24)
@pytest.mark.parametrize(
    "case", [case for case in CASES if any(i.dtype == np.float32 for i in case.inputs)], ids=str
)
def test_bfloat16_is_taken_or_refused_by_name(case: Case):
    sample = one(samples(case, DEVICES), 0)
    short = [i.astype(jnp.bfloat16) if np.asarray(i).dtype == np.float32 else i for i in sample.inputs]
    given = dataclasses.replace(sample, inputs=short)
    refused = None
    try:
        outputs = jax.eval_shape(lambda: call(case, given))
    except (TypeError, ValueError) as error:
        refused = str(error)
    if refused is None:
        plain = jax.eval_shape(lambda: call(case, sample))
        for found, expected in zip(outputs, plain, strict=True):
            assert jnp.issubdtype(found.dtype, jnp.floating) == jnp.issubdtype(expected.dtype, jnp.floating)
    else:
        assert re.match(r"[\w.]+: ", refused)


@pytest.mark.parametrize("operator", ["brightness_contrast", "brightness", "contrast"])
def test_brightness_of_bfloat16_is_that_of_float32(operator: str):
    picture = np.linspace(0, 1, 24, dtype=np.float32).reshape(2, 4, 3)
    argument = {"contrast": 1.5} if operator == "contrast" else {"brightness": 1.5}
    found = public(operator)(jnp.asarray(picture, jnp.bfloat16), **argument)
    assert found.dtype == jnp.bfloat16
    np.testing.assert_allclose(
        np.float32(found), (picture - 0.5) * 1.5 + 0.5 if operator == "contrast" else picture * 1.5, atol=0.01
    )  # bfloat16 has 8 bits


@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("slice", {"rel_start": [0.0], "rel_shape": [1e30], "axes": [0], "out_of_bounds_policy": "pad"}),
        ("slice", {"rel_start": [0.0], "rel_shape": [1e18], "axes": [0], "out_of_bounds_policy": "pad"}),
        ("audio_resample", {"scale": 1e30}),
        ("audio_resample", {"in_rate": 1.0, "out_rate": 1e20}),
    ],
)  # fmt: skip
def test_sizes_that_no_array_has_are_refused_by_name(operator: str, arguments: dict[str, Any]):
    with pytest.raises(ValueError, match=f"^{operator}: an output of shape .* is too large"):
        public(operator)(np.zeros(8, np.float32), **arguments)
