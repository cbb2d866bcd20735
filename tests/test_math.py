"""`jdali.math`: the functions of arithmetic expressions, in a pipeline."""

import inspect

import numpy as np
import pytest

import jdali.dynamic as jd
import jdali.fn
import jdali.math
from jdali import Pipeline

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


def test_outside_of_a_pipeline():
    with pytest.raises(RuntimeError, match="pipeline"):
        jdali.math.sqrt(2.0)
