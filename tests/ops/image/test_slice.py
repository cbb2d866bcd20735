"""slice against the real DALI, and against numpy's own slices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import batch, contract, oracle
from support.data import image

from jdali import ops, types
from jdali._errors import SampleError, TracedArgumentError
from jdali._operators.pure import pure_call
from jdali._operators.record import REGISTRY
from jdali.ops.image._slice import slice as op

SIZES = [(5, 8), (9, 4), (4, 5), (7, 7)]


def pictures(dtype=np.uint8, channels=3):
    return [image(h, w, channels, dtype, i) for i, (h, w) in enumerate(SIZES)]


def check_hundreds(args, per_sample, inputs):
    layout = ["HWC", *[""] * (len(inputs) - 1)]
    want = oracle.run("slice", inputs, args, per_sample, layout=layout)[0]
    got = batch.run(op, inputs, args, per_sample, layout=layout)
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        case = {k: v[i] for k, v in per_sample.items()}
        np.testing.assert_array_equal(g, w, err_msg=f"sample {i} of {inputs[0][i].shape}: {case}")


def samples_of(rng, count):
    sizes = rng.integers(1, 24, (count, 2))
    return sizes, [rng.integers(0, 255, (h, w, 1), np.uint8) for h, w in sizes]


def test_cuts_what_numpy_cuts():
    picture = image(7, 9)
    args = {"start": [1, 2], "end": [4, 7]}  # of W and H
    contract.check(op, [[picture]], args, layout="HWC", expected=[[picture[2:7, 1:4]]])
    args = {"axes": [-1, 0], "rel_start": [0.5, 0.25], "shape": [1, 3]}  # 1.5 → 2 and 1.75 → 2
    contract.check(op, [[picture]], args, layout="HWC", expected=[[picture[2:5, :, 2:3]]])


@pytest.mark.oracle
@pytest.mark.parametrize("policy", ["pad", "trim_to_shape"])
def test_hundreds_of_relative_windows(policy):
    rng = np.random.default_rng(3)
    count = 300
    _, samples = samples_of(rng, count)
    choices = np.float32([0, 0.25, 0.5, 1 / 3, 2 / 3, 0.1, -0.3, 0.7, 1])
    for start, end in (("rel_start", "rel_end"), ("rel_start", "rel_shape"), ("start", "rel_shape")):
        first = rng.choice(choices, (count, 2))
        # Not empty: DALI computes the borders of an empty window to different precision and may
        # find its end before its start.
        length = rng.choice(np.abs(choices[1:]), (count, 2))
        second = first + length if end == "rel_end" else length
        if start == "start":
            first = rng.integers(-3, 12, (count, 2)).astype(np.int32)
        args = {"out_of_bounds_policy": policy, "fill_values": [7.0]}
        check_hundreds(args, {start: list(first), end: list(second)}, [samples])


@pytest.mark.oracle
@pytest.mark.parametrize("policy", ["error", "pad"])
def test_hundreds_of_absolute_windows(policy):
    rng = np.random.default_rng(4)
    count = 300
    sizes, samples = samples_of(rng, count)
    reach = 0 if policy == "error" else 5
    start = rng.integers(-reach, sizes[:, ::-1] + reach).astype(np.int32)
    length = rng.integers(0, np.maximum(sizes[:, ::-1] - start, 0) + 1 + reach).astype(np.int32)
    args = {"out_of_bounds_policy": policy}
    check_hundreds(args, {"start": list(start), "shape": list(length)}, [samples])
    check_hundreds(args, {"start": list(start), "end": list(start + length)}, [samples])


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("dtype", "args"),
    [
        (np.float32, {}),
        (np.float32, {"normalized_anchor": False}),
        (np.float32, {"normalized_shape": False}),
        (np.float32, {"normalized_shape": False, "normalized_anchor": False}),
        (np.int32, {}),
    ],
)
def test_hundreds_of_positional_windows(dtype, args):
    rng = np.random.default_rng(5)
    count = 200
    _, samples = samples_of(rng, count)
    whole = dtype == np.int32
    anchor = (
        rng.integers(-2, 9, (count, 2)) if whole or "normalized_anchor" in args else rng.random((count, 2))
    )
    shape = rng.integers(0, 9, (count, 2)) if whole or "normalized_shape" in args else rng.random((count, 2))
    if not whole:
        anchor = anchor + rng.choice([0, 0.5, 0.25], anchor.shape) * ("normalized_anchor" in args)
    inputs = [samples, list(anchor.astype(dtype)), list(shape.astype(dtype))]
    check_hundreds(args | {"out_of_bounds_policy": "pad"}, {}, inputs)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("layout", "args"),
    [
        ("HWC", {"start": 1}),
        ("HWC", {"rel_end": [0.55, 0.45]}),
        ("HWC", {"start": [1, 0, 1], "end": [2, 3, 3], "axes": []}),
        ("HWC", {"start": [1, 0, 1], "end": [2, 3, 3], "axis_names": ""}),
        ("HWC", {"start": [1, 2], "shape": [2, 1], "axes": [0, -1], "out_of_bounds_policy": "trim_to_shape"}),
        ("CHW", {"start": [1, 2], "shape": [2, 3], "out_of_bounds_policy": "pad"}),
        ("FHWC", {"start": [1, 2], "shape": [2, 3], "axis_names": "FH", "out_of_bounds_policy": "pad"}),
        ("HW", {"start": [1, 2], "shape": [2, 3]}),
        ("", {"start": [1, 2], "shape": [2, 3]}),
        ("X", {"start": 1, "shape": [3], "axis_names": "X"}),
        ("HWC", {"start": -1, "shape": 7, "out_of_bounds_policy": "pad", "fill_values": [1.0, 2, 3]}),
    ],
    ids=str,
)
def test_layouts_and_axes(layout, args):
    rng = np.random.default_rng(1)
    extents = {"F": (2, 3), "H": (6, 5), "W": (4, 9), "C": (3, 3), "X": (4, 9)}
    samples = [rng.integers(0, 255, [extents[c][i] for c in layout or "HWC"], np.uint8) for i in (0, 1)]
    contract.check(op, [samples], args, layout=layout)


@pytest.mark.oracle
def test_axes_that_differ():
    per_sample = {"axes": list(np.int32([[0, 1], [1, 0], [0, 2], [2, 1]]))}
    contract.check(op, [pictures()], {"start": [1, 1], "shape": [2, 2]}, per_sample, layout="HWC")


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.uint32, np.float16])
def test_dtypes(dtype):
    contract.check(op, [pictures(dtype)[:1]], {"start": [1, 2], "shape": [2, 3]}, layout="HWC")


@pytest.mark.oracle
@pytest.mark.parametrize("out", [types.UINT8, types.FLOAT16, types.FLOAT])
def test_converts(out):
    edges = np.float32([0.4, 2.9, 254.9, 255.4, 300, 65519, 7e4, -0.6, -1.5, -200]).reshape(1, -1, 1)
    contract.check(op, [[edges]], {"start": [1, 0], "dtype": out}, layout="HWC")


@pytest.mark.oracle
def test_wide_dtypes():
    for dtype in (np.int64, np.float64):
        contract.check(op, [pictures(dtype)[:1]], {"start": [1, 2], "shape": [2, 3]}, layout="HWC", x64=True)


def test_start_may_be_a_tracer():
    data = jnp.arange(40, dtype=jnp.float32).reshape(5, 8)

    def window(start, data):
        return pure_call(op, [data], {"start": start, "shape": [3, 2], "axes": [1, 0]})

    got = jax.jit(jax.vmap(window, in_axes=(0, None)))(jnp.int32([[0, 1], [5, 3]]), data)
    np.testing.assert_array_equal(got[0], data[1:3, :3])
    np.testing.assert_array_equal(got[1], data[3:, 5:])
    assert jax.grad(lambda d: window(jnp.int32([1, 1]), d).sum())(data).sum() == 6
    relative = jax.jit(lambda s: pure_call(op, [data], {"rel_start": s, "shape": [3, 2]}, layout="HW"))
    np.testing.assert_array_equal(relative(jnp.float32([0.5, 0.5])), data[3:5, 4:7])
    with pytest.raises(TracedArgumentError, match="'rel_shape'"):
        jax.jit(lambda s: pure_call(op, [data], {"rel_shape": s}, layout="HW"))(jnp.float32([0.5, 0.5]))
    with pytest.raises(TracedArgumentError, match="'anchor'"):
        jax.jit(lambda a: pure_call(op, [data, a, jnp.int32([1, 1])], {}, layout=["HW", "", ""]))(
            jnp.int32([0, 0])
        )


def test_empty_relative_window():
    args = {"rel_start": [0.3, 0.3], "rel_shape": [0.0, 0.5], "axes": [0, 1]}
    data = np.zeros((10, 8), np.uint8)
    contract.check(op, [[data]], args, expected=[[data[:0, :4]]])


def test_empty_result_and_empty_data():
    picture = image(4, 5)
    args = {"start": [2, 9], "shape": [3, 4], "out_of_bounds_policy": "trim_to_shape"}
    contract.check(op, [[picture]], args, layout="HWC", expected=[[picture[:0, 2:5]]])
    args = {"start": [0, 0], "shape": [2, 3], "out_of_bounds_policy": "pad", "fill_values": [4.0]}
    empty, expected = np.zeros((0, 2, 1), np.uint8), np.full((3, 2, 1), 4, np.uint8)
    contract.check(op, [[empty]], args, layout="HWC", expected=[[expected]])


@pytest.mark.parametrize("far", [9, -9, 2**31, -(2**31), 2**32, -(2**32)])
def test_a_window_outside_of_the_sample_is_filled(far):
    """Also where int32 does not hold its begin."""
    args = {"normalized_anchor": False, "normalized_shape": False, "out_of_bounds_policy": "pad"}
    inputs = [[image(7, 8)], [np.float32([far, 0])], [np.float32([4, 3])]]
    expected = [[np.full((3, 4, 3), 9, np.uint8)]]
    contract.check(op, inputs, args | {"fill_values": [9.0]}, layout=["HWC", "", ""], expected=expected)


@pytest.mark.parametrize(
    ("inputs", "args", "error", "text"),
    [
        (
            0,
            {"start": [1, 1], "end": [9, 2]},
            SampleError,
            r"slice: Slice can't be placed out of bounds with current policy. Got: the window at \[1, 1, 0\] of size",
        ),
        (
            0,
            {"start": [1, 1], "end": [2, 0]},
            SampleError,
            "slice: end coordinates can't be before start coordinates. Got:",
        ),
        (
            0,
            {"start": [1, 1], "rel_start": [0.0, 0]},
            ValueError,
            "slice: .* arguments are mutually exclusive, got start and rel_start",
        ),
        (
            0,
            {"end": [1, 1], "shape": [1, 1]},
            ValueError,
            '"shape", and "rel_shape" arguments are mutually exclusive, got end and shape',
        ),
        (0, {"shape": [-2, 2]}, SampleError, "slice: shape value out of range"),
        (
            0,
            {"start": [1, 1, 1]},
            ValueError,
            'slice: Argument "start" expected shape 2 but got',
        ),
        (
            0,
            {"start": [1, 1], "axes": [0, 3]},
            SampleError,
            r"slice: Axis 3 out of range. Expected range is \[-3, 2\] for a 3D input",
        ),
        (
            0,
            {"start": [1, 1], "axes": [0, -3]},
            SampleError,
            r"slice: Axis index 0 occurs more than once in ``axes`` \[0, 0\] \(might",
        ),
        (
            0,
            {"start": [1, 1], "axes": [0, 1], "axis_names": "HW"},
            ValueError,
            '"axes" and "axis_names" are mutually exclusive',
        ),
        (
            0,
            {"start": [1, 1], "axis_names": "XY"},
            ValueError,
            "slice: Axis 'X' is not present in the input layout, which is 'HWC'",
        ),
        (0, {}, ValueError, r"slice: Expected named slice arguments \(e.g. start/end, start/shape\)"),
        (1, {}, ValueError, r"slice: Expected named slice arguments \(e.g. start/end, start/shape\)"),
        (2, {"start": [1, 1]}, ValueError, "slice: Named arguments start/end/shape are not compatible with"),
        (2, {"axes": [0]}, ValueError, "slice: Expected 1 elements for slice arguments"),
    ],
)
def test_errors(inputs, args, error, text):
    given = [image(4, 5), *[np.float32([0.5, 0.5])] * inputs]
    with pytest.raises(error, match=text):
        pure_call(op, given, args, layout=["HWC", *[""] * inputs])


def test_positional_types():
    with pytest.raises(TypeError, match="slice: Anchor and shape should have the same type. Got: int32 and"):
        pure_call(op, [image(4, 5), np.int32([0, 0]), np.float32([1, 1])], {}, layout=["HWC", "", ""])
    with pytest.raises(TypeError, match="slice: Unsupported type of anchor and shape arguments: float16"):
        pure_call(op, [image(4, 5), np.float16([0, 0]), np.float16([1, 1])], {}, layout=["HWC", "", ""])


BORDERS = ("clamp", "reflect_101", "reflect_1001", "wrap")


@pytest.mark.oracle
@pytest.mark.parametrize("policy", BORDERS)
def test_borders(policy):
    """Also of samples of one element, and of windows far outside."""
    data = [
        np.arange(6, dtype=np.uint8),
        np.arange(3, dtype=np.uint8),
        np.uint8([7]),
        np.arange(4, dtype=np.uint8),
    ]
    starts, sizes = [[-14], [5], [-3], [1]], [[30], [4], [9], [2]]
    contract.check(
        REGISTRY["slice"], [data], {"axes": [0], "out_of_bounds_policy": policy},
        {"start": np.int32(starts), "shape": np.int32(sizes)},
    )  # fmt: skip
    image = [np.arange(24, dtype=np.int16).reshape(2, 4, 3)]
    contract.check(
        REGISTRY["slice"], [image],
        {"axis_names": "HW", "start": [-2, 3], "shape": [5, 6], "out_of_bounds_policy": policy}, layout="HWC",
    )  # fmt: skip
    contract.check(
        REGISTRY["crop"],
        [image],
        {"crop": [7, 9], "crop_pos_x": 0.2, "out_of_bounds_policy": policy},
        layout="HWC",
    )


@pytest.mark.parametrize("policy", BORDERS)
def test_an_empty_sample_has_no_border(policy):
    for function, args in (
        (ops.slice, {"axes": [0], "start": [-1], "shape": [2]}),
        (ops.crop, {"crop": [2, 2]}),
    ):
        empty = np.zeros((0, 2, 1)[: 1 if function is ops.slice else 3], np.uint8)
        with pytest.raises(ValueError, match="is empty, so out_of_bounds_policy .* has nothing to repeat"):
            function(empty, out_of_bounds_policy=policy, **args)


CONSTANT = ["fill", "constant"]
BORDERS = [*CONSTANT, "101", "Reflect101", "1001", "reflect1001", "REFLECT", "edge", "Clamp"]
WINDOWS = {
    "slice": ({"start": (-2,), "end": (6,), "axes": (0,)}, BORDERS),
    "crop": ({"crop": (9, 3)}, BORDERS),
    "crop_mirror_normalize": ({"crop": (9, 3), "dtype": types.UINT8}, CONSTANT),
}


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "policy"), [(name, policy) for name, (_, policies) in WINDOWS.items() for policy in policies]
)
def test_dalis_other_names_of_borders(name, policy):
    """DALI has several names for a border, in letters of either case."""
    picture, args = image(4, 5, 3), {**WINDOWS[name][0], "out_of_bounds_policy": policy}
    (expected,) = oracle.run(name, [[picture]], args, layout="HWC")
    np.testing.assert_array_equal(contract.pure(REGISTRY[name], [picture], args, layout="HWC"), expected[0])
