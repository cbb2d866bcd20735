"""The shape of samples as tensors, against NumPy and the real DALI."""

import numpy as np
import pytest
from support import contract, expression, oracle

from jdali._batches import BatchSpec
from jdali._operators.call import CallRequest, plan_call
from jdali._operators.pure import pure_call
from jdali._operators.record import REGISTRY
from jdali.ops.tensor._shapes import shapes

SAMPLES = [np.zeros((5, 4, 3), np.uint8), np.zeros((1, 0, 3), np.uint8)]


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.float32])
def test_32_bit_shapes(dtype):
    expected = [[np.array(s.shape, dtype) for s in SAMPLES]]
    contract.check(shapes, [SAMPLES], {"dtype": dtype}, layout="HWC", expected=expected)


@pytest.mark.parametrize("dtype", [None, np.uint64, np.float64])
def test_64_bit_shapes(dtype):
    expected = [[np.array(s.shape, dtype or np.int64) for s in SAMPLES]]
    contract.check(shapes, [SAMPLES], {"dtype": dtype}, expected=expected, x64=True)


def test_of_a_scalar():
    assert contract.pure(shapes, [np.float32(1)], {"dtype": np.int32}).shape == (0,)


@pytest.mark.oracle
def test_is_as_in_dali():
    oracle.dali()
    import nvidia.dali.types as dali_types

    arrays, layouts = expression.run(
        lambda node: [node.shape(), node.shape(dtype=dali_types.FLOAT)], [SAMPLES], "HWC"
    )
    for dtype, wanted in zip((np.int64, np.float32), arrays, strict=True):
        contract.check(shapes, [SAMPLES], {"dtype": dtype}, layout="HWC", expected=[wanted], x64=True)
    out = plan_call(CallRequest(shapes, [BatchSpec.of(SAMPLES, "HWC")], {}, batch_size=2)).outputs[0]
    assert (out.layout, out.dtype) == (layouts[0], np.int64)


def test_private_name_is_the_same_operator():
    assert REGISTRY["_shape"].run is shapes.run


def test_other_types_are_refused():
    with pytest.raises(TypeError, match=r"shapes: dtype must be one of int32, .* got uint8"):
        pure_call(shapes, SAMPLES[:1], {"dtype": np.uint8})
