"""sequence_rearrange against the real DALI."""

import numpy as np
import pytest
from support import contract

import jdali
from jdali import fn
from jdali._operators.pure import pure_call
from jdali.ops.sequence._sequence_rearrange import sequence_rearrange

DTYPES = [np.uint8, np.int16, np.int64, np.float16, np.float64, np.bool_]


def sequences(dtype=np.float32, lengths=(4, 3, 6), shape=(5, 2, 3)):
    rng = np.random.default_rng(0)
    return [rng.integers(0, 99, (n, shape[0] + n, *shape[1:])).astype(dtype) for n in lengths]


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", DTYPES)
def test_types(dtype):
    args = {"new_order": [2, 0, 0, 1]}
    contract.check(
        sequence_rearrange, [sequences(dtype)], args, layout="FHWC", x64=np.dtype(dtype).itemsize == 8
    )


@pytest.mark.oracle
@pytest.mark.parametrize("layout", ["FHWC", "FCHW", "", "F***"])
@pytest.mark.parametrize("order", [[1], [2, 1, 0], [0] * 9])
def test_layouts(layout, order):
    contract.check(sequence_rearrange, [sequences()], {"new_order": order}, layout=layout)


@pytest.mark.oracle
def test_one_number_and_few_axes():
    contract.check(sequence_rearrange, [[np.arange(6.0, dtype=np.float32).reshape(3, 2)]], {"new_order": 2})


@pytest.mark.oracle
def test_samples_of_no_elements():
    contract.check(sequence_rearrange, [[np.zeros((3, 0), np.float32)] * 2], {"new_order": [0, 2]})


@pytest.mark.oracle
def test_another_order_in_each_sample():
    """As DALI's, of other lengths, through a pipeline, which is what makes lengths differ."""
    orders = [np.int32([3, 0, 0]), np.int32([2]), np.int32([5, 4, 3, 2, 1, 0, 0])]
    (expected,) = contract.oracle.run(
        "sequence_rearrange", [sequences()], {}, {"new_order": orders}, layout="FHWC"
    )
    pipe = jdali.Pipeline(batch_size=3, num_threads=1)
    with pipe:
        frames = fn.external_source(lambda: sequences(), layout="FHWC")
        pipe.set_outputs(fn.sequence_rearrange(frames, new_order=fn.external_source(lambda: orders)))
    (out,) = pipe.run()
    pipe.close()
    assert out.layout() == "FHWC"
    for got, want in zip(out.to_samples(), expected, strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("data", "layout", "order", "text"),
    [
        ((3, 2), "", [], "Empty result sequences are not allowed"),
        ((3, 2), "", [0, 3], r"new_order\[1\] must be between 0 and input_sequence_length = 3"),
        ((3, 2), "", [-1], r"new_order\[0\] must be between 0 and input_sequence_length = 3"),
        ((0, 2), "", [0], r"new_order\[0\] must be between 0 and input_sequence_length = 0"),
        ((3, 2), "HW", [0], "Expected sequence as the input, where outermost dimension"),
        ((3,), "", [0], "Sequence elements must have at least 1 dim, got 1 axes in all"),
        ((3, 2), "", [[0, 1]], "argument 'new_order' must be a vector"),
    ],
)
def test_what_is_refused(data, layout, order, text):
    with pytest.raises(ValueError, match=f"^sequence_rearrange: {text}"):
        pure_call(sequence_rearrange, [np.zeros(data, np.float32)], {"new_order": order}, layout=layout)


def test_a_bad_sample_is_named():
    orders = [np.int32([0]), np.int32([1, 7]), np.int32([])]
    pipe = jdali.Pipeline(batch_size=3, num_threads=1)
    with pipe:
        frames = fn.external_source(lambda: sequences())
        pipe.set_outputs(fn.sequence_rearrange(frames, new_order=fn.external_source(lambda: orders)))
    with pytest.raises(
        jdali.OperatorError,
        match="sequence_rearrange: Empty result sequences are not allowed. new_order is empty",
    ):
        pipe.run()
    pipe.close()
