"""resize against the real DALI, Pillow and hand-made values."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, PartitionSpec
from PIL import Image
from support import contract, oracle
from support.data import image
from support.some import drawn, times

import jdali
from jdali import fn, types
from jdali._batches import BatchSpec
from jdali._errors import SampleError
from jdali._operators.call import CallRequest, PerBatch, plan_call, run_call
from jdali._operators.pure import pure_call
from jdali.ops.image._resize import resize

FILTERS = [types.INTERP_LINEAR, types.INTERP_CUBIC, types.INTERP_LANCZOS3, types.INTERP_TRIANGULAR,
           types.INTERP_GAUSSIAN]  # fmt: skip
# float32 sums in another order; Lanczos weights add up to a few times the pixels' range of 1.
FLOAT = 1e-5
# The same float that lies at .5 except for the order of summation is rounded to one or the other side.
STEP = 1
# Beyond the small sizes that are multiplied densely on a CPU.
LARGE = (70, 61)


def run(x, layout="HWC", **args):
    return np.asarray(contract.pure(resize, [x], args, layout=layout))


def plan(samples, args, per_sample=None, layout="HWC"):
    batch = {k: PerBatch(np.stack([np.asarray(x) for x in v])) for k, v in (per_sample or {}).items()}
    return plan_call(
        CallRequest(resize, [BatchSpec.of(samples, layout)], args | batch, batch_size=len(samples))
    )


# Sizes


SIZES = [  # of a 12 × 20 image, worked out by hand from DALI's documentation
    ({"size": 5}, (5, 5)),
    ({"size": [5, 0]}, (5, 8)),
    ({"size": [0, 7]}, (4, 7)),
    ({"size": [0, 0]}, (12, 20)),
    ({"size": [5, 0], "mode": "stretch"}, (5, 20)),
    ({"size": [5, 7], "mode": "not_larger"}, (4, 7)),
    ({"size": [5, 7], "mode": "not_smaller"}, (5, 8)),
    ({"size": [-5, -7]}, (5, 7)),
    ({"size": [5, 7], "max_size": 4}, (4, 4)),
    ({"size": [5, 7], "mode": "not_larger", "max_size": 3}, (2, 3)),
    ({"resize_x": 7}, (4, 7)),
    ({"resize_y": 7}, (7, 12)),
    ({"resize_x": 4.5, "resize_y": 2.5}, (3, 5)),
    ({"resize_x": 0.3}, (1, 1)),
    ({"resize_shorter": 6}, (6, 10)),
    ({"resize_longer": 6}, (4, 6)),
    ({"resize_shorter": 6, "max_size": [100, 8]}, (5, 8)),
    ({"resize_longer": 30, "max_size": 25}, (15, 25)),
    ({"resize_x": 7, "roi_start": [0, 0], "roi_end": [6, 5]}, (8, 7)),
    ({"resize_x": 7, "roi_start": [0, 0], "roi_end": [0.5, 0.25], "roi_relative": True}, (8, 7)),
    ({"resize_x": 7, "roi_start": [2, 2], "roi_end": [2, 2]}, (7, 7)),
]


@pytest.mark.parametrize(("args", "expected"), SIZES, ids=str)
def test_sizes(args, expected):
    planned = plan([np.zeros((12, 20, 3), np.uint8)], args)
    assert planned.outputs[0].extents.tolist() == [[*expected, 3]]


@pytest.mark.oracle
def test_sizes_equal_dali_for_many_arguments():
    rng = np.random.default_rng(0)
    samples = [np.zeros((*s, 1), np.uint8) for s in rng.integers(1, 30, (24, 2))]
    count = len(samples)
    for trial in range(times(20, 40)):
        args, per_sample = {}, {}
        kind = trial % 5
        if kind < 2:
            args["mode"] = str(rng.choice(["default", "stretch", "not_larger", "not_smaller"]))
        if kind == 0:
            sign = rng.choice([0, -1, 1], (count, 2), p=[0.2, 0.2, 0.6])
            per_sample["size"] = list(np.float32(sign * rng.uniform(0, 30, (count, 2))))
        elif kind == 1:
            per_sample["resize_x"] = list(np.float32(rng.uniform(1, 30, count)))
            per_sample["resize_y"] = list(np.float32(rng.uniform(1, 30, count) * rng.integers(0, 2, count)))
        else:
            name = {2: "resize_shorter", 3: "resize_longer", 4: "resize_y"}[kind]
            per_sample[name] = list(np.float32(rng.uniform(1, 30, count)))
        if rng.random() < 0.4:
            args["max_size"] = [float(n) for n in rng.integers(1, 30, rng.integers(1, 3))]
        if rng.random() < 0.4:
            per_sample["roi_start"] = list(np.float32(rng.uniform(0, 1, (count, 2))))
            per_sample["roi_end"] = list(np.float32(rng.uniform(0, 1, (count, 2))))
            args["roi_relative"] = True
        want = oracle.run("resize", [samples], args, per_sample, layout="HWC")[0]
        got = plan(samples, args, per_sample).outputs[0].extents
        assert got.tolist() == [list(w.shape) for w in want], (args, per_sample)


# Values


def dali_one_by_one(samples, args, per_sample):
    """DALI's results where a filter differs from sample to sample, which the oracle cannot feed."""
    enums = ("interp_type", "min_filter", "mag_filter")
    results = []
    for i, sample in enumerate(samples):
        fixed = {k: types.DALIInterpType(int(v[i])) for k, v in per_sample.items() if k in enums}
        fed = {k: [v[i]] for k, v in per_sample.items() if k not in enums}
        results.append(oracle.run("resize", [[sample]], args | fixed, fed, layout="HWC")[0][0])
    return results


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("shape", "size", "antialias"),
    [((9, 14), [20, 5], True), ((9, 14), [20, 5], False), ((1, 1), [3, 4], True), (LARGE, [11, 80], True)],
    ids=str,
)
def test_filters_equal_dali(shape, size, antialias):
    args = {"size": size, "antialias": antialias}
    filters = drawn(FILTERS, 3, lambda kind: f"{kind} {shape} {size}")
    samples = [image(*shape, 3, np.float32, s) for s in range(len(filters))]
    per_sample = {"interp_type": [np.int32(f) for f in filters]}
    want = dali_one_by_one(samples, args, per_sample)
    contract.check(resize, [samples], args, per_sample, layout="HWC", expected=[want], atol=FLOAT)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("dtype", "shape"),
    [(np.uint8, (9, 14)), (np.uint8, LARGE), (np.int16, (9, 14)), (np.uint16, (9, 14))],
    ids=str,
)
def test_integers_equal_dali(dtype, shape):
    args = {"size": [16, 80], "interp_type": types.INTERP_CUBIC}
    contract.check(resize, [[image(*shape, 1, dtype)]], args, layout="HWC", atol=STEP)


@pytest.mark.oracle
@pytest.mark.parametrize(("dtype", "atol"), [(np.uint8, STEP), (np.float32, FLOAT)], ids=["uint8", "float32"])
def test_every_number_of_taps_equals_dali(dtype, atol):
    """A CPU sums 4, 8, 12 or 16 taps in one pass: windows 10 n - 1 rows high, shrunk to 20 rows, need n taps each."""
    counts = range(3, 20)
    samples = [image(190, 120, 1, dtype, n) for n in counts]
    windows = {
        "roi_start": [np.float32([0, 0]) for _ in counts],
        "roi_end": [np.float32([10 * n - 1, 120]) for n in counts],
    }
    contract.check(resize, [samples], {"size": [20, 24]}, windows, layout="HWC", atol=atol)


@pytest.mark.oracle
def test_nearest_equals_dali():
    # Odd sizes: then no source position is exactly between two pixels. There DALI, which adds up
    # the positions of rows in float32, takes one or the other by its rounding errors.
    samples = [image(9, 15, 3), image(71, 63, 3, seed=1)]
    sizes = [np.float32(s) for s in ([14, 5], [30, -80])]
    contract.check(resize, [samples], {"interp_type": types.INTERP_NN}, {"size": sizes}, layout="HWC", atol=0)


@pytest.mark.oracle
def test_windows_and_sizes_equal_dali():
    samples = [image(31, 27, 1, np.float32, s) for s in range(4)]
    per_sample = {
        "size": [np.float32(s) for s in ([40, 33], [40, -33], [39.7, 33.2], [-40, 33])],
        "min_filter": [np.int32(f) for f in (types.INTERP_NN, *FILTERS[:3])],
        "mag_filter": [np.int32(f) for f in (types.INTERP_NN, *FILTERS[2:])],
        "roi_start": [np.float32(r) for r in ([1.5, 0], [30, -2], [3, 14], [0, 20])],
        "roi_end": [np.float32(r) for r in ([17, 15.2], [2, 20], [3.5, 2], [31, 22])],
    }
    for subpixel_scale in drawn((True, False), 1):
        args = {"subpixel_scale": subpixel_scale}
        want = dali_one_by_one(samples, args, per_sample)
        contract.check(resize, [samples], args, per_sample, layout="HWC", expected=[want], atol=FLOAT)


@pytest.mark.oracle
def test_float_output_equals_dali():
    # Of 255; the sums are those of the float test.
    args = {"size": [4, 50], "dtype": types.FLOAT}
    contract.check(resize, [[image(9, 14)]], args, layout="HWC", atol=255 * FLOAT)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("layout", "shape", "size"),
    [
        ("CHW", (2, 9, 7), [4, 11]),
        ("FHWC", (2, 60, 50, 1), [10, 55]),
        ("", (2, 9, 7, 3), [4, 11]),
        ("DHWC", (60, 5, 9, 1), [50, 7, 5]),
    ],
    ids=str,
)
def test_layouts_equal_dali(layout, shape, size):
    sample = np.random.default_rng(0).random(shape, np.float32)
    contract.check(resize, [[sample]], {"size": size}, layout=layout, atol=FLOAT)


@pytest.mark.parametrize("size", [(17, 90), (3, 4)], ids=str)
def test_linear_equals_pillow(size):
    picture, edge = image(61, 83, 3), 40
    # Pillow leaves out what lies outside of the image, DALI repeats the border.
    padded = np.pad(picture, [(edge, edge), (edge, edge), (0, 0)], mode="edge")
    box = (edge, edge, edge + 83, edge + 61)
    want = Image.fromarray(padded).resize(size[::-1], Image.Resampling.BILINEAR, box=box)
    # Pillow rounds the picture to 8 bits between the two passes.
    contract.compare(run(picture, size=list(size)), np.asarray(want), 1, "pillow")


def test_values_by_hand():
    row = np.arange(10, dtype=np.float32).reshape(1, 10, 1) * 10
    # Source positions (x + 1/2) · 10/4 - 1/2 = 0.75, 3.25, 5.75, 8.25.
    got = run(row, size=[1, 4], antialias=False)
    np.testing.assert_allclose(got.ravel(), [7.5, 32.5, 57.5, 82.5], atol=1e-4)
    # floor((x + 1/2) · 10/4)
    got = run(row, size=[1, 4], interp_type=types.INTERP_NN)
    np.testing.assert_array_equal(got.ravel(), [10, 30, 60, 80])
    # The window reaches out of the image, which repeats its border.
    got = run(row, size=[1, 4], roi_start=[0, -2], roi_end=[1, 2])
    np.testing.assert_allclose(got.ravel(), [0, 0, 0, 10], atol=1e-4)
    # A triangle of radius 2 weighs the pixels 3/2 and 1/2 before and after its middle by 1, 3, 3, 1.
    got = run(row[:, :4], size=[1, 2])
    want = [(0 + 3 * 0 + 3 * 10 + 20) / 8, (10 + 3 * 20 + 3 * 30 + 30) / 8]
    np.testing.assert_allclose(got.ravel(), want, atol=1e-4)


def test_constant_images_stay_constant_at_every_scale():
    for size in drawn(([3, 100], [80, 4]), 1):
        got = run(np.full((40, 20, 1), 77, np.uint8), size=size, interp_type=types.INTERP_LANCZOS3)
        assert (got == 77).all()


# Properties


def test_is_one_program_for_all_scales():
    traces = []
    small, large = np.zeros((30, 20, 3), np.uint8), np.zeros((90, 80, 3), np.uint8)
    args = {"size": [24, 25]}

    @jax.jit
    def stage(array, extents, filters, out_extents):
        traces.append(1)
        return run_call(call, [array], [extents], {"_filters": filters}, [out_extents], [(24, 25, 3)])

    for sample in (small, large):
        planned = plan([sample], args)
        call = planned.call
        stage(
            jnp.zeros((1, 96, 96, 3), jnp.uint8), jnp.asarray([sample.shape], jnp.int32),
            planned.traced["_filters"], jnp.asarray([[24, 25, 3]], jnp.int32),
        )  # fmt: skip
    assert len(traces) == 1


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
@pytest.mark.parametrize("shape", [(9, 7, 2), (*LARGE, 1)], ids=str)
def test_has_a_gradient(shape):
    rng = np.random.default_rng(0)
    picture, cotangent = rng.random(shape, np.float32), rng.random((12, 5, shape[2]), np.float32)

    def resized(x):
        return pure_call(resize, [x], {"size": [12, 5], "interp_type": types.INTERP_CUBIC})

    @jax.jit
    def derived(x):
        gradient = jax.grad(lambda x: (resized(x) * cotangent).sum())(x)
        return gradient, *jax.jvp(resized, (x,), (x,))

    # Linear in the image, so <resize(x), y> = <x, gradient at y>.
    gradient, value, tangent = derived(picture)
    np.testing.assert_allclose((gradient * picture).sum(), (value * cotangent).sum(), rtol=1e-5)
    np.testing.assert_allclose(tangent, value, atol=1e-5)


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_works_under_vmap_and_shard_map():
    batch = np.stack([image(*LARGE, 1, np.float32, s) for s in range(2)])

    def one(x):
        return pure_call(resize, [x], {"size": [20, 30]})

    want = np.stack([run(x, size=[20, 30]) for x in batch])
    mesh = Mesh(np.array(jax.devices()[:1]), ("b",))
    spec = PartitionSpec("b")
    sharded = jax.jit(jax.shard_map(jax.vmap(one), mesh=mesh, in_specs=spec, out_specs=spec))(batch)
    np.testing.assert_allclose(sharded, want, atol=1e-6)
    nested = jax.jit(jax.vmap(jax.vmap(one)))(batch[None])[0]
    np.testing.assert_allclose(nested, want, atol=1e-6)
    gradients = jax.jit(jax.vmap(jax.grad(lambda x: one(x).sum())))(batch)
    np.testing.assert_allclose((gradients * batch).sum((1, 2, 3)), want.sum((1, 2, 3)), rtol=1e-5)  # linear


@pytest.mark.exhaustive  # laws/test_non_finite has it of every operator
@pytest.mark.parametrize("pad", [0, 60])
def test_what_is_no_number_in_the_padding_does_not_show(pad):
    picture = image(12, 9, 1, np.float32)
    planned = plan([picture], {"size": [5, 14]})
    padded = np.pad(picture, [(0, pad + 3), (0, pad + 2), (0, 0)], constant_values=np.nan)
    got = run_call(
        planned.call, [jnp.asarray(padded[None])], [jnp.asarray([[12, 9, 1]], jnp.int32)],
        {"_filters": jnp.asarray(planned.traced["_filters"])}, [jnp.asarray([[5, 14, 1]], jnp.int32)],
        [(8 + pad, 16 + pad, 1)],
    )[0]  # fmt: skip
    np.testing.assert_allclose(got[0, :5, :14], run(picture, size=[5, 14]), atol=1e-6)


def test_an_integer_image_with_64_bit_types():
    with jax.enable_x64(True):
        assert run(np.full((*LARGE, 1), 9, np.uint8), size=[5, 6]).tolist() == [[[9]] * 6] * 5


def test_original_sizes():
    resized, sizes = contract.pure(resize, [image(12, 20, 3)], {"size": 5, "save_attrs": True}, layout="HWC")
    assert resized.shape == (5, 5, 3)
    assert (sizes.dtype, sizes.tolist()) == (np.int32, [12, 20])


@pytest.mark.oracle
def test_original_sizes_equal_dali():
    contract.check(
        resize, [[image(9, 7), image(4, 5)]], {"size": [3, 4], "save_attrs": True}, layout="HWC", atol=STEP
    )


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [{"resize_x": 0}, {"resize_x": 0, "mode": "not_smaller"}, {"resize_shorter": 0}, {"resize_longer": 0}],
    ids=str,
)
def test_a_size_of_0_alone_changes_nothing(args):
    picture = image(4, 5)
    got = run(picture, **args)
    np.testing.assert_array_equal(got, picture)
    np.testing.assert_array_equal(got, oracle.run("resize", [[picture]], args, layout="HWC")[0][0])


@pytest.mark.parametrize("shape", [(0, 20, 3), (0, 0, 3)], ids=str)
def test_empty_images_stay_empty(shape):
    want = (0, 4, 3) if shape[1] else (0, 0, 3)
    assert run(np.zeros(shape, np.uint8), size=[4, 4]).shape == want


# Errors


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "Exactly one method of specifying size must be used: separate"),
        ({"size": 5, "resize_x": 4}, "Exactly one method of specifying size must be used: separate"),
        ({"size": 5, "resize_x": 0}, "Exactly one method of specifying size must be used: separate"),
        (
            {"resize_shorter": 5, "resize_longer": 4},
            "Exactly one method of specifying size must be used: separate",
        ),
        ({"size": [5, 6, 7]}, 'Argument "size" expects either a single value or a list of 2'),
        ({"size": 5, "mode": "bogus"}, "Invalid resize mode: bogus. It must be one of default,"),
        ({"resize_shorter": 5, "mode": "stretch"}, ".* and ``mode`` arguments are mutually exclusive"),
        ({"size": 5, "roi_start": [1, 2]}, "``roi_start`` and ``roi_end`` must be specified together"),
        ({"size": 5, "max_size": [1, 2, 3]}, 'Argument "max_size" expects either a single value or a list'),
        ({"size": 5, "dtype": types.INT16}, "Resize must output original type or float. Got: int16 for"),
    ],
    ids=str,
)
def test_wrong_arguments(args, message):
    with pytest.raises(ValueError, match=f"resize: {message}"):
        run(image(4, 5), **args)


def test_a_size_that_is_no_number_names_the_sample():
    sizes = PerBatch(np.array([[3, 4], [np.nan, 4]], np.float32))
    with pytest.raises(SampleError, match="resize: the size") as caught:
        plan_call(
            CallRequest(resize, [BatchSpec.of([image(4, 5)] * 2, "HWC")], {"size": sizes}, batch_size=2)
        )
    assert caught.value.sample == 1


@pytest.mark.cases(2)
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint32, np.int64], ids=str)
@pytest.mark.parametrize(
    "function", [fn.resize, fn.random_resized_crop, fn.resize_crop_mirror, fn.experimental.tensor_resize]
)
def test_masks_of_any_integer_type_keep_their_values(function, dtype):
    """The nearest pixel of each type is that of its twin in 16 bits, whatever the values are."""
    numbers = np.arange(6 * 7, dtype=np.int16).reshape(6, 7, 1)
    values = (numbers.astype(np.int64) * 99_999_989 % np.iinfo(dtype).max).astype(dtype)
    options = {"sizes": [4, 9, 1]} if function is fn.experimental.tensor_resize else {"size": [4, 9]}
    if function is fn.resize_crop_mirror:
        options |= {"crop": (3, 5), "mirror": 1}
    if function is fn.random_resized_crop:
        options |= {"seed": 3}
    with jdali.Pipeline(batch_size=1, num_threads=1, device_id=None) as pipe:
        layout = None if function is fn.experimental.tensor_resize else "HWC"
        both = [fn.external_source(lambda one=one: [one], layout=layout) for one in (numbers, values)]
        pipe.set_outputs(*[function(one, interp_type=types.INTERP_NN, **options) for one in both])
    which, got = pipe.run()
    assert got.dtype == types.to_dali_type(dtype)
    np.testing.assert_array_equal(got.at(0), values.ravel()[which.at(0)])
    with pytest.raises(TypeError, match="or take the nearest pixels"):
        run(values, size=3)


def test_wrong_type():
    with pytest.raises(
        TypeError, match="resize: Unsupported type: int32. Supported types are: uint8, int16,"
    ):
        run(np.zeros((4, 5, 3), np.int32), size=3)
