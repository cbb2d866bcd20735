"""Shapes and element types of per-sample arguments: one rule, for every operator, against the real DALI.

What differs from DALI on purpose:

* One number may be a tensor of one element everywhere; DALI's newer operators insist on no axes (`EXACT`).
* A one-element vector stands for all elements where one number does, also as a tensor.
* Vectors do not come as matrices of one row or column (`rotate(axis=)`, `random_bbox_crop(crop_shape=)`).
* Every sample gives a vector of the same length, save where DALI has a use for others (`ragged` arguments);
  `crop` of three elements for some pictures, or an empty `start` for a default, are refused.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from ops.pure_cases import CASES, MIXING
from support import oracle, refusals

import jdali
import jdali.dynamic as jd
from jdali import Pipeline, fn, ops
from jdali._errors import OperatorError, SampleError
from jdali._operators import argument_rules
from jdali._operators.record import REGISTRY, Arg, ArgKind, Operator, PerSample
from jdali.ops.image._rotate import rotate

COUNT = 3
PER_SAMPLE = [
    (op, arg)
    for op in REGISTRY.values()
    for arg in op.public_args.values()
    if arg.kind is ArgKind.PER_SAMPLE and not arg.name.startswith(("lo_", "hi_", "step_", "at_"))
]
each_argument = pytest.mark.parametrize(
    ("op", "arg"), PER_SAMPLE, ids=[f"{op.name}-{arg.name}" for op, arg in PER_SAMPLE]
)
# What DALI takes and jdali refuses: see above; and on pictures DALI never looks at a position in depth.
STRICT = {
    ("crop", "different lengths"), ("axis", "three axes"), ("blue_position", "three axes"),
    ("erase-anchor", "three axes"), ("erase-shape", "three axes"),
    *((f"{name}-mask", what) for name in ("sphere", "water") for what in ("two elements", "different lengths")),
    *(("crop_pos_z", what) for what in ("two elements", "different lengths", "another type")),
}  # fmt: skip
# DALI wants tensors without axes for these operators' numbers.
EXACT = (
    "audio_resample", "bb_flip", "noise.", "fast_resize_crop_mirror-mirror",
    "jpeg_compression_distortion", "pad", "permute_batch", "random.",
    "resize_crop_mirror-mirror", "transforms.",
)  # fmt: skip


def values(arg: Arg, *shapes: tuple[int, ...]) -> np.ndarray:
    """A value of ones for each sample, in the argument's element type."""
    dtype = arg.element_type or np.float32
    return argument_rules.as_objects([np.ones(shape, dtype) for shape in shapes])


def stacked(arg: Arg, shape: tuple[int, ...]) -> np.ndarray:
    return np.stack(list(values(arg, *[shape] * COUNT)))


# --- the rule ------------------------------------------------------------------------------------
@each_argument
def test_every_argument_follows_its_annotation(op: Operator, arg: Arg):
    take = functools.partial(argument_rules.batch, op.name, arg, batch_size=COUNT)
    longest = max(arg.ranks or {0})
    if arg.is_number:
        for shape in ((), (1,), (1, 1)):
            assert take(stacked(arg, shape)).shape == (COUNT,)
            assert argument_rules.constant(op.name, arg, np.ones(shape)).shape == ()
        for sample, shapes in enumerate([[(2,), (2,), (2,)], [(1,), (0,), (1,)], [(1,), (1,), (2,)]]):
            found = shapes[sample]
            text = rf"{op.name}: .*argument '{arg.name}' of sample {sample} has shape \({found[0]},\)"
            with pytest.raises(SampleError, match=text) as error:
                take(values(arg, *shapes))
            assert (error.value.sample, error.value.argument) == (sample, arg.name)
        with pytest.raises(TypeError, match="must be a real number"):
            argument_rules.constant(op.name, arg, [1, 1])
        return
    if arg.ranks is None:
        return
    if 1 not in arg.ranks:
        assert take(stacked(arg, (2, 4))).shape == (COUNT, 2, 4)
        with pytest.raises(ValueError, match=f"{op.name}: argument '{arg.name}' must be a matrix"):
            take(stacked(arg, (4,)))
        return
    assert take(stacked(arg, ())).shape == (COUNT,)
    assert take(stacked(arg, (4,))).shape == (COUNT, 4)
    with pytest.raises(ValueError, match=f"{op.name}: argument '{arg.name}' must be .*vector"):
        take(stacked(arg, (1,) * (longest + 1)))
    if arg.ragged:
        assert [len(v) for v in take(values(arg, (2,), (3,), (1,)))] == [2, 3, 1]
        return
    text = rf"'{arg.name}' of sample 1 has shape \(3,\), expected \(2,\) as that of sample 0"
    with pytest.raises(SampleError, match=text):
        take(values(arg, (2,), (3,), (2,)))


def test_annotations_say_which_shapes_are_taken():
    def ranks(annotation: Any) -> Any:
        arg = Arg("a", ArgKind.PER_SAMPLE, annotation, None)
        return arg.ranks, arg.ragged, arg.element_type

    assert PerSample is not None
    assert ranks(float | None) == ({0}, False, np.float32)
    assert ranks(tuple[int | np.integer, ...]) == ({1}, False, np.int32)
    assert ranks(list[float] | tuple[float, ...] | None) == ({1}, True, np.float32)
    assert ranks(tuple[float, ...] | tuple[tuple[float, ...], ...]) == ({1, 2}, False, np.float32)
    assert ranks(float | np.ndarray) == (None, False, np.float32)


@pytest.mark.parametrize(
    ("name", "argument", "taken", "refused"),
    [
        ("rotate", "angle", "float32", "float64 float16 int32 bool"),
        ("rotate", "size", "float32 int32 int64 uint8", "float64 bool"),
        ("flip", "horizontal", "int32", "int64 uint8 bool float32"),
        ("reshape", "shape", "int32 int64 uint8", "float32 bool"),
        ("_tensor_subscript", "at_0", "int32 int64 uint8", "float32 bool"),
    ],
)
def test_a_tensor_must_have_the_type_of_its_argument(name, argument, taken, refused):
    arg = REGISTRY[name].args[argument]
    for dtype in taken.split():
        argument_rules.check_dtype(name, arg, np.dtype(dtype))
    for dtype in refused.split():
        with pytest.raises(
            TypeError, match=f"{name}: argument '{argument}' takes a tensor of .*, got {dtype}"
        ):
            argument_rules.check_dtype(name, arg, np.dtype(dtype))


# --- against DALI --------------------------------------------------------------------------------
def examples() -> Iterator[tuple[str, str, Any, dict[str, Any], dict[str, Any]]]:
    """(operator, argument, case, constant arguments, values by sample) of calls that DALI takes."""
    seen = set()
    for case in CASES:
        op = REGISTRY[case.op]
        per_sample = {k: [op.args[k].convert(x) for x in v] for k, v in case.traced.items()}
        constants = {
            k: [op.args[k].convert(v)] * COUNT
            for k, v in case.args.items()
            if op.args[k].kind is ArgKind.PER_SAMPLE
        }
        for name in per_sample | constants:
            if (case.op, name) not in seen:
                seen.add((case.op, name))
                rest = {k: v for k, v in case.args.items() if k != name}
                yield case.op, name, case, rest, per_sample | constants


EXAMPLES = [example for example in examples() if example[2] not in MIXING]  # which DALI has not


def dali_runs(name, inputs, args, per_sample, layout):
    oracle.run(name, inputs, args, per_sample, layout=layout)


@pytest.mark.cases(37)
@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "argument", "case", "args", "given"), EXAMPLES, ids=[f"{e[0]}-{e[1]}" for e in EXAMPLES]
)
def test_wrong_shapes_and_types_as_dali(name, argument, case, args, given):
    arg = REGISTRY[name].args[argument]
    exact = np.stack(given[argument])
    others = {k: v for k, v in given.items() if k != argument and k not in args}

    def dali_takes(value: Sequence[np.ndarray]) -> bool:
        inputs, fed = [list(i) for i in case.inputs], others | {argument: value}
        refusal = refusals.answer(dali_runs, name, inputs, args, fed, case.layout).refusal
        assert refusal is None or issubclass(refusal.kind, RuntimeError), refusal
        return refusal is None

    def jdali_takes(value: Sequence[np.ndarray]) -> bool:
        try:
            argument_rules.check_dtype(name, arg, value[0].dtype)
            argument_rules.batch(name, arg, argument_rules.as_objects(value), COUNT)
        except (ValueError, TypeError):
            return False
        return True

    if arg.ranks is None or not dali_takes(list(exact)):
        pytest.skip("the example is no example of this argument for DALI")
    number = exact.ndim == 1
    flat = exact.reshape(COUNT, -1)
    shapes = {
        "one element": [v[:1] for v in flat] if number else None,
        "two elements": [np.repeat(v, 2) for v in flat] if number else None,
        "different lengths": [flat[0], np.append(flat[1], flat[1][-1:]), flat[2]],
        "three axes": list(flat[:, None, None]),
    }
    tried = [(what, value) for what, value in shapes.items() if value is not None]
    # The oracle narrows 64-bit values, so those of 16 bits stand for all other types.
    for dtype in ("int16", "float16", "bool", "int32" if exact.dtype.kind == "f" else "float32"):
        tried.append(("another type", [np.asarray(v, dtype) for v in exact]))
    lenient = arg.is_number and f"{name}-{argument}".startswith(EXACT)
    for what, value in tried:
        taken = dali_takes(value)
        if what in ("one element", "three axes") and arg.is_number:
            assert jdali_takes(value), what
            assert taken or lenient, what
        elif not (arg.ragged and what == "different lengths"):  # which lengths is for `setup` to say
            refused = bool({(argument, what), (f"{name}-{argument}", what)} & STRICT)
            assert jdali_takes(value) == (taken and not refused), (what, value)


# --- in a pipeline -------------------------------------------------------------------------------
PICTURE = np.arange(5 * 6 * 3, dtype=np.uint8).reshape(5, 6, 3)


def run(build: Any, *fed: Sequence[Any], layout: str = "HWC") -> list[np.ndarray]:
    """First output of a pipeline on pictures; `fed` are values by sample, given to `build` as DataNodes."""
    pipe = Pipeline(batch_size=len(fed[0]), num_threads=1, device_id=None, seed=3)
    with pipe:
        pictures = fn.external_source(source=[[PICTURE] * len(fed[0])], cycle=True, layout=layout)
        arguments = [fn.external_source(source=[[np.asarray(v) for v in f]], cycle=True) for f in fed]
        pipe.set_outputs(build(pictures, *arguments))
    with pipe:
        (out,) = pipe.run()
        return [np.array(out.at(i)) for i in range(len(fed[0]))]


F32 = np.float32


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "args", "argument", "given"),
    [
        ("rotate", {"interp_type": 0}, "angle", [90, 0, 180]),
        ("resize", {"interp_type": 0}, "resize_x", [3, 12, 6]),
        ("crop", {"crop_h": 2.0}, "crop_w", [3, 4, 2]),
        ("brightness", {}, "brightness", [2, 0.5, 1]),
    ],
)
def test_numbers_given_as_one_element(name, args, argument, given):
    ones = [F32([v]) for v in given]
    want = oracle.run(name, [[PICTURE] * 3], args, {argument: ones}, layout="HWC")[0]
    got = run(lambda pictures, value: getattr(fn, name)(pictures, **args, **{argument: value}), ones)
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(g, w)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("kind", "text", "argument"),
    [
        (ValueError, "invalid literal for int\\(\\)", {"interp_type": "linear"}),
        (ValueError, "invalid literal for int\\(\\)", {"min_filter": "linear"}),
        (TypeError, "", {"name": 3}),
        (RuntimeError, "", {"device": 3}),
    ],
    ids=str,
)
def test_words_in_place_of_enums_and_numbers_in_place_of_words(kind, text, argument):
    def define(package):
        with package.Pipeline(batch_size=1, num_threads=1, device_id=None):
            package.fn.resize(np.zeros((2, 2, 3), np.uint8), size=3, **argument)

    refusals.check_both(kind, text, define)
    with pytest.raises(kind, match=f"^resize: .*{next(iter(argument))}"):
        define(jdali)


@pytest.mark.oracle
@pytest.mark.parametrize(("kind", "seed"), [(ValueError, "x"), (TypeError, [1]), (ValueError, float("nan"))])
def test_seeds_that_are_no_numbers(kind, seed):
    def define(package):
        with package.Pipeline(batch_size=1, num_threads=1, device_id=None):
            package.fn.random.uniform(seed=seed)

    refusals.check_both(kind, "", define)
    with pytest.raises(kind, match=r"^random\.uniform: argument 'seed' got"):
        define(jdali)


def test_an_enum_of_each_sample_is_an_integer():
    kinds = [np.uint8(0), np.int64(1), np.int32(0)]
    for kind in kinds:
        filters = [np.asarray(kind)] * COUNT
        run(lambda pictures, value: fn.resize(pictures, size=3, interp_type=value), filters)
    with pytest.raises(
        TypeError, match="argument 'interp_type' takes a tensor of any integer type, got float32"
    ):
        run(lambda pictures, value: fn.resize(pictures, size=3, interp_type=value), [F32(1)] * COUNT)


@pytest.mark.oracle
@pytest.mark.parametrize("window", [{}, {"window_size": 3}], ids=["measured", "given"])
def test_lengths_that_differ_where_dali_takes_them(window):
    sigmas = [F32([0.5]), F32([2.0, 0.7]), F32([1.5])]
    want = oracle.run("gaussian_blur", [[PICTURE] * 3], window, {"sigma": sigmas}, layout="HWC")[0]
    got = run(lambda pictures, sigma: fn.gaussian_blur(pictures, sigma=sigma, **window), sigmas)
    for g, w in zip(got, want, strict=True):
        # A sum that is on the edge of two integers may fall to either.
        np.testing.assert_allclose(g.astype(int), w.astype(int), rtol=0, atol=1)


@pytest.mark.parametrize("same_stage", [False, True])
def test_values_to_draw_from_may_differ_in_number(same_stage):
    listed = [F32([5]), F32([1, 2, 3]), F32([7, 8])]

    def draw(_: Any, values: Any) -> Any:
        values = values + 0.0 if same_stage else values
        return fn.random.uniform(values=values, shape=[200])

    for drawn, allowed in zip(run(draw, listed), listed, strict=True):
        assert set(drawn.tolist()) == set(allowed.tolist())


REFUSED = {
    "brightness": lambda p, v: fn.brightness_contrast(p, brightness=v),
    "fill_value": lambda p, v: fn.pad(p, fill_value=v, align=4, axes=[0]),
    "matrix": lambda p, v: fn.warp_affine(p, matrix=v),
    "p": lambda p, v: fn.random.choice(np.arange(6), p=v),
    "shape": lambda p, v: fn.slice(p, start=[0, 0], shape=fn.cast(v, dtype=jd.int32.type_id), axes=[0, 1]),
}


@pytest.mark.parametrize("same_stage", [False, True])
@pytest.mark.parametrize("argument", REFUSED)
def test_different_lengths_are_refused_with_operator_sample_and_line(argument, same_stage):
    """They were taken, and what lay in one sample's padding for the values of another."""
    several = [np.full(n, 1 / 6, F32) for n in (6, 6, 2)]
    number = argument in ("brightness", "fill_value")
    given = [F32([1]), F32([1]), F32([1, 2])] if number else several

    def build(pictures: Any, value: Any) -> Any:
        return REFUSED[argument](pictures, value + 0.0 if same_stage else value)

    text = rf"argument '{argument}' of sample 2 has shape \(2,\), expected"
    if argument == "p":  # may differ in length, but as the elements do
        text = 'Argument "p" expected shape 6 but got'
    with pytest.raises(OperatorError, match=text) as error:
        run(build, given)
    assert error.value.sample == 2
    assert error.value.where.startswith(__file__)


def test_a_vector_of_one_length_in_the_same_stage_has_no_padding():
    """The matrix is padded like any value of a stage, to a roomier shape."""
    matrices = [F32([[1, 0, i], [0, 1, 0]]) for i in range(3)]
    got = run(lambda p, m: fn.warp_affine(p, matrix=m * 1.0, interp_type=0, fill_value=0), matrices)
    for i, picture in enumerate(got):
        want = np.zeros_like(PICTURE)
        want[:, : 6 - i] = PICTURE[:, i:]
        np.testing.assert_array_equal(picture, want)


@pytest.mark.oracle
def test_an_integer_tensor_is_no_angle():
    angles = [np.int32(90)] * 2
    refusals.check(RuntimeError, "", dali_runs, "rotate", [[PICTURE] * 2], {}, {"angle": angles}, "HWC")
    text = "rotate: argument 'angle' takes a tensor of float32, got int32"
    for same_stage in (False, True):
        with pytest.raises(OperatorError, match=text) as error:
            run(lambda p, a, s=same_stage: fn.rotate(p, angle=a + 0 if s else a, keep_size=True), angles)
        assert error.value.where.startswith(__file__)
    with pytest.raises(OperatorError, match="'at_0' takes a tensor of any integer type, got float32"):
        run(lambda p, a: p[a], [F32(1)] * 2)


def test_dynamic_mode_and_pure_functions_convert():
    turned = np.rot90(PICTURE)
    batch = jd.batch([PICTURE] * 2, layout="HWC")
    for angle in (90, np.int64(90), jd.batch([np.int32([90])] * 2)):
        for sample in jd.rotate(batch, angle=angle, interp_type=0).tensors:
            np.testing.assert_array_equal(np.asarray(sample), turned)
    with pytest.raises(SampleError, match="'angle' of sample 1 has shape"):
        jd.rotate(batch, angle=jd.batch([F32([1]), F32([1, 2])]))
    for angle in (90, np.float64(90), [90]):
        np.testing.assert_array_equal(ops.rotate(PICTURE, angle=angle, interp_type=0, layout="HWC"), turned)
    with pytest.raises(TypeError, match="'angle' must be a real number"):
        ops.rotate(PICTURE, angle=[1, 2])
    with pytest.raises(TypeError, match="'angle' must be a real number"):
        run(lambda p, _: fn.rotate(p, angle=[1.0, 2.0]), [0])
    assert rotate.args["angle"].is_number


@pytest.mark.oracle
def test_arguments_of_host_operators():
    boxes = [F32([[0.1, 0.2, 0.3, 0.4]])] * 3
    args = {"input_shape": [40, 50], "keep_size": True}
    angles = [F32([v]) for v in (10, 20, 30)]
    want = oracle.run("bbox_rotate", [boxes], args, {"angle": angles})[0]
    got = run(lambda _, b, a: fn.bbox_rotate(b, angle=a, **args), boxes, angles)
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=0, atol=1e-6)  # of order 1: some ulps of sine and cosine
    with pytest.raises(OperatorError, match=r"bbox_rotate: .*argument 'angle' of sample 1 has shape \(2,\)"):
        run(lambda _, b, a: fn.bbox_rotate(b, angle=a, **args), boxes, [F32([1]), F32([1, 2]), F32([1])])
    with pytest.raises(OperatorError, match="permute_batch: argument 'indices' takes a tensor of int32"):
        run(lambda p, i: fn.permute_batch(p, indices=i), [F32(0)] * 2)


def test_none_among_the_values_is_no_number():
    """NumPy makes NaN of None among numbers, which would be a window of no size."""
    with pytest.raises(
        TypeError, match="crop: argument 'crop' got .* must each be a real number, not 'NoneType'"
    ):
        argument_rules.converted("crop", REGISTRY["crop"].args["crop"], (None, 2))
