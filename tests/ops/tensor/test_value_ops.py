"""cast, one_hot, lookup_table and the fills against the real DALI and values by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract, oracle

import jdali
import jdali.dynamic as jd
from jdali import fn
from jdali._batches import BatchSpec
from jdali._errors import SampleError
from jdali._operators.call import CallRequest, PerBatch, plan_call
from jdali._operators.pure import pure_call
from jdali.ops.tensor import _cast, _full, _lookup_table, _one_hot

cast, cast_like = _cast.cast, _cast.cast_like
one_hot, lookup_table = _one_hot.one_hot, _lookup_table.lookup_table

NUMBERS = np.array([[-1e10, -200.5, -2.5, -0.5, 0.2, 0.5], [1.5, 127.5, 300.0, 7e4, 5e9, 2e19]], np.float32)
TYPES = [
    np.uint8,
    np.int8,
    np.uint16,
    np.int16,
    np.uint32,
    np.int32,
    np.uint64,
    np.int64,
    np.float16,
    np.float64,
]


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", TYPES)
def test_cast_as_dali(dtype):
    data = [NUMBERS, NUMBERS[:1, :3], np.array([[np.inf, -np.inf, 0]], np.float32)]
    contract.check(cast, [data], {"dtype": dtype}, x64=True, compiled_atol=0)


@pytest.mark.oracle
@pytest.mark.parametrize("source", [np.int8, np.uint64, np.bool_, np.float16])
def test_cast_from_as_dali(source):
    with np.errstate(all="ignore"):
        data = [NUMBERS.astype(source), NUMBERS[:, :2].astype(source)]
    for dtype in (np.uint8, np.float32):
        contract.check(cast, [data], {"dtype": dtype}, x64=True, compiled_atol=0)


@pytest.mark.oracle
def test_cast_like_as_dali():
    like = [np.zeros((1, 2, 3), np.uint8), np.zeros((2, 1, 1), np.uint8)]
    contract.check(cast_like, [[NUMBERS, NUMBERS[:1]], like])


def test_cast_by_hand():
    got = contract.pure(cast, [np.array([2.5, -2.5, 300.0, np.nan], np.float32)], {"dtype": np.uint8})
    np.testing.assert_array_equal(got, np.array([3, 0, 255, 0], np.uint8))
    np.testing.assert_array_equal(
        jax.grad(lambda x: pure_call(cast, [x], {"dtype": np.float16}).sum())(2.0), 1.0
    )


CLASSES = [np.array([[0, 1, 2], [5, -1, 1]], np.int32), np.array([[3, 3]], np.int32)]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {"num_classes": 4}, {"num_classes": 4, "axis": 0}, {"num_classes": 3, "axis": 1, "dtype": np.int16},
        {"num_classes": 4, "on_value": 2.5, "off_value": -1.5, "dtype": np.int32}, {},
        {"num_classes": 4, "on_value": 0.3, "axis": 2},
    ],
    ids=str,
)  # fmt: skip
def test_one_hot_as_dali(args):
    contract.check(one_hot, [CLASSES], args)


@pytest.mark.oracle
@pytest.mark.parametrize(("shape", "dtype"), [((), np.int64), ((1,), np.uint8), ((1, 1), np.float32)])
def test_one_hot_of_scalars_as_dali(shape, dtype):
    data = [np.full(shape, v, dtype) for v in (1.6, 3, 0)]
    contract.check(one_hot, [data], {"num_classes": 4}, x64=True)
    if shape:
        contract.check(one_hot, [data], {"num_classes": 4, "axis": 0}, x64=True)


@pytest.mark.oracle
def test_one_hot_of_samples_of_one_element_beside_longer_ones():
    """In a batch of such samples alone they are scalars, in DALI and here; the padded shape of a sample says nothing."""
    data = [np.int32(values) for values in ([0, 1, 1, 0], [1], [1, 0])]
    ((expected,), (scalars,)) = (
        oracle.run("one_hot", [d], {"num_classes": 2}) for d in (data, data[1:2] * 3)
    )
    assert [value.shape for value in (*expected, *scalars)] == [(4, 2), (1, 2), (2, 2), (2,), (2,), (2,)]

    def batches():
        return fn.one_hot(fn.external_source(lambda i: data if i % 2 == 0 else data[1:2] * 3), num_classes=2)

    for debug in (False, True):
        pipe = jdali.pipeline_def(batches, batch_size=3, num_threads=1, debug=debug)()
        for want in (expected, scalars, expected):
            for got, one in zip(pipe.run()[0].to_samples(), want, strict=True):
                np.testing.assert_array_equal(got, one)
        pipe.close()
    dynamic = jd.one_hot(jd.as_batch(data), num_classes=2)
    for got, one in zip(dynamic.tensors, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(got), one)


TABLE = {"keys": [0, 2, 3, 4, 5, 3], "values": [0.2, -2.5, 0.5, 300, 0.7, 1.5], "default_value": 0.99}


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.bool_])
def test_lookup_table_as_dali(dtype):
    data = [np.array([1, 4, 1, 0, 100, 2, 3, -1, 5, 6], np.int32), np.array([3], np.int32)]
    contract.check(lookup_table, [data], TABLE | {"dtype": dtype})


@pytest.mark.oracle
@pytest.mark.parametrize("source", [np.uint8, np.uint32, np.int64])
def test_lookup_table_of_any_integer_as_dali(source):
    largest = np.iinfo(source).max
    data = [np.array([[0, 2, 100], [largest, largest - 1, 3]], source)]
    contract.check(lookup_table, [data], TABLE, x64=True)
    contract.check(lookup_table, [data], {"keys": [65535], "values": [3.0]}, x64=True)
    contract.check(lookup_table, [data], {}, x64=True)


@pytest.mark.oracle
def test_fills_as_dali():
    data = [np.ones((4, 5, 3), np.uint8), np.ones((2, 2, 3), np.uint8)]
    rows = [np.array([[1.5, -2, 400]], np.float32), np.array([[7, 8, 9]], np.float32)]
    contract.check(_full.full_like, [data, rows], layout=["HWC", ""])
    contract.check(_full.zeros_like, [data], {"dtype": np.float32})
    contract.check(_full.ones_like, [data], {}, layout="HWC")
    contract.check(_full.full, [[np.int16(4), np.int16(5)]], {}, {"shape": [[2, 3], [4, 1]]})
    contract.check(_full.full, [rows], {"shape": [2, 2, 3], "layout": "HWC"})
    for shape in ([1, 1, 3], [1], [1, 1]):  # with more axes than the result has
        contract.check(_full.full, [[np.ones(shape, np.int16)] * 2], {"shape": shape[2:]})


@pytest.mark.oracle
@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (1, 1, 1)], ids=str)
@pytest.mark.parametrize("fill", [np.int32([[3, 1, 2], [5, 6, 7]]), np.float32([4, 5, 6])], ids=str)
def test_a_result_of_one_element_is_the_first_of_the_fill(fill, shape):
    contract.check(_full.full, [[fill]], {"shape": shape}, {})
    like = np.zeros(shape, fill.dtype)
    contract.check(_full.full_like, [[like], [fill]], {}, {})


def test_fills_by_hand():
    np.testing.assert_array_equal(
        contract.pure(_full.zeros, [], {"shape": [2, 3]}), np.zeros((2, 3), np.int32)
    )
    ones = contract.pure(_full.ones, [], {"shape": 2, "dtype": np.float16})
    np.testing.assert_array_equal(ones, np.ones(2, np.float16))
    assert contract.pure(_full.zeros, [], {}).shape == ()
    assert contract.pure(_full.full, [np.float32(3)], {}) == 3
    planned = plan_call(
        CallRequest(
            _full.ones, [], {"shape": PerBatch(np.array([[2, 1], [0, 3]])), "layout": "AB"}, batch_size=2
        )
    )
    assert planned.outputs[0].extents.tolist() == [[2, 1], [0, 3]]
    assert planned.outputs[0].layout == "AB"


def test_one_hot_and_lookup_by_hand():
    got = contract.pure(one_hot, [np.array([2, 0])], {"num_classes": 3, "axis_name": "C"}, layout="N")
    np.testing.assert_array_equal(got, np.eye(3, dtype=np.float32)[[2, 0]])
    spec = BatchSpec(np.array([[2, 3]]), np.int32, "HW")
    for args, layout in [({"axis_name": "C", "axis": 0}, "CHW"), ({"axis_name": "C"}, "HWC"), ({}, "")]:
        assert (
            plan_call(CallRequest(one_hot, [spec], {"num_classes": 3} | args, batch_size=1)).outputs[0].layout
            == layout
        )
    table = jax.jit(lambda x: pure_call(lookup_table, [x], TABLE))(jnp.array([3, 9], jnp.uint8))
    np.testing.assert_allclose(table, [1.5, 0.99], rtol=1e-6)
    mapped = jax.vmap(lambda c: pure_call(one_hot, [c], {"num_classes": 2}))(jnp.array([0, 1]))
    np.testing.assert_array_equal(mapped, np.eye(2, dtype=np.float32))


@pytest.mark.parametrize(
    ("op", "data", "args", "message"),
    [
        (cast, 1, {}, 'cast: Not all required arguments were specified for op "Cast".* "dtype"'),
        (
            one_hot,
            np.zeros((2, 2)),
            {"axis": 3},
            "one_hot: Provided axis is outside of allowed range, got: 3, expected",
        ),
        (
            one_hot,
            np.zeros((2, 2)),
            {"axis_name": "AB"},
            "one_hot: Unsupported axis_name value. It must be a single character,",
        ),
        (
            one_hot,
            np.zeros((2, 2)),
            {"axis_name": "A"},
            "one_hot: Input layout mismatch - expected input layout to be of size 2",
        ),
        (
            lookup_table,
            np.float32(1),
            {},
            "lookup_table: Unsupported input type: float32. It must be an integer type",
        ),
        (
            lookup_table,
            np.int32(1),
            {"keys": [1]},
            "lookup_table: `keys` size should match `values` size, got 1 and 0",
        ),
        (
            lookup_table,
            np.int32(1),
            {"keys": [65536], "values": [1.0]},
            r"`keys` should be in the range \[0, 65535\], got 65536 to 65536",
        ),
        (
            _full.full,
            np.ones(3),
            {"shape": [3, 2]},
            "full: Shapes 3 x 2 and 3 can't be broadcast: a fill_value must have",
        ),
        (_full.full, np.ones(0), {"shape": [1]}, "full: Shapes 1 and 0 can't be broadcast"),
        (_full.full, np.ones((2, 3)), {"shape": [2, 1]}, "full: Shapes 2 x 1 and 2 x 3 can't be broadcast"),
        (_full.full, np.float32(1), {"shape": [-1]}, "Input size less than zero not supported. Got shape -1"),
        (_full.full, np.float32(1), {"shape": [1], "layout": "HW"}, "layout 'HW' does not fit 1 axes"),
    ],
)
def test_wrong_arguments(op, data, args, message):
    with pytest.raises((ValueError, TypeError, SampleError), match=message):
        pure_call(op, [data], args)
