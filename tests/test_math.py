"""`jdali.math`: the functions of arithmetic expressions, in a pipeline."""

import importlib
import inspect
import operator

import jax
import numpy as np
import pytest
from support import expression, refusals

import jdali.dynamic as jd
import jdali.fn
import jdali.math
import jdali.ops
from jdali import Pipeline, types

VALUES = np.array([0.25, 0.5, 1.5], np.float32)
EXPECTED = {
    "sqrt": np.sqrt, "rsqrt": lambda v: 1 / np.sqrt(v), "cbrt": np.cbrt, "exp": np.exp, "log": np.log,
    "log2": np.log2, "log10": np.log10, "abs": np.abs, "fabs": np.abs, "floor": np.floor, "ceil": np.ceil,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh,
}  # fmt: skip
TWO = {"min": np.minimum, "max": np.maximum, "pow": np.power, "fpow": np.power, "atan2": np.arctan2}


def test_names():
    tested = {*EXPECTED, *TWO, "clamp"}
    assert set(jdali.math.__all__) == set(jd.math.__all__) == tested
    for name in tested:
        ours, dynamic = getattr(jdali.math, name), getattr(jd.math, name)
        assert list(inspect.signature(ours).parameters) == list(inspect.signature(dynamic).parameters)


def test_all_functions_in_one_pipeline():
    pipe = Pipeline(batch_size=1, num_threads=1)
    with pipe, np.errstate(invalid="ignore"):
        node = jdali.fn.external_source([[VALUES]], batch=True, cycle=True)
        outputs = [getattr(jdali.math, name)(node) for name in EXPECTED]
        outputs += [getattr(jdali.math, name)(node, 0.75) for name in TWO]
        outputs.append(jdali.math.clamp(node, 0.3, 1.0))
        pipe.set_outputs(*outputs)
        expected = [function(VALUES) for function in EXPECTED.values()]
        expected += [function(VALUES, np.float32(0.75)) for function in TWO.values()]
        expected.append(np.clip(VALUES, np.float32(0.3), np.float32(1)))
    for name, found, value in zip([*EXPECTED, *TWO, "clamp"], pipe.run(), expected, strict=True):
        # A few units in the last place: XLA's own elementary functions.
        np.testing.assert_allclose(found.at(0), value, rtol=3e-6, atol=1e-7, err_msg=name)


INTEGERS = np.array([5, -7, 3], np.int32)
# Divisors in which DALI finds a 0, and raises; of a float there is no error in DALI either.
ZEROS = [0, np.array([1, 0, 2], np.int32), np.uint8(0), False]
WHOLE_DIVISIONS = [operator.floordiv, operator.mod]


def computed(function, value):
    """The output of a pipeline of one sample that computes `function` of a node."""
    pipe = Pipeline(batch_size=1, num_threads=1)
    with pipe:
        pipe.set_outputs(function(jdali.fn.external_source([[value]], batch=True, cycle=True)))
    with pipe:
        return pipe.run()[0].at(0)


def divided_by_dali(divide, zero):
    constant = (
        zero
        if isinstance(zero, int)
        else importlib.import_module("nvidia.dali.types").Constant(np.asarray(zero))
    )
    expression.run(lambda x: divide(x, constant), [[INTEGERS]])


@pytest.mark.oracle
@pytest.mark.parametrize("divide", WHOLE_DIVISIONS)
def test_integer_division_by_a_constant_zero_as_in_dali(divide):
    for zero in ZEROS:
        refusals.check(ValueError, "Integer division by zero", divided_by_dali, divide, zero)
        with pytest.raises(ValueError, match="Integer division by zero. The divisor is a constant with a 0"):
            computed(lambda x, zero=zero: divide(x, types.Constant(zero)), INTEGERS)
    for value, zero in ((INTEGERS, 0.0), (INTEGERS.astype(np.float32), 0)):
        ((expected,),), _ = expression.run(lambda x, zero=zero: divide(x, zero), [[value]])
        np.testing.assert_array_equal(computed(lambda x, zero=zero: divide(x, zero), value), expected)


@pytest.mark.parametrize("divide", WHOLE_DIVISIONS)
def test_integer_division_by_a_constant_zero_outside_of_a_pipeline(divide):
    tensor = jd.as_tensor(INTEGERS)
    divide(tensor, 2)  # the program and the plan are the same ones for every divisor
    function = getattr(jdali.ops.math, divide.__name__)
    for zero in ZEROS[:3]:
        with pytest.raises(ValueError, match="Integer division by zero. The divisor is a constant with a 0"):
            divide(tensor, zero)
        with pytest.raises(ValueError, match="Integer division by zero. The divisor is a constant with a 0"):
            function(INTEGERS, zero)
    with pytest.raises(ValueError, match="Integer division by zero. The divisor is a constant with a 0"):
        jax.jit(lambda value: function(value, 0))(INTEGERS)
    np.testing.assert_array_equal(jax.jit(function)(INTEGERS, np.int32(0)), [0, 0, 0])
    np.testing.assert_array_equal(divide(tensor.cpu(), jd.as_tensor(INTEGERS) * 0).cpu(), [0, 0, 0])


def test_division_by_zero_in_a_branch_of_no_sample():
    @jdali.pipeline_def(batch_size=2, num_threads=1, enable_conditionals=True)
    def pipeline():
        value = jdali.fn.external_source([[np.int32(4), np.int32(6)]], batch=True, cycle=True)
        if value > 100:
            result = value // 0
        else:
            result = value // 2
        return result

    with pipeline() as pipe:
        np.testing.assert_array_equal(pipe.run()[0].as_array(), [2, 3])
