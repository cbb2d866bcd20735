"""Arithmetic of positions rounds after each operation in any program: compared with NumPy, which does so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jdali._numerics.positions import quotient, rounded
from jdali._system.jax_internals import OLDER_LOOPS, known_options

# Users' programs have the newer loops; the tests of this package, and the engine, those before, where XLA has both.
_NEWER = [False, True] if known_options(OLDER_LOOPS) else [True]
LOOPS = pytest.mark.parametrize("newer", _NEWER, ids=["loops", "newer loops"][-len(_NEWER) :])
COUNT = 512
RNG = np.random.default_rng(3)
STEPS, STARTS = RNG.uniform(0.1, 3, 6).astype(np.float32), RNG.uniform(-3, 3, 6).astype(np.float32)
VALUES = RNG.uniform(-100, 100, COUNT).astype(np.float32)

# Each with the step and start that it goes through, as NumPy and as JAX compute it, and how it is without `rounded`.
EXPRESSIONS: dict[str, Callable[..., Any]] = {
    "a product and a sum": lambda at, x, step, start: at(x * step) + start,
    "a difference of products": lambda at, x, step, start: at(x * step) - at((x + 1) * start),
    "two sums": lambda at, x, step, start: at(x + step) + start,
    "a sum and a difference": lambda at, x, step, start: at(x + start) - step,
    "two products": lambda at, x, step, start: at(x * step) * start,
    "the fraction of a product": lambda at, x, step, start: at(x * step) - at(at(x * step) // 1),
}


def loops(newer: bool) -> dict[str, Any]:
    return dict.fromkeys(known_options(OLDER_LOOPS), newer)


def unrounded(value: Any) -> Any:
    return value


def program(expression: Callable[..., Any], at: Callable[[Any], Any], newer: bool, traced: bool) -> Any:
    """The expression at 0, 1, ..., for every step and start; `traced`: these are no constants."""

    def all_of_them(steps: Any, starts: Any) -> Any:
        x = jnp.arange(COUNT, dtype=jnp.float32)
        return [expression(at, x, step, start) for step, start in zip(steps, starts, strict=True)]

    if traced:
        return jax.jit(all_of_them, compiler_options=loops(newer))(STEPS, STARTS)
    return jax.jit(lambda: all_of_them(STEPS, STARTS), compiler_options=loops(newer))()


def expected(expression: Callable[..., Any]) -> list[np.ndarray]:
    x = np.arange(COUNT, dtype=np.float32)
    return [expression(rounded, x, step, start) for step, start in zip(STEPS, STARTS, strict=True)]


@pytest.mark.cases(4)
@LOOPS
@pytest.mark.parametrize("traced", [False, True], ids=["constants", "traced"])
@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_each_operation_is_rounded(expression: Callable[..., Any], newer: bool, traced: bool):
    np.testing.assert_array_equal(np.stack(program(expression, rounded, newer, traced)), expected(expression))


def test_without_it_they_are_not():
    # If this fails, XLA no longer does what `rounded` is against.
    differ = [
        np.any(np.stack(program(expression, unrounded, True, traced=False)) != expected(expression))
        for expression in EXPRESSIONS.values()
    ]
    assert any(differ)


@LOOPS
def test_quotient_by_a_constant(newer: bool):
    def divided(values: Any) -> Any:
        return [quotient(values, jnp.float32(step)) for step in STEPS]

    got = jax.jit(divided, compiler_options=loops(newer))(VALUES)
    np.testing.assert_array_equal(np.stack(got), VALUES / STEPS[:, None])


def test_of_numpy_it_is_numpy():
    assert rounded(VALUES) is VALUES
    assert isinstance(quotient(VALUES, STEPS[0]), np.ndarray)


def test_derivatives_are_those_of_the_value():
    slope = jax.grad(lambda x: rounded(x * 3.0) + quotient(x, jnp.float32(4)))(jnp.float32(2))
    assert slope == 3.25


def test_nan_and_infinity():
    values = np.array([np.nan, np.inf, -np.inf], np.float32)
    assert np.isnan(rounded(jnp.asarray(values))[0])
    np.testing.assert_array_equal(rounded(jnp.asarray(values))[1:], values[1:])
    assert np.isnan(quotient(jnp.asarray(values), jnp.float32(2))[0])
