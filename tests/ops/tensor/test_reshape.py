"""reshape and reinterpret against the real DALI and against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract

from jdali._batches import BatchSpec
from jdali._errors import SampleError, TracedArgumentError
from jdali._operators.call import CallRequest, plan_call
from jdali._operators.pure import pure_call
from jdali.ops.tensor._reshape import reinterpret, reshape


def samples(dtype=np.int32, shapes=((2, 3, 4), (4, 5, 6), (6, 1, 2))):
    rng = np.random.default_rng(0)
    return [rng.integers(-100, 100, s).astype(dtype) for s in shapes]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {"shape": [-1]}, {"shape": [1, -2, 2, 1]}, {"rel_shape": [0.5, -1]}, {"rel_shape": [0.5, 1, 2]},
        {"rel_shape": [1, 1, 1, -1]}, {"src_dims": [-1, 1, 0, 2]},
        {"src_dims": [-1, 1, 0], "rel_shape": [2, 1, -1]}, {"layout": "XYZ"},
    ],
    ids=str,
)  # fmt: skip
def test_shapes_as_dali(args):
    contract.check(reshape, [samples()], args)


@pytest.mark.oracle
def test_shapes_per_sample_as_dali():
    shapes = [[4, 6], [12, -1], [-1, 1]]
    contract.check(reshape, [samples()], {}, {"shape": shapes})
    contract.check(reshape, [samples(), [np.array(s, np.int32) for s in shapes]])
    contract.check(reshape, [samples()], {}, {"rel_shape": [[0.5, -1.0], [0.25, -1.0], [0.5, -1.0]]})


@pytest.mark.oracle
def test_scalars_and_nothing_as_dali():
    contract.check(reshape, [[np.ones((0, 3, 4), np.float32)]], {"shape": [-1, 3]})
    contract.check(reshape, [[np.float32(3), np.float32(4)]], {"shape": [1, 1]})
    contract.check(
        reshape, [[np.full((1, 1), 5, np.uint8)]], {"shape": []}, expected=[[np.array(5, np.uint8)]]
    )


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {"dtype": np.uint8}, {"dtype": np.float32}, {"dtype": np.int64}, {"dtype": np.bool_},
        {"dtype": np.uint16, "shape": [2, -1]}, {"dtype": np.uint8, "rel_shape": [1, 1, 4]},
        {"dtype": np.uint8, "src_dims": [1, 0, 2]}, {"layout": "ABC"},
    ],
    ids=str,
)  # fmt: skip
def test_bytes_as_dali(args):
    data = [np.abs(s) for s in samples()]
    x64 = np.dtype(args.get("dtype", np.uint8)).itemsize == 8
    contract.check(reinterpret, [data], args, x64=x64)


def test_bytes_by_numpy():
    for source, target in [
        (np.uint8, np.float32),
        (np.float32, np.int16),
        (np.bool_, np.uint16),
        (np.int8, np.bool_),
    ]:
        data = samples(source, ((3, 2, 8),))[0]
        got = contract.pure(reinterpret, [data], {"dtype": target, "shape": [-1]})
        want = data.reshape(-1).view(np.uint8) != 0 if target is np.bool_ else data.reshape(-1).view(target)
        np.testing.assert_array_equal(got, want)


def test_layouts():
    spec = BatchSpec(np.array([[2, 3, 4]]), np.int32, "HWC")

    def layout(op=reshape, **args):
        return plan_call(CallRequest(op, [spec], args, batch_size=1)).outputs[0].layout

    assert layout(shape=[4, 6]) == ""
    assert layout(shape=[4, 6], layout="AB") == "AB"
    assert layout(shape=[3, 2, 4]) == "HWC"
    assert layout(shape=[3, 2, 4], layout="") == ""
    assert layout(src_dims=[1, 0, 2]) == "HWC"
    assert layout(reinterpret, dtype=np.uint8) == "HWC"


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_jit_vmap_and_grad():
    data = jnp.arange(24.0).reshape(2, 3, 4)
    call = lambda d: pure_call(reshape, [d], {"shape": [4, -1]})  # noqa: E731
    np.testing.assert_array_equal(jax.jit(call)(data), data.reshape(4, 6))
    np.testing.assert_array_equal(jax.vmap(call)(data[None])[0], data.reshape(4, 6))
    grad = jax.grad(lambda d: (call(d) ** 2).sum())(data)
    np.testing.assert_array_equal(grad, 2 * data)
    with pytest.raises(TracedArgumentError, match="reshape: argument 'shape' decides the size"):
        jax.jit(lambda s: pure_call(reshape, [data], {"shape": s}))(jnp.array([4, 6]))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "reshape: `reshape` is no-op: arguments specify neither new shape nor"),
        ({"shape": [5, 5]}, "reshape: Input and output samples must occupy the same size in bytes."),
        ({"shape": [-1, -1]}, "Only one negative extent is allowed; got: -1 x -1"),
        ({"shape": [0, -1]}, "Extent of 0 is illegal"),
        ({"shape": [24], "rel_shape": [1.0]}, "Shape input, `shape` argument and `rel_shape` argument are"),
        ({"shape": [24], "layout": "HW"}, "Requested layout 'HW' is not compatible with a 1D shape"),
        (
            {"rel_shape": [1.0, 1.0, 1.0, 1.0]},
            r"`rel_shape` has more elements \(4\) than there are dimensions",
        ),
        ({"src_dims": [0, 3]}, r"`src_dims\[1\] == 3` is out of bounds. The indices in"),
        (
            {"src_dims": [0, 1], "rel_shape": [1.0]},
            "`src_dims` and `rel_shape` have different lengths: 2 vs 1",
        ),
    ],
)
def test_wrong_shapes(args, message):
    with pytest.raises((ValueError, SampleError), match=message):
        pure_call(reshape, [np.zeros((2, 3, 4), np.int32)], args)


def test_wrong_types():
    with pytest.raises(ValueError, match="The size, in bytes, of the innermost dimension is not"):
        pure_call(reinterpret, [np.zeros((2, 6), np.uint8)], {"dtype": np.int32})
    with pytest.raises(ValueError, match="Shape input must have integral type; got: float32"):
        pure_call(reshape, [np.zeros((2, 6), np.uint8), np.array([3.0, 4.0], np.float32)], {})
