"""dl_tensor_python_function: what it hands to the user's function, and what it takes from it."""

import ctypes

import numpy as np
import pytest
from support import oracle

import jdali
from jdali import OperatorError, fn

IMAGES = [np.arange(18, dtype=np.uint8).reshape(2, 3, 3) + i for i in range(2)]
PLANES = [np.float32([[i, 2 * i]]) for i in range(2)]


class Tensor:
    """A capsule as what NumPy reads."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


def array(capsule):
    return np.from_dlpack(Tensor(capsule))


def run(package, function, inputs=(IMAGES,), **options):
    pipe = package.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        nodes = [
            package.fn.external_source(source=[samples], cycle=True, layout=layout)
            for samples, layout in zip(inputs, ("HWC", "HW"), strict=False)
        ]
        outs = package.fn.dl_tensor_python_function(*nodes, function=function, **options)
        pipe.set_outputs(*(outs if isinstance(outs, (list, tuple)) else [outs]))
    pipe.build()
    return [([np.array(out.at(i)) for i in range(2)], out.layout()) for out in pipe.run()]


def double(capsule):
    return (2 * array(capsule)).__dlpack__()


CASES = {
    "the same": (lambda a: a, 1, {}, {"batch_processing": False}),
    "new": (double, 1, {}, {"batch_processing": False}),
    "batch": (lambda batch: [double(c) for c in batch], 1, {}, {}),
    "batch named": (lambda batch: [double(c) for c in batch], 1, {}, {"batch_processing": True}),
    "two": (lambda a, b: (b, a), 2, {"num_outputs": 2}, {"batch_processing": False}),
    "layouts": (lambda a, b: (b, double(a)), 2, {"num_outputs": 2, "output_layouts": ["AB", "ABC"]}, {}
                | {"batch_processing": False}),
    "two of batches": (lambda a, b: (list(map(double, b)), a), 2, {"num_outputs": 2}, {}),
    "asynchronous": (lambda batch: batch, 1, {"synchronize_stream": False}, {}),
}  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_equals_dali(case):
    function, inputs, options, processing = case
    given = (IMAGES, PLANES)[:inputs]
    ours = run(jdali, function, given, **options, **processing)
    theirs = run(oracle.dali(), function, given, **options, **processing)
    for (got, layout), (want, expected_layout) in zip(ours, theirs, strict=True):
        assert layout == expected_layout
        for one, other in zip(got, want, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.float16, np.float64, np.int64])
@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_types_survive_the_way_there_and_back(dtype, device):
    values = [np.array([[[0, 1, 3]]]).astype(dtype)] * 2
    ((got, _),) = run(jdali, lambda capsules: capsules, [values], device=device)
    assert got[0].dtype == dtype
    np.testing.assert_array_equal(got[0], values[0])


@pytest.mark.parametrize("batch_processing", [False, True])
def test_the_function_gets_capsules_that_nobody_has_used(batch_processing):
    names = []
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]

    def function(value):
        names.extend(name_of(capsule) for capsule in (value if batch_processing else [value]))

    pipe = jdali.Pipeline(batch_size=2, num_threads=1, exec_async=False)
    with pipe:
        data = fn.external_source(lambda: IMAGES)
        fn.dl_tensor_python_function(
            data, function=function, num_outputs=0, batch_processing=batch_processing
        )
        pipe.set_outputs(data)
    pipe.run()
    pipe.close()
    assert names == [b"dltensor"] * 2


def test_arrays_are_taken_as_well():
    ((got, _),) = run(jdali, lambda capsule: array(capsule)[0], batch_processing=False)
    np.testing.assert_array_equal(got[1], IMAGES[1][0])


def test_what_is_refused():
    def refused(text, function, error=OperatorError, **options):
        with pytest.raises(error, match=f"dl_tensor_python_function: {text}"):
            run(jdali, function, **options)

    refused(
        ".*Unexpected number of outputs from Python function operator - got 2, expected 1", lambda a: (a, a)
    )
    refused("the capsule is not a DLPack tensor, or has been taken by others", lambda a: a and array(a) is not None and a,
            batch_processing=False)  # fmt: skip
    refused("Function called by .* returned tensor list of wrong size at idx 0.", lambda batch: batch[:1])
    refused(
        "The length of the ``output_layouts`` .=3. is greater than the number of outputs",
        lambda a: a,
        ValueError,
        output_layouts=["HWC"] * 3,
    )
    refused(".*NoneType is not an array", lambda a: None, batch_processing=False)
