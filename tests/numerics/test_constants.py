"""Constants among nodes, and DALI's rules for their types."""

import re

import numpy as np
import pytest
from support import oracle, refusals

import jdali
from jdali import Pipeline, fn, types
from jdali.data_node import DataNode


def test_scalar_constants_are_equal_by_value_and_type():
    assert types.Constant(3) == types.ScalarConstant(3)
    assert types.Constant(3) != types.Constant(4)
    assert types.Constant(3) != types.Constant(3).uint8()
    assert len({types.Constant(3), types.Constant(3), types.Constant(True)}) == 2
    node = fn.external_source([np.int32([1])])
    assert isinstance(types.Constant(3) == node, DataNode)


def test_options_of_a_constant():
    with Pipeline(batch_size=2, num_threads=1) as pipe:
        named = types.Constant(np.int32([[1, 2]]), layout="AB", name="Table")
        pipe.set_outputs(named, named + 1, types.ConstantNode("cpu", 3, None, (2,), None))
    assert "Table" in [node.name for node in pipe.graph.nodes]
    assert [np.asarray(output.at(1)).tolist() for output in pipe.run()] == [[[1, 2]], [[2, 3]], [3, 3]]
    pipe.close()
    with pytest.raises(
        TypeError, match="Constant: got an unexpected argument 'nam'; there are name and preserve"
    ):
        types.Constant([1], nam="Table")


# --- constants that their type does not hold ----------------------------------------------------------
def _constant(package, value, dtype=None):
    pipe = package.Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        given = None if dtype is None else getattr(package.types, dtype)
        pipe.set_outputs(package.types.Constant(value, dtype=given))
    pipe.build()
    return np.array(pipe.run()[0].at(0))


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("value", "dtype"),
    [(2**40, None), ([-(2**40), 7], None), (300, "UINT8"), ([300, -1], "UINT8"), (np.int64([300, -1]), "UINT8"),
     (2**40, "INT64"), (np.uint64([2**31]), None)],
    ids=str,
)  # fmt: skip
def test_constants_saturate_as_in_dali(value, dtype):
    ours, theirs = (_constant(package, value, dtype) for package in (jdali, oracle.dali()))
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.oracle
@pytest.mark.parametrize("value", [np.int64([2**40]), np.uint64([5, 2**40])], ids=["int64", "uint64"])
def test_arrays_that_do_not_fit_in_32_bits_are_refused_as_in_dali(value):
    words = r"Integer 1099511627776 out of range for u?int32"
    refusals.check_both(OverflowError, words, lambda package: _constant(package, value))


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda types: 2**40, "Integer constant 1099511627776 out of range for int32."),
        (lambda types: types.Constant(300).uint8(), "Integer constant 300 out of range for uint8."),
        (lambda types: types.Constant(-1).uint8(), "Integer constant -1 out of range for uint8."),
        (lambda types: np.int64([2**40]), "Integer 1099511627776 out of range for int32"),
    ],
)
def test_operands_that_their_type_does_not_hold_are_refused_as_in_dali(make, text):
    def run(package):
        pipe = package.Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(package.fn.constant(idata=[1]) + make(package.types))
        pipe.build()
        pipe.run()

    refusals.check_both(OverflowError, re.escape(text), run)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda types: types.ScalarConstant("a"),
            "Expected scalar value of type 'bool', 'int' or 'float', got",
        ),
        (lambda types: types.ScalarConstant(1, types.STRING), "DALI ScalarConstant can only hold one of: "),
        (lambda types: bool(types.ScalarConstant(1.5)), "must be converted to one of bool or int types: ("),
        (lambda types: int(types.ScalarConstant(1.5)), "explicitly before casting to builtin `int`."),
        (lambda types: float(types.ScalarConstant(1)), "must be converted to one of the float types: ("),
    ],
)
def test_scalars_are_refused_as_in_dali(call, text):
    refusals.check_both(TypeError, re.escape(text), lambda package: call(package.types))


def test_scalars_as_arguments_are_converted():
    pipe = Pipeline(batch_size=1, num_threads=1)
    with pipe:
        image = np.arange(4, dtype=np.uint8).reshape(2, 2, 1)
        pipe.set_outputs(
            fn.flip(image, horizontal=types.Constant(1.0)), fn.rotate(image, angle=types.Constant(0))
        )
    flipped, same = pipe.run()
    assert flipped.at(0).ravel().tolist() == [1, 0, 3, 2]
    np.testing.assert_array_equal(same.at(0), image)


# --- NumPy's numbers beside nodes --------------------------------------------------------------------
def _types_of(package, number):
    """Type names of a node and a number, in either order, of a constant, and of an array."""
    pipe = package.Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        node = package.fn.constant(idata=[1, 2], dtype=package.types.INT16)
        constant = package.types.Constant(number)
        pipe.set_outputs(node + number, number + node, constant, node + np.array([number, number]))
    pipe.build()
    return [out.dtype.name for out in pipe.run()]


@pytest.mark.oracle
def test_numbers_of_numpy_as_in_dali():
    for kind in (np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32, np.bool_):
        assert _types_of(jdali, kind(1)) == _types_of(oracle.dali(), kind(1)), kind


NUMBERS = [
    (5, {}), (2.5, {}), (True, {}), (3, {"dtype": "INT16"}), (3.7, {"dtype": "INT32"}), (5, {"dtype": "FLOAT"}),
    (2, {"dtype": "BOOL"}), (np.int64(3), {}), (np.float64(2.5), {}), (np.uint8(2), {}), (np.array(3, np.int8), {}),
    (np.array(2.5), {}), (np.int64(3), {"dtype": "FLOAT"}), (3, {"shape": ()}), (3, {"shape": [1]}), (3, {"shape": 1}),
]  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize(("value", "options"), NUMBERS)
def test_texts_and_types_of_scalars_as_in_dali(value, options):
    def asked(package):
        given = {k: getattr(package.types, v) if k == "dtype" else v for k, v in options.items()}
        constant = package.types.Constant(value, **given)
        pipe = package.Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            numbers = package.fn.external_source(source=[[np.array([10], np.int16)]], cycle=True)
            pipe.set_outputs(numbers * constant)
        pipe.build()
        (product,) = pipe.run()
        return str(constant), repr(constant), product.dtype.name, np.asarray(product.at(0)).tolist()

    assert asked(jdali) == asked(oracle.dali())
