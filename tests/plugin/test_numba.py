"""Functions compiled by Numba in pipelines: by sample and by batch, shapes from a setup function, and what is refused."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="compiles the functions")

from jdali import OperatorError, fn, pipeline_def, types
from jdali.plugin.numba import NumbaFunction, experimental
from jdali.plugin.numba.fn import experimental as fn_experimental
from jdali.plugin.numba.fn import numba_function

SAMPLES = [np.arange(6, dtype=np.uint8).reshape(2, 3), np.arange(4, dtype=np.uint8).reshape(4, 1)]


def run(function, samples=SAMPLES):
    @pipeline_def(batch_size=len(samples), num_threads=2)
    def pipeline():
        return function(fn.external_source([samples], cycle=True, layout="HW"))

    pipe = pipeline()
    outputs = pipe.run()
    pipe.close()
    return [[np.asarray(out.at(i)) for i in range(len(samples))] for out in outputs]


def inverted(out, given):
    for y in range(given.shape[0]):
        for x in range(given.shape[1]):
            out[y, x] = 255 - given[y, x]


def inverted_batch(outs, ins):
    for i in range(len(ins)):
        outs[i][:] = 255 - ins[i]


PLAIN = {"out_types": [types.UINT8], "in_types": [types.UINT8], "outs_ndim": [2], "ins_ndim": [2]}


@pytest.mark.parametrize(("function", "batch"), [(inverted, False), (inverted_batch, True)])
def test_outputs_like_the_inputs(function, batch):
    (got,) = run(lambda images: numba_function(images, run_fn=function, batch_processing=batch, **PLAIN))
    for g, sample in zip(got, SAMPLES, strict=True):
        np.testing.assert_array_equal(g, 255 - sample)


def setup(outs, ins):
    for i in range(len(ins[0])):
        outs[0][i][:] = [ins[0][i][1], ins[0][i][0], 2]
        outs[1][i][0] = 1


def transposed(out, total, given):
    out[:, :, 0] = given.T
    out[:, :, 1] = 7
    total[0] = given.sum()


def transposed_batch(outs, totals, ins):
    for i in range(len(ins)):
        transposed_in_python = ins[i].T
        outs[i][:, :, 0] = transposed_in_python
        outs[i][:, :, 1] = 7
        totals[i][0] = ins[i].sum()


@pytest.mark.parametrize(("function", "batch"), [(transposed, False), (transposed_batch, True)])
def test_shapes_of_a_setup_function(function, batch):
    options = {
        "out_types": [types.FLOAT, np.int64], "in_types": types.UINT8, "outs_ndim": [3, 1], "ins_ndim": 2,
    }  # fmt: skip
    images, totals = run(
        lambda given: NumbaFunction(function, setup_fn=setup, batch_processing=batch, **options)(given)
    )
    for image, total, sample in zip(images, totals, SAMPLES, strict=True):
        assert image.dtype == np.float32
        np.testing.assert_array_equal(image, np.stack([sample.T, np.full(sample.T.shape, 7)], axis=2))
        assert total.tolist() == [sample.sum()]


def test_outputs_begin_as_zeros():
    def nothing(out, given):
        pass

    (got,) = run(lambda images: numba_function(images, run_fn=nothing, **PLAIN))
    assert [g.tolist() for g in got] == [np.zeros(s.shape).tolist() for s in SAMPLES]


def test_other_names():
    assert fn_experimental.numba_function is numba_function
    assert experimental.NumbaFunction is NumbaFunction
    operator = NumbaFunction(inverted, **PLAIN, preserve=True)
    assert (operator.num_outputs, operator.device, operator.preserve) == (1, "cpu", True)


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"device": "gpu"}, RuntimeError, "CPU only.*jax_function"),
        ({"blocks": [1, 1, 1]}, RuntimeError, "CPU only"),
        ({"in_types": [types.UINT8] * 2}, ValueError, "Number of input types and input dimensions should match"),
        ({"outs_ndim": [1, 2]}, ValueError, "Number of output types and output dimensions should match"),
        ({"in_types": [types.FLOAT16]}, RuntimeError, "float16"),
        ({"outs_ndim": [3]}, ValueError, "without setup_fn"),
        ({"in_types": [types.UINT8] * 2, "ins_ndim": [2, 2], "setup_fn": setup}, ValueError, "1 inputs for 2 in_types"),
        ({"out_types": [types.UINT8] * 7, "outs_ndim": [2] * 7}, ValueError, "at most 6 inputs"),
        ({"in_types": [types.FLOAT]}, OperatorError, "input 0 is uint8, in_types says float32"),
        ({"ins_ndim": [3], "outs_ndim": [3]}, OperatorError, "input 0 has 2 axes, ins_ndim says 3"),
    ],
)  # fmt: skip
def test_errors(changes, error, text):
    with pytest.raises(error, match=text):
        run(lambda images: numba_function(images, run_fn=inverted, **{**PLAIN, **changes}))


def test_a_negative_size():
    def wrong(outs, ins):
        outs[0][0][:] = -1

    with pytest.raises(OperatorError, match="setup_fn gave output 0 a negative size"):
        run(lambda images: numba_function(images, run_fn=inverted, setup_fn=wrong, **PLAIN))
