"""Values of the expressions against the real DALI, over the types, their edges and their mixes."""

import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract, expression, oracle
from support.some import drawn

from jdali._operators.pure import pure_call
from jdali._operators.record import REGISTRY
from jdali.ops import math as _math  # noqa: F401 (registers the operators)

INTEGERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
FLOATS = ["float32", "float64"]
MIXES = [
    ("uint8", "int8"), ("int8", "uint16"), ("int16", "uint8"), ("uint32", "int8"), ("int32", "uint32"),
    ("uint64", "int64"), ("int64", "uint32"), ("uint16", "uint32"), ("int32", "uint64"), ("int8", "int32"),
]  # fmt: skip
FLOAT_MIXES = [
    ("uint8", "float32"), ("float32", "int32"), ("int64", "float32"), ("float64", "uint64"),
    ("float32", "float64"), ("uint32", "float32"),
]  # fmt: skip
BOOL_MIXES = [("bool", "uint8"), ("int16", "bool"), ("bool", "int64")]

SAME_INTEGERS = [(d, d) for d in INTEGERS]
INTEGER_PAIRS = SAME_INTEGERS + MIXES + BOOL_MIXES
ALL_PAIRS = [*INTEGER_PAIRS, *FLOAT_MIXES, *((d, d) for d in FLOATS), ("bool", "float32")]


def edges(dtype):
    """Values that wrap, round, change sign or compare differently."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([True, False])
    if kind.kind == "f":
        return np.array([-7.5, -1, -0.0, 0.0, 0.3, 1, 2, 100.25, 3e9, np.inf, np.nan], kind)
    limits = np.iinfo(kind)
    small = [v for v in (-100, -7, -2, -1, 0, 1, 2, 3, 7, 100) if v >= limits.min]
    return np.array([limits.min, *small, limits.max - 1, limits.max], kind)


def grid(left, right):
    """Every value of the one with every value of the other."""
    if left.dtype == np.bool_:  # XLA makes a select of bool * x, where False * NaN is 0
        right = right[np.isfinite(right)]
    a, b = np.meshgrid(left, right)
    return a.ravel(), b.ravel()


def check(name, function, cases, rtol=0.0):
    """One DALI pipeline and one compiled program for a third of the cases of one expression.

    `cases` are tuples of operands. 64-bit types are on, so that every type can be compared.
    """
    cases = drawn(cases, -(-len(cases) // 3), lambda case: f"{name} {[str(o.dtype) for o in case]}")
    flat = [operand for case in cases for operand in case]
    count = len(cases[0])

    def dalis(*nodes):
        return [function(*nodes[i : i + count]) for i in range(0, len(nodes), count)]

    def ours(flat):
        op = REGISTRY[name]
        return [pure_call(op, flat[i : i + count], {}) for i in range(0, len(flat), count)]

    expected, _ = expression.run(dalis, [[operand] for operand in flat])
    with jax.enable_x64(True):
        results = jax.jit(ours)([jnp.asarray(operand) for operand in flat])
    for case, got, (want,) in zip(cases, results, expected, strict=True):
        what = f"{name} of {[str(o.dtype) for o in case]}: {[o.tolist() for o in case]}"
        assert got.dtype == want.dtype, what
        np.testing.assert_allclose(got, want, rtol=rtol if want.dtype.kind == "f" else 0, err_msg=what)


@pytest.mark.cases(1)
@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "function"), [("add", operator.add), ("sub", operator.sub), ("mul", operator.mul)]
)
def test_sums_and_products_are_exact(name, function):
    check(f"math.{name}", function, [grid(edges(a), edges(b)) for a, b in ALL_PAIRS])


@pytest.mark.oracle
def test_product_of_booleans():
    check("math.mul", operator.mul, [grid(edges("bool"), edges("bool"))])


@pytest.mark.oracle
def test_division_is_exact():
    check("math.div", operator.truediv, [grid(edges(a), edges(b)) for a, b in ALL_PAIRS])


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "function"), [("floordiv", operator.floordiv), ("mod", operator.mod)])
def test_whole_division_truncates(name, function):
    def operands(a, b):
        left, right = edges(a), edges(b)
        if "f" not in (np.dtype(a).kind, np.dtype(b).kind):
            # DALI stops on an integer division by zero, and dies on the least integer by -1.
            right = right[(right != 0) & (right.astype(np.int64) != -1)]
        # Of mixed operands DALI takes the rest in double precision, so only up to 2**24 it is the same.
        return tuple(np.where(np.abs(x.astype(np.float64)) <= 2**24, x, 5).astype(x.dtype)
                     if "f" in a + b and x.dtype.kind in "iu" else x for x in grid(left, right))  # fmt: skip

    check(f"math.{name}", function, [operands(a, b) for a, b in ALL_PAIRS])


@pytest.mark.oracle
def test_integer_powers_wrap():
    def operands(a, b):
        exponents = [v for v in (-3, -1, 0, 1, 2, 5, 31) if v >= 0 or np.dtype(b).kind == "i"]
        return grid(edges(a), np.array(exponents, b))

    check("math.pow", operator.pow, [operands(a, b) for a, b in SAME_INTEGERS + MIXES])


@pytest.mark.oracle
def test_real_powers():
    pairs = [("float32", "float32"), ("float64", "float64"), ("int32", "float32"), ("float32", "uint8")]
    cases = [
        grid(np.array([0, 0.5, 2, 3.7, 9]).astype(a), np.array([0, 1, 2.5, 7]).astype(b)) for a, b in pairs
    ]
    # XLA's power and the C library's differ by a few ulp of float32 (2e-7 for the result of exp,
    # times the size of the exponent).
    check("math.pow", operator.pow, cases, rtol=2e-6)
    oracle.dali()
    import nvidia.dali.math as dali_math

    check("math.fpow", dali_math.fpow, [*cases, grid(np.int32([1, 2, 5]), np.int32([-2, 0, 3]))], rtol=2e-6)


@pytest.mark.cases(2)
@pytest.mark.oracle
@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons_are_of_true_values(name):
    def operands(a, b):
        left, right = edges(a), edges(b)
        # DALI takes a negative integer to be less than any float, even -1 than -1.0: see the next test.
        kinds = {left.dtype.kind, right.dtype.kind}
        if kinds == {"i", "f"}:
            left, right = left[left >= 0], right[right >= 0]
        return grid(left, right)

    pairs = [*ALL_PAIRS, *((b, a) for a, b in MIXES), ("bool", "bool")]
    check(f"math.{name}", getattr(operator, name), [operands(a, b) for a, b in pairs])


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_negative_integers_compare_with_floats(name):
    integers, floats = grid(np.int32([-7, -1, 0, 3]), np.float32([-7.5, -1, -0.5, 0, 3, np.nan]))
    for left, right in ((integers, floats), (floats, integers)):
        got = contract.pure(REGISTRY[f"math.{name}"], [left, right], {})
        np.testing.assert_array_equal(got, getattr(operator, name)(left, right))


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["min", "max"])
def test_extrema(name):
    oracle.dali()
    import nvidia.dali.math as dali_math

    check(f"math.{name}", getattr(dali_math, name), [grid(edges(a), edges(b)) for a, b in ALL_PAIRS])


@pytest.mark.oracle
def test_clamp():
    oracle.dali()
    import nvidia.dali.math as dali_math

    triples = [
        ("uint8", "int8", "int8"), ("uint8", "int8", "float32"), ("float32", "float32", "float32"),
        ("int32", "uint32", "bool"), ("float64", "int16", "uint8"), ("uint64", "int64", "int8"),
    ]  # fmt: skip
    cases = []
    for dtypes in triples:
        values = np.meshgrid(*(edges(d) for d in dtypes))
        cases.append(tuple(v.ravel() for v in values))
    check("math.clamp", dali_math.clamp, cases)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "function"), [("bitand", operator.and_), ("bitor", operator.or_), ("bitxor", operator.xor)]
)
def test_bits(name, function):
    pairs = [*INTEGER_PAIRS, ("bool", "bool")]
    check(f"math.{name}", function, [grid(edges(a), edges(b)) for a, b in pairs])


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "function"), [("lshift", operator.lshift), ("rshift", operator.rshift)])
def test_shifts(name, function):
    def operands(a, b):
        # Past 31 bits C leaves the result open.
        distances = np.array([0, 1], np.bool_) if b == "bool" else np.array([0, 1, 3, 7, 8, 15, 31], b)
        return grid(edges(a), distances)

    pairs = [*INTEGER_PAIRS, ("bool", "bool")]
    check(f"math.{name}", function, [operands(a, b) for a, b in pairs])


@pytest.mark.oracle
def test_one_operand_that_stays_in_its_type():
    oracle.dali()
    import nvidia.dali.math as dali_math

    for name, function in (("neg", operator.neg), ("abs", dali_math.abs)):
        check(f"math.{name}", function, [(edges(d),) for d in INTEGERS + FLOATS])
    check("math.bitnot", operator.invert, [(edges(d),) for d in [*INTEGERS, "bool"]])


# Where XLA's float32 polynomials and the C library's differ, in units of the value: measured, at
# most 4 ulp (ulp is 6e-8 to 1.2e-7), twice that for the hyperbolic functions, which XLA composes
# of exp and log1p.
REAL_FUNCTIONS = {
    "fabs": 0, "floor": 0, "ceil": 0, "sqrt": 0, "rsqrt": 5e-7, "cbrt": 5e-7, "exp": 5e-7, "log": 5e-7,
    "log2": 5e-7, "log10": 5e-7, "sin": 5e-7, "cos": 5e-7, "tan": 5e-7, "asin": 5e-7, "acos": 5e-7,
    "atan": 5e-7, "sinh": 1e-6, "cosh": 1e-6, "tanh": 5e-7, "asinh": 1e-6, "acosh": 1e-6, "atanh": 1e-6,
}  # fmt: skip


@pytest.mark.cases(8)
@pytest.mark.oracle
@pytest.mark.parametrize("name", REAL_FUNCTIONS)
def test_real_functions(name):
    oracle.dali()
    import nvidia.dali.math as dali_math

    values = np.array([-3.7, -1, -0.6, -1e-3, 1e-3, 0.3, 0.9, 1, 1.1, 2, 5.5, 30])
    cases = [(values.astype(d),) for d in FLOATS]
    cases += [(np.array([1, 2, 5, 100], d),) for d in INTEGERS]
    with np.errstate(invalid="ignore"):
        check(f"math.{name}", getattr(dali_math, name), cases, rtol=REAL_FUNCTIONS[name])


@pytest.mark.oracle
def test_atan2():
    oracle.dali()
    import nvidia.dali.math as dali_math

    values = [-3.7, -1, 0, 0.5, 2]
    cases = [grid(np.array(values).astype(a), np.array(values).astype(b))
             for a, b in (("float32", "float32"), ("float64", "float32"), ("int32", "int8"))]  # fmt: skip
    check("math.atan2", dali_math.atan2, cases, rtol=5e-7)
