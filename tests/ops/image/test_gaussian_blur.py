"""gaussian_blur against the real DALI and SciPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.ndimage
from support import contract
from support.data import image

from jdali._batches import reflect_101
from jdali._errors import SampleError, TracedArgumentError
from jdali._operators.pure import pure_call
from jdali.ops.image import _gaussian_blur
from jdali.ops.image._gaussian_blur import gaussian_blur, radius_bucket

# Weighted sums of float32 in another order: an integer may round to the other side of a half, floats
# differ by a few steps of their largest value.
ATOL = {"u": 1, "i": 1, "f": 1e-6}
SAMPLES = [image(11, 14, 3), image(5, 4, 3, seed=1)]


def blurred(picture, sigma, radius, axes):
    """SciPy's: the mode "mirror" leaves out the outermost element, too."""
    k = np.arange(-radius, radius + 1)
    weights = np.exp(-(k**2) / (2.0 * sigma**2))
    value = picture.astype(np.float64)
    for axis in axes:
        value = scipy.ndimage.correlate1d(value, weights / weights.sum(), axis, mode="mirror")
    return value


@pytest.mark.oracle
def test_equals_dali():
    contract.check(gaussian_blur, [SAMPLES], {"sigma": 1.0}, layout="HWC", atol=1)


@pytest.mark.oracle
@pytest.mark.parametrize("args", [{"window_size": 5}, {"sigma": (1.0, 0.0), "window_size": (1, 3)}], ids=str)
def test_windows_equal_dali(args):
    contract.check(gaussian_blur, [SAMPLES[1:]], args, layout="HWC", atol=1)


@pytest.mark.oracle
def test_arguments_of_samples_equal_dali():
    # The window of the second sample is longer than the sample: borders are mirrored more than once.
    values = {"sigma": [np.float32([0.5, 2]), np.float32([0, 4])], "window_size": [[9, 3], [3, 0]]}
    contract.check(gaussian_blur, [SAMPLES], {}, values, layout="HWC", atol=1)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "dtype", [np.int16, np.float16, np.float32, np.int64, np.float64], ids=lambda d: d.__name__
)
def test_all_types_equal_dali(dtype):
    kind = np.dtype(dtype).kind
    atol = 2e-3 if dtype == np.float16 else ATOL[kind]  # two steps of float16 at 1
    wide = np.dtype(dtype).itemsize == 8
    sample = [image(1, 5, 1, dtype)]
    contract.check(gaussian_blur, [sample], {"window_size": (1, 3)}, layout="HWC", atol=atol, x64=wide)


@pytest.mark.oracle
def test_output_of_float_equals_dali():
    args = {"sigma": 1.0, "dtype": np.float32}
    bits = 2 * 7 * 255 * 2**-23  # as the docstring says: two axes, a window of 7, values up to 255
    contract.check(gaussian_blur, [SAMPLES[1:]], args, layout="HWC", atol=1e-4, bits_atol=bits)


@pytest.mark.oracle
@pytest.mark.parametrize("layout", ["CHW", "FHWC", ""])
def test_layouts_equal_dali(layout):
    shape = (2, 3, 4, 3) if layout == "FHWC" else (2, 5, 6) if layout else (5, 6)
    data = [image(30, 30, None).ravel()[: np.prod(shape)].reshape(shape)]
    contract.check(gaussian_blur, [data], {"sigma": (1.0, 0.6)}, layout=layout, atol=1)


@pytest.mark.oracle
def test_volumes_equal_dali():
    data = [image(20, 6, 2).reshape(4, 5, 6, 2)]
    contract.check(gaussian_blur, [data], {"sigma": (1.0, 0.5, 0.7)}, layout="DHWC", atol=1)


@pytest.mark.parametrize("layout", ["HWC", "CHW"])
def test_images_blurred_in_blocks_equal_scipy(layout, monkeypatch):
    monkeypatch.setattr(_gaussian_blur, "SMALL", 0)
    _gaussian_blur._blur.clear_cache()
    sigma, radius = 1.3, 4
    pictures = [image(70, 50, 3), image(33, 90, 3, seed=1)] if layout == "HWC" else [image(33, 40, 3)]
    wanted = [blurred(p, sigma, radius, (0, 1)) for p in pictures]
    if layout == "CHW":
        pictures, wanted = ([np.moveaxis(p, -1, 0).copy() for p in some] for some in (pictures, wanted))
    expected = [[np.floor(w + 0.5).astype(np.uint8) for w in wanted]]
    contract.check(
        gaussian_blur, [pictures], {"sigma": sigma}, layout=layout, expected=expected, atol=1, pad=40
    )
    _gaussian_blur._blur.clear_cache()


def test_floats_equal_scipy():
    picture = image(5, 4, 2, np.float32)
    expected = blurred(picture, 2.0, 6, (0, 1)).astype(np.float32)
    bits = 2 * 13 * 2**-23  # as the docstring says: two axes, a window of 13, values up to 1
    contract.check(
        gaussian_blur, [[picture]], {"sigma": 2.0}, layout="HWC", expected=[[expected]], atol=1e-6,
        bits_atol=bits,
    )  # fmt: skip


@pytest.mark.exhaustive  # laws/test_non_finite has it of every operator
def test_no_number_in_the_padding_never_shows():
    padded = np.full((1, 40, 40, 1), np.nan, np.float32)
    padded[:, :9, :8] = 1
    for small in (0, 1 << 20):
        blur = _gaussian_blur._Blur((1, 2), (3, 3), np.dtype(np.float32))
        limit, _gaussian_blur.SMALL = _gaussian_blur.SMALL, small
        _gaussian_blur._blur.clear_cache()
        out = _gaussian_blur._blur(
            blur, jnp.asarray(padded), jnp.ones(2), jnp.full(2, 3), jnp.array([1, 9, 8, 1])
        )
        _gaussian_blur.SMALL = limit
        np.testing.assert_allclose(out[:, :9, :8], 1, atol=1e-6)  # weights sum to 1 except for rounding
    _gaussian_blur._blur.clear_cache()


def test_empty_images_stay_empty():
    assert contract.pure(gaussian_blur, [np.zeros((0, 4, 3), np.uint8)], {"sigma": 1.0}).shape == (0, 4, 3)


def test_mirroring_by_hand():
    indices = np.arange(-5, 8)
    np.testing.assert_array_equal(
        reflect_101(jnp.asarray(indices), jnp.int32(3)), [1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1]
    )
    np.testing.assert_array_equal(reflect_101(jnp.asarray(indices), jnp.int32(1)), np.zeros(13))


def test_few_programs():
    assert [radius_bucket(r) for r in (0, 1, 4, 5, 8, 9, 16, 17, 33)] == [0, 4, 4, 8, 8, 16, 16, 32, 64]


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_gradients():
    picture = jnp.asarray(image(7, 8, 1, np.float32))
    weights = jnp.asarray(image(7, 8, 1, np.float32, 3))

    def loss(picture, sigma):
        return (pure_call(gaussian_blur, [picture], {"sigma": sigma, "window_size": 5}) * weights).sum()

    by_picture, by_sigma = jax.jit(jax.grad(loss, argnums=(0, 1)))(picture, 1.0)
    # Linear in the picture: the gradient times the picture is the value.
    np.testing.assert_allclose((by_picture * picture).sum(), loss(picture, 1.0), rtol=1e-5)
    slope = (loss(picture, 1.01) - loss(picture, 0.99)) / 0.02
    np.testing.assert_allclose(by_sigma, slope, rtol=0.02)  # of a central difference in float32


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_gradient_of_an_image_blurred_in_blocks(monkeypatch):
    monkeypatch.setattr(_gaussian_blur, "SMALL", 0)
    _gaussian_blur._blur.clear_cache()
    picture = jnp.asarray(image(40, 8, 1, np.float32))

    def loss(picture):
        return pure_call(gaussian_blur, [picture], {"sigma": 0.9}).sum()

    pictures = jnp.stack([picture, picture * 2])
    grads = jax.jit(jax.vmap(jax.grad(loss)))(pictures)
    values = jax.jit(jax.vmap(loss))(pictures)
    np.testing.assert_allclose((grads * pictures).sum((1, 2, 3)), values, rtol=1e-5)
    _gaussian_blur._blur.clear_cache()


def test_sigma_is_needed_only_for_the_window():
    assert gaussian_blur.needed_by_setup({"sigma": 0, "window_size": 5}) == {"window_size"}
    assert gaussian_blur.needed_by_setup({"sigma": 0}) == {"sigma", "window_size"}
    assert gaussian_blur.needed_by_setup({"sigma": 0, "window_size": (0, 3)}) == {"sigma", "window_size"}
    with pytest.raises(TracedArgumentError, match="gaussian_blur: argument 'sigma' decides"):
        jax.jit(lambda s: pure_call(gaussian_blur, [image(3, 4)], {"sigma": s}))(1.0)


@pytest.mark.parametrize(
    ("args", "layout", "message"),
    [
        ({}, "HWC", "`sigma` and `window_size` shouldn't be 0 at the same time for"),
        ({"sigma": (1.0, 0.0)}, "HWC", "`sigma` and `window_size` shouldn't be 0 at the same time for"),
        ({"sigma": -1.0}, "HWC", "`sigma` must have non-negative values, got -1 for sample: 0,"),
        ({"window_size": -3}, "HWC", "`window_size` must have non-negative values, got -3 for"),
        ({"window_size": 4}, "HWC", "Kernel window should have odd length, got: 4. It is"),
        ({"sigma": (1.0, 1.0, 1.0)}, "HWC", 'Argument "sigma" expects either a single value or a list of 2'),
        ({"sigma": 1.0}, "FFC", "No spatial axes found in the layout: FFC"),
    ],
)
def test_errors(args, layout, message):
    with pytest.raises(ValueError, match=f"^gaussian_blur: .*{message}"):
        pure_call(gaussian_blur, [image(3, 4)], args, layout=layout)


def test_an_error_names_its_sample():
    with pytest.raises(SampleError) as caught:
        contract.check(gaussian_blur, [SAMPLES], {}, {"sigma": [1.0, -1.0]}, layout="HWC", expected=[SAMPLES])
    assert caught.value.argument == "sigma"
