"""Every product is rounded before it is added, in whatever a program consists of."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jdali._numerics.exact import MINUS_ZERO, exact

RNG = np.random.default_rng(3)


def run(function, *args):
    program = jax.jit(lambda minus_zero, *a: exact(function, minus_zero, "cpu")(*a))
    return jax.tree.map(np.asarray, program(MINUS_ZERO, *args))


def numbers(size=64):
    """Three vectors for which NumPy, which fuses nothing, and a fused multiply-add differ."""
    a, b, c = (RNG.standard_normal(size).astype(np.float32) for _ in range(3))
    fused = (a.astype(np.float64) * b + c).astype(np.float32)
    assert (fused != a * b + c).any()
    return a, b, c


@jax.custom_jvp
def with_a_rule(a, b, c):
    return a * b + c


@with_a_rule.defjvp
def rule(primals, tangents):
    return with_a_rule(*primals), tangents[0]


def test_wherever_the_product_is():
    def everywhere(a, b, c):
        def again(carry):
            count, value = carry
            return count + 1, value * b + c

        return {
            "plain": a * b + c,
            "jit": jax.jit(lambda: a * b + c)(),
            "difference": c - a * b,
            "square": jnp.square(a) + c,
            "rule": with_a_rule(a, b, c),
            "cond": lax.cond(a[0] < 9, lambda: a * b + c, lambda: a),
            "while": lax.while_loop(lambda s: s[0] < 2, again, (0, a))[1],
            "scan": lax.scan(lambda total, ab: (total + ab[0] * ab[1], total), c[0], (a, b)),
            "platform": lax.platform_dependent(a, cpu=lambda v: v * b + c, default=lambda v: v),
        }

    a, b, c = numbers()
    found = run(everywhere, a, b, c)
    plain = a * b + c
    for name in ("plain", "jit", "rule", "cond", "platform"):
        np.testing.assert_array_equal(found[name], plain, err_msg=name)
    np.testing.assert_array_equal(found["difference"], c - a * b)
    np.testing.assert_array_equal(found["square"], a * a + c)
    np.testing.assert_array_equal(found["while"], plain * b + c)
    totals = np.add.accumulate(np.append(c[0], a * b), dtype=np.float32)
    np.testing.assert_array_equal(found["scan"][0], totals[-1])
    np.testing.assert_array_equal(found["scan"][1], totals[:-1])


def test_loops_of_a_batch_end_at_their_own_step():
    def times(count, value):
        return lax.while_loop(lambda s: s[0] < count, lambda s: (s[0] + 1, s[1] * 2), (0, value))

    steps, values = run(jax.vmap(times), np.int32([0, 3, 1]), np.float32([1, 1, 5]))
    np.testing.assert_array_equal(steps, [0, 3, 1])
    np.testing.assert_array_equal(values, [1, 8, 10])


def test_complex_products():
    a, b, c = numbers()
    found = run(lambda x, y: x * y, a + 1j * b, c + 1j * a)
    np.testing.assert_array_equal(found.real, a * c - b * a)
    np.testing.assert_array_equal(found.imag, a * a + b * c)


def test_signs_of_zero_and_values_that_are_no_numbers_stay():
    a = np.float32([-1, 1, np.inf, np.nan])
    found = run(lambda v: v * 0, a)
    np.testing.assert_array_equal(found, np.float32([-0.0, 0, np.nan, np.nan]))
    np.testing.assert_array_equal(np.signbit(found[:2]), [True, False])


def test_integers_are_left_alone():
    assert run(lambda v: v * 3 + 1, np.int32([5])) == 16


def test_primitives_that_hold_functions_of_their_own():
    def function(a, b, indices):
        scattered = jnp.zeros(4, jnp.float32).at[indices].add(a * b)
        return scattered, lax.reduce(a, np.float32(1), lambda x, y: x * y + 0, (0,))

    a, b = np.float32([1.5, 2, 3]), np.float32([2, 4, 8])
    scattered, product = run(function, a, b, np.int32([0, 0, 3]))
    np.testing.assert_array_equal(scattered, [11, 0, 0, 24])
    assert product == 9


def test_a_quotient_by_a_root_has_the_same_bits_in_any_shape():
    """XLA makes a product with `rsqrt` of it, which it computes in one way for a single value and in another for several."""
    values = np.random.default_rng(2).uniform(0.1, 9e4, 64).astype(np.float32)

    def program(zero, x):
        return exact(lambda x: 3 / jnp.sqrt(x * x), zero, "cpu")(x)

    whole = np.asarray(jax.jit(program)(MINUS_ZERO, values))
    np.testing.assert_array_equal(whole, np.float32(3) / np.sqrt(values * values))
    alone = [np.asarray(jax.jit(program)(MINUS_ZERO, values[i : i + 1])) for i in range(len(values))]
    np.testing.assert_array_equal(np.concatenate(alone), whole)
