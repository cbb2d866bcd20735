"""Sums in a fixed order: right, and the same bits whatever follows as padding."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jdali._numerics.sums import fixed_product, fixed_sum

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 9, 100])
def test_the_sum_is_right(size):
    values = RNG.standard_normal(size).astype(np.float32)
    # Pairwise: at most log2(128) roundings of sums below 64.
    assert abs(float(fixed_sum(values, (0,))) - math.fsum(values.astype(float))) < 7 * 2**-24 * 64


def test_padding_does_not_change_a_bit():
    summed = jax.jit(
        lambda values: fixed_sum(values, (0, 1))
    )  # one program: its steps would be compiled one by one
    values = RNG.standard_normal((5, 37, 3)).astype(np.float32)
    sums = np.asarray(summed(values))
    for pad in ((1, 0), (0, 3), (4, 91)):
        padded = np.pad(values, [(0, p) for p in (*pad, 0)])
        assert np.asarray(summed(padded)).tobytes() == sums.tobytes()


def test_a_sum_of_minus_zeros_is_zero_with_and_without_padding():
    values = np.full(3, -0.0, np.float32)
    for padded in (values, np.append(values, np.float32(0))):
        assert not np.signbit(fixed_sum(padded, (0,)))


def test_integers_wrap_around():
    assert int(fixed_sum(jnp.full(2, 2**31 - 1, jnp.int32), (0,))) == -2


def test_axes_are_kept_or_dropped():
    values = np.ones((2, 3, 4), np.float32)
    assert fixed_sum(values, (0, 2)).shape == (3,)
    np.testing.assert_array_equal(fixed_sum(values, (0, 2), keep_dims=True), np.full((1, 3, 1), 8))


def test_a_product_with_a_matrix():
    matrix = RNG.standard_normal((4, 19)).astype(np.float32)
    values = RNG.standard_normal((2, 19, 5)).astype(np.float32)
    found = np.asarray(fixed_product(matrix, values, 1))
    exact = np.einsum("mk,bkt->bmt", matrix.astype(float), values.astype(float))
    np.testing.assert_allclose(found, exact, rtol=0, atol=19 * 2**-23 * 16)  # 19 sums below 16
    for axis, more in ((1, 1), (1, 40)):
        padded = np.asarray(
            fixed_product(
                np.pad(matrix, [(0, 0), (0, more)]), np.pad(values, [(0, 0), (0, more), (0, 0)]), axis
            )
        )
        np.testing.assert_allclose(padded, found, rtol=0, atol=2**-20)  # not under `exact`: may be fused
