"""jpeg_compression_distortion against the real DALI and Pillow's JPEG files."""

import functools
import io

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract
from support.data import image

from jdali import ops
from jdali._errors import SampleError
from jdali._operators.pure import pure_call
from jdali.ops.image._jpeg_compression_distortion import jpeg_compression_distortion

RNG = np.random.default_rng(5)


def noise(*shape):
    return RNG.integers(0, 256, (*shape, 3), np.uint8)


# Rows of chroma of 1, 2 and 3 pixels; whole blocks, whole units, one more and one less.
EDGES = [noise(*size) for size in ((1, 1), (3, 4), (5, 17), (16, 15), (17, 33))]
HARD = [  # of one size, so that one program does
    np.zeros((18, 16, 3), np.uint8),
    np.full((18, 16, 3), 255, np.uint8),
    RNG.integers(0, 2, (18, 16, 3), np.uint8) * 255,  # leaves the range of bytes
    np.uint8([[[0, 0, 255], [255, 0, 0]] * 8] * 18),
    image(18, 16),
]
# On a CPU these are made strip by strip, of which the last ones overlap; the last one has two columns of chroma.
LARGE = [image(61, 70), image(270, 331), image(703, 4)]


def equals_dali(images, qualities):
    per_sample = {"quality": [np.int32(q) for q in qualities]}
    contract.check(jpeg_compression_distortion, [images], per_sample=per_sample, layout="HWC")


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("images", "qualities"),
    [(EDGES, [1, 49, 50, 51, 100]), (HARD, [100, 50, 1, 30, 95]), (LARGE, [20, 60, 40])],
    ids=["sizes", "values", "large"],
)
def test_equals_dali(images, qualities):
    equals_dali(images, qualities)


@pytest.mark.oracle
def test_qualities_equal_dali():
    """Each one, and those out of range."""
    qualities = [-7, 0, *range(1, 101, 9), 101, 1000]
    equals_dali([noise(18, 16)] * len(qualities), qualities)


@pytest.mark.oracle
def test_sequences_equal_dali():
    contract.check(jpeg_compression_distortion, [[noise(3, 9, 11)]], layout="FHWC")


@pytest.mark.parametrize("quality", [5, 60, 100])
@pytest.mark.parametrize(
    "picture", [HARD[3], HARD[2], HARD[4], *LARGE],
    ids=["stripes", "extremes", "photograph", "one strip", "strips", "narrow"],
)  # fmt: skip
def test_equals_files_of_pillow(picture, quality):
    """No tolerance: all steps are of integers, the same as in libjpeg-turbo."""
    pillow = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    file = io.BytesIO()
    pillow.fromarray(picture).save(file, "JPEG", quality=quality, subsampling=2)
    got = contract.pure(jpeg_compression_distortion, [picture], {"quality": quality}, layout="HWC")
    np.testing.assert_array_equal(np.asarray(got), np.asarray(pillow.open(file)))


def test_empty():
    got = contract.pure(jpeg_compression_distortion, [np.zeros((0, 4, 3), np.uint8)], {}, layout="HWC")
    assert got.shape == (0, 4, 3)


def distorted(values, quality=100):
    return ops.jpeg_compression_distortion(values, quality=quality)


def test_reals_are_rounded_and_clamped():
    values = np.float32([[[-3, 300, 0.5], [1.5, 254.6, 77]]] * 3)
    whole = np.uint8([[[0, 255, 0], [2, 255, 77]]] * 3)
    got = distorted(values, 80)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, distorted(whole, 80))


@pytest.mark.parametrize("size", [(1, 1), (5, 17)])
def test_derivatives_pass_straight_through_what_rounds(size):
    """At quality 100 little more than chroma is lost, so that large changes show the derivative."""
    before = RNG.integers(90, 160, (*size, 3)).astype(np.float32)
    change = RNG.integers(-60, 61, (*size, 3)).astype(np.float32)
    _, along = jax.jit(functools.partial(jax.jvp, distorted))([before], [change])
    found = np.asarray(distorted(before + change)) - np.asarray(distorted(before))
    np.testing.assert_allclose(
        along, found, atol=5
    )  # of two pictures, each with rounded coefficients and colours
    assert np.abs(along - change).max() > 5 or size == (1, 1)  # chroma is averaged
    # The gradient is the transpose of that.
    weights = RNG.normal(size=found.shape).astype(np.float32)
    gradient = jax.jit(jax.grad(lambda values: jnp.sum(weights * distorted(values, 30))))(before)
    np.testing.assert_allclose(np.sum(gradient * change), np.sum(weights * along), rtol=1e-3, atol=0.05)


def test_what_is_refused():
    with pytest.raises(ValueError, match="images are int16, they must be uint8 or float32"):
        pure_call(jpeg_compression_distortion, [noise(4, 4).astype(np.int16)], {}, layout="HWC")
    with pytest.raises(SampleError, match="Invalid number of channels. Expected a channel-last layout,"):
        pure_call(jpeg_compression_distortion, [noise(4, 4)[..., :1]], {}, layout="HWC")
