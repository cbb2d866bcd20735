"""What all expressions share: broadcasting, layouts, padding, types, errors; expected values by NumPy."""

import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract, expression

import jdali
from jdali import fn, types
from jdali._batches import BatchSpec
from jdali._errors import SampleError
from jdali._operators.call import CallRequest, plan_call
from jdali._operators.pure import pure_call
from jdali._operators.record import REGISTRY
from jdali.ops import math as _math  # noqa: F401 (registers the operators)

ADD = REGISTRY["math.add"]
NAMES = sorted(name.removeprefix("math.") for name in REGISTRY if name.startswith("math."))
BITWISE = {"bitand", "bitor", "bitxor", "bitnot", "lshift", "rshift"}
NUMPY = {
    "div": np.divide, "sub": np.subtract, "mul": np.multiply, "mod": np.fmod, "neg": np.negative,
    "floordiv": np.divide, "pow": np.power, "fpow": np.power, "pos": np.positive, "eq": np.equal,
    "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "bitand": np.bitwise_and, "bitor": np.bitwise_or, "bitxor": np.bitwise_xor, "bitnot": np.invert,
    "lshift": np.left_shift, "rshift": np.right_shift, "min": np.minimum, "max": np.maximum,
    "clamp": np.clip, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "atan2": np.arctan2, "rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip


def samples(shapes, dtype=np.float32, low=0.1, high=0.9, seed=0):
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.uniform(low, high, shape)).astype(dtype) for shape in shapes]


def numpy_function(name):
    return NUMPY.get(name) or getattr(np, name)


@pytest.mark.cases(10)
@pytest.mark.parametrize("name", NAMES)
def test_padded_batch_equals_numpy(name):
    op, function = REGISTRY[f"math.{name}"], numpy_function(name)
    limits = (
        (np.int32, 1, 9)
        if name in BITWISE
        else (np.float32, 1.1, 3)
        if name == "acosh"
        else (np.float32, 0.1, 0.9)
    )
    shapes = [[(2, 3), (1, 1), (4, 2)], [(2, 3), (1, 1), (4, 2)], [(), (), ()]]
    inputs = [samples(shapes[i], *limits, seed=i) for i in range(len(op.inputs))]
    expected = [[np.asarray(function(*operands)) for operands in zip(*inputs, strict=True)]]
    # Up to 4 ulp of float32 between XLA's and NumPy's elementary functions, values below 10.
    contract.check(op, inputs, expected=expected, atol=2e-6)


BROADCASTS = {
    "scalar": ([(2, 3), (4, 5)], [(), ()]),
    "row": ([(2, 3), (4, 3)], [(3,), (3,)]),
    "column": ([(2, 3), (4, 5)], [(2, 1), (4, 1)]),
    "outer": ([(2, 1), (4, 1)], [(1, 3), (1, 5)]),
    "some samples": ([(2, 3), (1, 5), (4, 1)], [(1, 3), (4, 5), (4, 2)]),
    "a missing axis in some": ([(2, 3, 4), (1, 3, 1)], [(3, 4), (1, 6)]),
    "empty": ([(0, 3), (2, 3)], [(1, 3), (1, 3)]),
}


@pytest.mark.parametrize("shapes", BROADCASTS.values(), ids=BROADCASTS)
@pytest.mark.parametrize("swap", [False, True], ids=["", "swapped"])
def test_broadcasting_is_per_sample(shapes, swap):
    inputs = [samples(s, seed=i) for i, s in enumerate(shapes)]
    inputs = inputs[::-1] if swap else inputs
    expected = [[a - b for a, b in zip(*inputs, strict=True)]]
    contract.check(REGISTRY["math.sub"], inputs, expected=expected)  # one rounding: exact


def test_three_operands_broadcast():
    inputs = [samples([(2, 3), (4, 3)], np.float32, -1, 2), samples([(1, 3), (4, 1)], seed=1, high=0.2),
              samples([(), ()], low=0.5, seed=2)]  # fmt: skip
    expected = [[np.clip(*operands) for operands in zip(*inputs, strict=True)]]
    contract.check(REGISTRY["math.clamp"], inputs, expected=expected)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (("HWC", 3), ("C", 1)), (("HWC", 3), ("WC", 2)), (("C", 1), ("HWC", 3)), (("HW", 2), ("", 0)),
        (("", 3), ("WC", 2)), (("", 2), ("WC", 2)), (("HWC", 3), ("", 4)), (("", 3), ("HWC", 3)),
    ],
)  # fmt: skip
def test_layout_of_the_result_is_as_in_dali(left, right):
    specs = [BatchSpec(np.full((1, ndim), 2), np.float32, layout) for layout, ndim in (left, right)]
    ours = plan_call(CallRequest(ADD, specs, {}, batch_size=1)).outputs[0].layout
    arrays = [[np.zeros((2,) * ndim, np.float32)] for _, ndim in (left, right)]
    _, (dalis,) = expression.run(operator.add, arrays, [left[0], right[0]])
    assert ours == dalis


@pytest.mark.parametrize(("left", "right"), [("HW", "C"), ("HW", "WH"), ("HWC", "HW")])
def test_layouts_must_fit(left, right):
    specs = [BatchSpec(np.full((1, len(name)), 2), np.float32, name) for name in (left, right)]
    with pytest.raises(
        ValueError, match="math.add: Layouts of subexpressions do not match. They must be equal or"
    ):
        plan_call(CallRequest(ADD, specs, {}, batch_size=1))


def test_a_sample_that_does_not_broadcast_is_named():
    specs = [BatchSpec(np.array([[2, 3], [2, 3]]), np.float32), BatchSpec(np.array([[3], [2]]), np.float32)]
    with pytest.raises(SampleError, match="math.add: Can't broadcast shapes:") as error:
        plan_call(CallRequest(ADD, specs, {}, batch_size=2))
    assert error.value.sample == 1


def test_refused_types_name_the_expression():
    with pytest.raises(TypeError, match=r"math.add: Inputs to arithmetic operator `\+` cannot be booleans"):
        pure_call(ADD, [np.array([True]), np.array([False])], {})


def test_plain_operands_fuse_without_a_gather_or_a_select():
    image, mean = jnp.zeros((4, 6, 3)), jnp.zeros(3)
    text = str(jax.make_jaxpr(lambda a, b: pure_call(REGISTRY["math.mul"], [a, b], {}))(image, mean))
    assert "gather" not in text
    assert "select" not in text
    assert "pad" not in text


def _dtypes(jaxpr):
    for equation in jaxpr.eqns:
        yield from (v.aval.dtype for v in equation.outvars)
        for value in equation.params.values():
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                yield from _dtypes(inner)


@pytest.mark.parametrize("name", NAMES)
def test_no_64_bit_value_appears_with_64_bit_types_enabled(name):
    op = REGISTRY[f"math.{name}"]
    for pair in (("uint8", "int32"), ("uint32", "uint16"), ("float32", "uint32"), ("uint32", "int16")):
        if name in BITWISE and "float32" in pair:
            continue
        operands = [np.ones(3, d) for d in (*pair, "uint8")[: len(op.inputs)]]
        wide = pair == ("uint32", "int16") and len(operands) > 1
        if wide and name not in ("eq", "ne", "lt", "le", "gt", "ge", "div", "fpow", "atan2"):
            continue  # DALI's result is int64
        with jax.enable_x64(True):
            jaxpr = jax.make_jaxpr(lambda *a: pure_call(op, a, {}))(*operands)
        assert {d for d in _dtypes(jaxpr.jaxpr) if d.itemsize == 8} == set(), (pair, jaxpr)


def test_integer_division_by_a_computed_zero_gives_zero():
    operands = [np.int32([7, -7, 0]), np.int32([0, 0, 0])]
    for name in ("floordiv", "mod"):
        divided = jax.jit(lambda *values, name=name: pure_call(REGISTRY[f"math.{name}"], values, {}))
        np.testing.assert_array_equal(divided(*operands), [0, 0, 0])


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_jit_vmap_and_grad():
    a, b = jnp.asarray([[0.5, 2.0], [3.0, 4.0]]), jnp.asarray([2.0, 3.0])

    def power(x, y):
        return pure_call(REGISTRY["math.pow"], [x, y], {})

    np.testing.assert_allclose(jax.jit(power)(a, b), np.power(a, b), rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(power)(a, b), [a[0] ** 2, a[1] ** 3], rtol=1e-6)
    np.testing.assert_allclose(jax.grad(lambda x: power(x, b).sum())(a), b * a ** (b - 1), rtol=1e-6)
    least = jax.grad(lambda x: pure_call(REGISTRY["math.min"], [x, b], {}).sum())(a)
    np.testing.assert_array_equal(least, [[1, 1], [0, 0]])


@pytest.mark.parametrize("name", ["sinh", "cosh"])
def test_hyperbolic_functions_of_any_size(name):
    """Within 6 ulp of the true value, and infinite only where that is too large for float32."""
    values = np.float32([0, 1e-6, 0.3, 0.99, 1, 1.01, 7, 40, 80, 89, 89.5, np.inf])
    values = np.concatenate([values, -values])
    got = np.asarray(contract.pure(REGISTRY[f"math.{name}"], [values], {}))
    with np.errstate(over="ignore"):
        expected = getattr(np, name)(values.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(got, expected, rtol=7e-7)


@pytest.mark.parametrize("divisor", [3.7, 255.0])
def test_a_quotient_by_a_constant_is_rounded_once(divisor):
    values = np.random.default_rng(0).uniform(-1e6, 1e6, (1, 999)).astype(np.float32)
    values[0, :2] = np.nan, np.inf

    @jdali.pipeline_def(batch_size=1, num_threads=1)
    def pipeline():
        x = fn.external_source([values])
        return x / types.Constant(divisor), x // types.Constant(divisor)

    for out in pipeline().run():
        np.testing.assert_array_equal(out.as_array(), values / np.float32(divisor))
