"""filter against the real DALI (images) and SciPy (volumes)."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.ndimage
from support import contract, oracle
from support.data import image

import jdali
from jdali import fn
from jdali._kernels import correlate as _correlate
from jdali._operators.pure import pure_call
from jdali.ops.image._filter import filter as filter_op

RNG = np.random.default_rng(5)
BORDERS = ("reflect_101", "reflect_1001", "wrap", "clamp", "constant")
# Whole numbers, whose sums are exact in any order.
KERNELS = [RNG.integers(-3, 4, shape).astype(np.float32) for shape in ((3, 3), (1, 5), (4, 2), (5, 7))]
SAMPLES = [image(11, 14, 3), image(1, 1, 3), image(5, 4, 3, seed=1), image(2, 9, 3)]
VECTORS = np.float32(np.outer([1, 2, 3, 2, 1, -1, 2], [2, 1, -3, 1, 1, 2]))
check = functools.partial(contract.check, filter_op)


@pytest.mark.oracle
@pytest.mark.parametrize("border", BORDERS)
def test_kernels_of_each_sample_equal_dali(border):
    """Smaller and larger than the image, odd and even."""
    check([SAMPLES, KERNELS], {"border": border}, layout=("HWC", ""))


@pytest.mark.oracle
def test_anchors_equal_dali():
    anchors = [[0, 0], [-1, 4], [3, 1], [4, -1]]
    check([SAMPLES, KERNELS], {"border": "wrap"}, {"anchor": anchors}, layout=("HWC", ""))


@pytest.mark.oracle
def test_a_product_of_vectors_equals_dali():
    check([SAMPLES[:2], [VECTORS] * 2], {"anchor": 0}, layout=("HWC", ""))


@pytest.mark.oracle
def test_mode_valid_equals_dali():
    check([SAMPLES[:1] * 2, KERNELS[2:]], {"mode": "valid"}, layout=("HWC", ""))


@pytest.mark.oracle
def test_a_filter_as_large_as_the_sample_equals_dali():
    check(
        [SAMPLES[:1], [np.ones((11, 14), np.float32)]],
        {"mode": "valid", "dtype": np.float32},
        layout=("HWC", ""),
    )


@pytest.mark.oracle
def test_fill_values_equal_dali():
    fills = [np.uint8(n) for n in (0, 255, 7, 100)]
    check([SAMPLES, KERNELS, fills], {"border": "constant"}, layout=("HWC", "", ""))


@pytest.mark.oracle
def test_halves_round_to_even_as_dali():
    row = np.arange(40, dtype=np.int16).reshape(1, 40, 1) - 20
    check([[row], [np.float32([[0.5, 0.5]])]], layout=("HWC", ""))


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint16, np.int16, np.float32])
def test_types_equal_dali(dtype):
    check([[image(6, 5, 2, dtype)], KERNELS[:1]], layout=("HWC", ""), atol=1e-5 if dtype == np.float32 else 0)


@pytest.mark.oracle
def test_output_of_float_equals_dali():
    """Sums of 9 products in another order: a few steps of float32 at 1000."""
    kernel = RNG.normal(size=(3, 3)).astype(np.float32)
    check([SAMPLES[:1], [kernel]], {"dtype": np.float32}, layout=("HWC", ""), atol=1e-3)


@pytest.mark.oracle
@pytest.mark.parametrize("layout", ["HW", "CHW", "FHW", "FHWC", "FCHW", ""])
def test_layouts_equal_dali(layout):
    shapes = [
        tuple({"F": 2, "C": 3, "H": 6, "W": 5}[c] + i * (c in "FHW") for c in layout or "HW") for i in (0, 1)
    ]
    samples = [RNG.integers(0, 255, shape, np.uint8) for shape in shapes]
    check([samples, KERNELS[:2]], layout=(layout, ""))


@pytest.mark.oracle
def test_filters_and_fill_values_of_frames_equal_dali():
    frames = [RNG.integers(0, 255, (n, 6, 5, 2), np.uint8) for n in (3, 2)]
    kernels = [RNG.integers(-3, 4, (n, 3, 2)).astype(np.float32) for n in (3, 2)]
    fills = [RNG.integers(0, 255, n).astype(np.uint8) for n in (3, 2)]
    check([frames, kernels], layout=("FHWC", "FHW"))
    check([frames, kernels, fills], {"border": "constant"}, layout=("FHWC", "FHW", "F"))


@pytest.mark.parametrize(
    ("layout", "border", "mode"),
    [("DHWC", "reflect_101", "mirror"), ("CDHW", "clamp", "nearest"), ("DHW", "wrap", "grid-wrap")],
)
def test_volumes_equal_scipy(layout, border, mode):
    """DALI's CPU backend does not take them."""
    size = {"D": 5, "H": 6, "W": 7, "C": 2}
    volumes = [RNG.integers(0, 99, [size[c] - i * (c in "DHW") for c in layout], np.uint8) for i in (0, 1)]
    product = np.float32(np.einsum("i,j,k", [1, 2, -1, 4], [2, 1, 1], [1, 0, -2, 1]))  # largest: 2⁴
    kernels = [RNG.integers(-2, 3, (3, 2, 5)).astype(np.float32), product]
    expected = []
    for volume, kernel in zip(volumes, kernels, strict=True):
        weights = kernel.reshape([kernel.shape["DHW".index(c)] if c in "DHW" else 1 for c in layout])
        expected.append(scipy.ndimage.correlate(volume.astype(np.float32), weights, mode=mode))
    check(
        [volumes, kernels], {"border": border, "dtype": np.float32}, layout=(layout, ""), expected=[expected]
    )


@pytest.mark.parametrize("dtype", [np.int8, np.float16])
def test_types_that_dali_takes_on_a_gpu_equal_scipy(dtype):
    picture = RNG.integers(-9, 10, (6, 5)).astype(dtype)
    expected = scipy.ndimage.correlate(picture.astype(np.float32), KERNELS[0], mode="mirror")
    expected = np.clip(expected, -128, 127).astype(dtype) if dtype == np.int8 else expected.astype(dtype)
    check([[picture], KERNELS[:1]], layout=("HW", ""), expected=[[expected]])


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("shape", "args"),
    [
        ((3, 2), {}),
        ((2, 17), {}),
        *(((5, 4), {"border": border}) for border in BORDERS),
        ((5, 4), {"mode": "valid"}),
    ],
)
def test_large_images_equal_dali(shape, args, monkeypatch):
    """Those that are made in blocks of rows, with rows of the kernel in pieces."""
    monkeypatch.setattr(_correlate, "SMALL", 0)
    monkeypatch.setattr(_correlate, "_BLOCK", 64)
    _correlate.correlate.clear_cache()
    kernels = [RNG.integers(-3, 4, shape).astype(np.float32), VECTORS]
    check([[image(21, 13, 3), image(9, 17, 3)], kernels], args, layout=("HWC", ""))
    _correlate.correlate.clear_cache()


@pytest.mark.exhaustive  # laws/test_non_finite has it of every operator
def test_infinite_values_stay_where_the_filter_reaches(monkeypatch):
    """Elements of the padded kernel are 0, but 0 · inf is NaN."""
    picture = np.zeros((5, 6), np.float32)
    picture[2, 3] = np.inf
    expected = scipy.ndimage.correlate1d(picture, [1.0, 2.0], axis=1, mode="mirror")
    kernels = [np.float32([[1, 2]]), np.ones((5, 7), np.float32)]
    whole = np.full((5, 6), np.inf, np.float32)
    for small in (_correlate.SMALL, 0):
        monkeypatch.setattr(_correlate, "SMALL", small)
        _correlate.correlate.clear_cache()
        check([[picture] * 2, kernels], layout=("HW", ""), expected=[[expected, whole]], compiled_atol=0)
    _correlate.correlate.clear_cache()


def test_empty_images_stay_empty():
    assert contract.pure(
        filter_op, [np.zeros((0, 4, 3), np.uint8), KERNELS[0]], {}, layout=("HWC", "")
    ).shape == (0, 4, 3)


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
@pytest.mark.parametrize("kernel", [KERNELS[0], VECTORS], ids=["direct", "vectors"])
def test_derivatives(kernel):
    """Linear in each of its inputs: the derivative in a direction is the result for the direction."""
    picture, other = (image(7, 8, 1, np.float32, seed)[..., 0] for seed in (0, 1))
    turn = RNG.normal(size=kernel.shape).astype(np.float32)  # no product of vectors
    apply = jax.jit(
        lambda *inputs: pure_call(filter_op, inputs, {"border": "constant"}, layout=("HW", "", ""))
    )
    inputs, directions = (picture, kernel, np.float32(0.3)), (other, turn, np.float32(1.0))
    _, slope = jax.jvp(apply, inputs, directions)
    parts = [apply(other, kernel, np.float32(1.0)), apply(picture, turn, np.float32(0.3))]
    np.testing.assert_allclose(slope, parts[0] + parts[1], atol=1e-4)  # sums of up to 42 float32 products
    backwards = jax.grad(lambda k: (apply(picture, k, np.float32(0.3)) * other).sum())(jnp.asarray(kernel))
    np.testing.assert_allclose((backwards * turn).sum(), (parts[1] * other).sum(), rtol=1e-4)


@pytest.mark.parametrize(
    ("inputs", "args", "layout", "message"),
    [
        ((SAMPLES[0], KERNELS[0]), {"border": "mirror"}, "HWC", "Unknown ``border_type`` was provided: ``mirror``"),
        ((SAMPLES[0], KERNELS[0]), {"mode": "full"}, "HWC", "Unknown ``mode`` was provided: ``full``. Supported modes are"),
        ((SAMPLES[0].astype(np.int32), KERNELS[0]), {}, "HWC", "Filter CPU does not support input type int32"),
        ((SAMPLES[0], KERNELS[0].astype(np.uint8)), {}, "HWC", "Unsupported filter type: uint8. It must be float32"),
        ((SAMPLES[0], KERNELS[0]), {"dtype": np.int16}, "HWC", "Output data type must be same as input, FLOAT or skipped"),
        ((SAMPLES[0], KERNELS[0][0]), {}, "HWC", "Filter dimensionality must match .* filter has 1 axes; it must be 2 axes"),
        ((SAMPLES[0], KERNELS[0]), {}, "", "Filter dimensionality must match .* filter has 2 axes; it must be 3 axes"),
        ((SAMPLES[0], KERNELS[0]), {}, "HCW", "Filter operator encountered input with unsupported layout:"),
        ((SAMPLES[0], KERNELS[0][:0]), {}, "HWC", r"Filter of volume zero is not supported, got zero-volume filter \(0, 3\)"),
        ((SAMPLES[0], KERNELS[0]), {"anchor": (3, 0)}, "HWC", r"Anchor must lie within the filter. Got anchor \(3, 0\)"),
        ((SAMPLES[0], KERNELS[0]), {"anchor": (1, 1, 1)}, "HWC", r"Argument .anchor. expected shape 2, or 1 value, .* \(3,\)"),
        ((SAMPLES[1], KERNELS[0]), {"mode": "valid"}, "HWC", "the filter is bigger than the sample. This is not allowed"),
        ((SAMPLES[0], KERNELS[0], np.int32(1)), {}, "HWC", "The padding scalars .* Got int32 for pad values while the"),
        ((SAMPLES[0][None], np.stack(KERNELS[:1] * 2)), {}, "FHWC", "filter must have an element for each frame"),
    ],
)  # fmt: skip
def test_what_is_refused(inputs, args, layout, message):
    with pytest.raises(ValueError, match=f"filter: {message}"):
        pure_call(filter_op, inputs, args, layout=(layout, *[""] * (len(inputs) - 1)))


def test_an_error_names_its_sample():
    with jdali.Pipeline(batch_size=4, num_threads=1, device_id=None) as pipe:
        anchor = fn.external_source(lambda: [np.int32(a) for a in ((0, 0), (0, 0), (4, 0), (0, 0))])
        data = fn.external_source(lambda: SAMPLES, layout="HWC")
        pipe.set_outputs(fn.filter(data, fn.external_source(lambda: KERNELS), anchor=anchor))
    with pytest.raises(
        jdali.OperatorError, match=r"filter: Anchor must lie.* \(4, 0\).*\n.*sample 2 of the batch"
    ):
        pipe.run()
    pipe.close()


def test_deprecated_name():
    one = np.float32([[1]])
    with jdali.Pipeline(batch_size=2, num_threads=1, device_id=None) as pipe:
        data = fn.external_source(lambda: SAMPLES[:2], layout="HWC")
        pipe.set_outputs(fn.experimental.filter(data, one))
    out = pipe.run()[0]
    for i in range(2):
        np.testing.assert_array_equal(np.asarray(out.at(i)), SAMPLES[i])
    pipe.close()


@pytest.mark.oracle
@pytest.mark.parametrize(
    "border", ["101", "reflect101", "1001", "Reflect1001", "reflect", "edge", "PAD", "fill"]
)
def test_dalis_other_names_of_borders(border):
    """All that DALI has for a border, in letters of either case, mean the same."""
    (expected,) = oracle.run("filter", [SAMPLES[:1], KERNELS[:1]], {"border": border}, layout=["HWC", ""])
    np.testing.assert_array_equal(
        contract.pure(filter_op, [SAMPLES[0], KERNELS[0]], {"border": border}, layout=("HWC", "")),
        expected[0],
    )
