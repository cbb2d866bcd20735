"""Elementary functions in place of JAX's: beside NumPy and SciPy in a wider type, and at their ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
import scipy.special
from jax import lax

from jdali._numerics.elementary import IN_PLACE
from jdali._numerics.exact import MINUS_ZERO, exact

RNG = np.random.default_rng(4)
COUNT = 20_000


def apart(low: float, high: float, *ends: float) -> np.ndarray:
    """Numbers of both signs whose logarithms are spread from `low` to `high`, and `ends`."""
    sizes = np.exp(RNG.uniform(low, high, COUNT)) * RNG.choice([-1, 1], COUNT)
    return np.concatenate([sizes, RNG.uniform(-2, 2, COUNT), [0.0, -0.0, np.nan, np.inf, -np.inf], ends])


LOGISTIC: Callable[[Any], Any] = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
# The function and arguments. SciPy has no long doubles, so float64 is compared with float64 there.
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], np.ndarray]] = {
    "exp": (np.exp, apart(-30, 5)),
    "exp2": (np.exp2, apart(-30, 5)),
    "expm1": (np.expm1, apart(-30, 5)),
    "log": (np.log, np.abs(apart(-80, 80))),
    "log1p": (np.log1p, np.maximum(apart(-30, 80, -1), -1)),
    "tanh": (np.tanh, apart(-30, 5)),
    "logistic": (LOGISTIC, apart(-30, 4)),
    "asinh": (np.arcsinh, apart(-30, 80)),
    "acosh": (np.arccosh, 1 + np.abs(apart(-10, 80))),
    "atanh": (np.arctanh, np.clip(apart(-30, 0), -1, 1)),
    "atan": (np.arctan, apart(-30, 30)),
    "asin": (np.arcsin, np.clip(apart(-30, 0), -1, 1)),
    "acos": (np.arccos, np.clip(apart(-30, 0), -1, 1)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), np.abs(apart(-80, 80))),
    "erf_inv": (scipy.special.erfinv, np.clip(apart(-30, 0), -1, 1)),
}
FLOAT32 = pytest.mark.parametrize("name", FUNCTIONS)
FLOAT64 = pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "erf_inv"])


def in_place(name: str, values: np.ndarray) -> np.ndarray:
    """The primitive of JAX, in a program that `exact` makes."""
    primitive = getattr(lax, name)
    return np.asarray(jax.jit(lambda zero, x: exact(primitive, zero, "cpu")(x))(MINUS_ZERO, values))


def check(name: str, dtype: Any, wide: Any, most: float) -> None:
    """Errors of normal numbers, in units of the last place (XLA makes zeros of others), and the same ends."""
    function, values = FUNCTIONS[name]
    with np.errstate(all="ignore"):
        values = values.astype(dtype)
        wanted = function(values.astype(wide))
        rounded = wanted.astype(dtype)
        normal = np.isfinite(rounded) & (np.abs(rounded) >= np.finfo(dtype).smallest_normal)
    got = in_place(name, values)
    assert got.dtype == dtype
    units = np.spacing(np.abs(rounded[normal])).astype(wide)
    assert (np.abs(got[normal].astype(wide) - wanted[normal]) / units).max() <= most
    np.testing.assert_array_equal(got[~np.isfinite(rounded)], rounded[~np.isfinite(rounded)])


def test_every_function_is_here():
    assert set(FUNCTIONS) == set(IN_PLACE)


# Largest error in units of the last place: the series give half of one, each rounded operation behind adds up to one.
# Giles's polynomials of `erf_inv` are good to seven digits.
@pytest.mark.cases(5)
@FLOAT32
def test_float32(name: str):
    check(name, np.float32, np.float64, 8 if name == "erf_inv" else 2.5)


@pytest.mark.cases(5)
@FLOAT64
def test_float64(name: str):
    with jax.enable_x64(True):
        check(name, np.float64, np.longdouble, 2.5)


@pytest.mark.cases(5)
@FLOAT32
def test_float16(name: str):
    check(name, np.float16, np.float64, 0.51)


@pytest.mark.cases(5)
@FLOAT32
def test_bits_do_not_depend_on_the_shape(name: str):
    values = FUNCTIONS[name][1].astype(np.float32)[-37:]

    def program(zero: Any, x: Any) -> Any:
        def several(x: Any) -> Any:
            result = getattr(lax, name)(x)
            return result, result * np.float32(1.7) + np.float32(0.3)

        return exact(several, zero, "cpu")(x)

    whole = jax.jit(program)(MINUS_ZERO, values)
    for shape in [(1,), (7,), (16,), (12, 3)]:
        size = int(np.prod(shape))
        part = jax.jit(program)(MINUS_ZERO, values[:size].reshape(shape))
        for got, wanted in zip(part, whole, strict=True):
            np.testing.assert_array_equal(
                np.asarray(got).ravel().view(np.uint32), np.asarray(wanted)[:size].view(np.uint32)
            )


def test_primitives_of_complex_numbers_stay():
    values = np.array([1 + 2j, -3j], np.complex64)
    np.testing.assert_allclose(in_place("exp", values), np.exp(values), rtol=1e-6)


def test_absolute_values_of_complex_numbers():
    values = (RNG.standard_normal(COUNT) + 1j * RNG.standard_normal(COUNT)).astype(np.complex64)
    values[:6] = [0, 3 + 4j, 1e30 + 1e30j, 1e-30j, complex(np.inf, 1), complex(np.nan, 1)]
    with np.errstate(invalid="ignore"):
        wanted = np.abs(values.astype(np.complex128))
    whole = in_place("abs", values)
    # A quotient, a square, a root and a product, each rounded.
    np.testing.assert_allclose(whole, wanted, rtol=3e-7)
    for size in (1, 3, 7, 16):
        np.testing.assert_array_equal(in_place("abs", values[6 : 6 + size]), whole[6 : 6 + size])
