"""python_function: when and how often it is called, and what its results are."""

from __future__ import annotations

import numpy as np
import pytest
from support import odd_sizes, oracle

import jdali
from jdali import OperatorError, fn
from jdali.plugin.jax.fn import jax_function

HWC = [np.full((2, 3, 1), i, np.uint8) for i in range(2)]
HW = [np.full((4, 5), i, np.float32) for i in range(2)]


def numbers(i):
    """Samples 2i and 2i + 1."""
    return [np.array([2 * i]), np.array([2 * i + 1])]


def log_of(package, *, batch_processing, num_outputs, preserve, runs=2, threads=3, device_id=None):
    """What a function of which nobody uses an output was called with in the first batches."""
    log = []

    def function(value):
        log.append([int(v[0]) for v in value] if batch_processing else int(value[0]))
        return value if num_outputs else None

    pipe = package.Pipeline(batch_size=2, num_threads=threads, device_id=device_id)
    with pipe:
        data = package.fn.external_source(numbers)
        package.fn.python_function(
            data, function=function, num_outputs=num_outputs, preserve=preserve,
            batch_processing=batch_processing,
        )  # fmt: skip
        pipe.set_outputs(data)
    pipe.build()
    for _ in range(runs):
        pipe.run()
    del pipe
    return log[: runs if batch_processing else 2 * runs]


CASES = [(b, n, p) for b in (False, True) for n in (0, 1) for p in (False, True)]


@pytest.mark.parametrize(("batch_processing", "num_outputs", "preserve"), CASES)
def test_is_called_though_nobody_uses_what_it_returns(batch_processing, num_outputs, preserve):
    options = {"batch_processing": batch_processing, "num_outputs": num_outputs, "preserve": preserve}
    assert log_of(jdali, **options) == ([[0, 1], [2, 3]] if batch_processing else [0, 1, 2, 3])


@pytest.mark.oracle
@pytest.mark.parametrize(("batch_processing", "num_outputs"), [(False, 1), (True, 0), (True, 1)])
def test_calls_as_dali(batch_processing, num_outputs):
    options = {"batch_processing": batch_processing, "num_outputs": num_outputs, "preserve": False}
    assert log_of(jdali, **options) == log_of(oracle.dali(), threads=1, **options)


@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize("batch_processing", [False, True])
def test_once_for_each_sample_in_the_order_of_samples_and_batches(batch_processing, ahead):
    log = []

    def function(value):
        log.extend(int(v) for v in np.ravel(value))

    pipe = jdali.Pipeline(batch_size=16, num_threads=4, exec_async=ahead)
    with pipe:
        data = fn.external_source(lambda i: list(np.arange(16 * i, 16 * i + 16)))
        fn.python_function(data, function=function, num_outputs=0, batch_processing=batch_processing)
        pipe.set_outputs(data + 1)
    for _ in range(4):
        pipe.run()
    pipe.close()
    assert log == list(range(len(log)))
    assert len(log) >= 64 if ahead else len(log) == 64


@pytest.mark.parametrize("num_outputs", [0, 1])
@pytest.mark.parametrize("batch_processing", [False, True])
def test_in_a_conditional_for_the_samples_of_its_branch(batch_processing, num_outputs):
    log = []

    def function(value):
        log.append([int(v) for v in value] if batch_processing else int(value))
        return value if num_outputs else None

    @jdali.pipeline_def(batch_size=4, num_threads=2, enable_conditionals=True, exec_async=False)
    def pipeline():
        data = fn.external_source(lambda i: [np.array(4 * i + j) for j in range(4)])
        if (data == 1) | (data == 3):
            fn.python_function(
                data, function=function, num_outputs=num_outputs, batch_processing=batch_processing
            )
        return data

    pipe = pipeline()
    pipe.run()
    pipe.run()  # no sample takes the branch
    pipe.close()
    assert log == ([[1, 3]] if batch_processing else [1, 3])


def test_a_pipeline_of_nothing_but_effects():
    log = []
    pipe = jdali.Pipeline(batch_size=2, num_threads=1, exec_async=False)
    with pipe:
        fn.python_function(function=lambda: log.append(1), num_outputs=0, batch_processing=True)
        pipe.set_outputs()
    assert pipe.run() == ()
    assert log == [1]


def test_jax_functions_are_kept_if_they_are_to_be_preserved():
    log = []

    def function(value):
        log.append(value.shape)
        return value

    for preserve in (True, False):
        pipe = jdali.Pipeline(batch_size=2, num_threads=1, exec_async=False)
        with pipe:
            data = fn.external_source(numbers)
            jax_function(function, preserve=preserve)(data)
            pipe.set_outputs(data)
        pipe.run()
        pipe.close()
    assert log == [(2, 1)]


def test_any_operator_may_be_preserved():
    def pipeline(**options):
        pipe = jdali.Pipeline(batch_size=2, num_threads=1, exec_async=False)
        with pipe:
            data = fn.external_source(numbers)
            fn.reshape(data, shape=[7], **options)
            fn.cast(data, dtype=jdali.types.FLOAT, **options)
            pipe.set_outputs(data)
        return pipe

    assert [int(v) for v in pipeline().run()[0].as_array().ravel()] == [0, 1]
    with pytest.raises(OperatorError, match="reshape: "):
        pipeline(preserve=True).run()
    kept = jdali.Pipeline.deserialize(pipeline(preserve=True).serialize())
    assert {node.op.name for node in kept.graph.nodes if node.preserve} == {"reshape", "cast"}


def test_calls_through_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from jdali.plugin.pytorch.fn import torch_python_function

    log = []
    pipe = jdali.Pipeline(batch_size=2, num_threads=1, exec_async=False)
    with pipe:
        data = fn.external_source(numbers)
        torch_python_function(data, function=lambda t: log.append(t.clone()), num_outputs=0)
        image = fn.external_source([HWC], layout="HWC")
        pipe.set_outputs(
            torch_python_function(image, function=lambda t: t.permute(2, 0, 1), output_layouts="CHW")
        )
    (out,) = pipe.run()
    assert [int(t) for t in log] == [0, 1]
    assert all(isinstance(t, torch.Tensor) for t in log)
    assert (out.layout(), out.shape()) == ("CHW", [(1, 2, 3)] * 2)


# --- results ------------------------------------------------------------------------------------------
def outcome(package, function, inputs, batch_processing, **options):
    """Shape, layout and type of each output; the name of the error's type."""
    if batch_processing:
        by_sample = function
        several = options.get("num_outputs", 1) > 1

        def function(*batches):
            rows = [by_sample(*row) for row in zip(*batches, strict=True)]
            return tuple(map(list, zip(*rows, strict=True))) if several else rows

    pipe = package.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        nodes = [
            package.fn.external_source([list(samples)], layout=layout)
            for samples, layout in zip(inputs, ("HWC", "HW"), strict=False)
        ]
        outputs = package.fn.python_function(
            *nodes, function=function, batch_processing=batch_processing, **options
        )
        pipe.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
    pipe.build()
    made = pipe.run()
    return [(out.shape(), out.layout(), int(out.dtype)) for out in made]


LAYOUTS = {
    "same shape": (lambda a: a, [HWC], {}),
    "fewer axes": (lambda a: a[..., 0], [HWC], {}),
    "swapped": (lambda a, b: (b, a), [HWC, HW], {"num_outputs": 2}),
    "two of two": (lambda a, b: (a, b), [HWC, HW], {"num_outputs": 2}),
    "one for one": (lambda a: a.transpose(2, 0, 1), [HWC], {"output_layouts": "CHW"}),
    "list of one": (lambda a: a.transpose(2, 0, 1), [HWC], {"output_layouts": ["CHW"]}),
    "one for all": (lambda a: (a, a), [HWC], {"num_outputs": 2, "output_layouts": "CHW"}),
    "one for each": (lambda a: (a, a), [HWC], {"num_outputs": 2, "output_layouts": ["CHW", "ABC"]}),
    "fewer than outputs": (lambda a: (a, a), [HWC], {"num_outputs": 2, "output_layouts": ["CHW"]}),
    "none for the first": (lambda a: (a, a), [HWC], {"num_outputs": 2, "output_layouts": ["", "ABC"]}),
}


@pytest.mark.oracle
@pytest.mark.parametrize("batch_processing", [False, True])
@pytest.mark.parametrize("case", LAYOUTS.values(), ids=LAYOUTS)
def test_layouts_as_dali(case, batch_processing):
    function, inputs, options = case
    ours = outcome(jdali, function, inputs, batch_processing, **options)
    assert ours == outcome(oracle.dali(), function, inputs, batch_processing, **options)


def test_a_layout_is_used_by_what_comes_next():
    pipe = jdali.Pipeline(batch_size=2, num_threads=1)
    with pipe:
        image = fn.external_source([[np.zeros((6, 8, 3), np.uint8)] * 2], layout="HWC")
        planes = fn.python_function(image, function=lambda a: a.transpose(2, 0, 1), output_layouts="CHW")
        pipe.set_outputs(fn.resize(planes, size=[3, 4]))
    (out,) = pipe.run()
    pipe.close()
    assert out.shape() == [(3, 3, 4)] * 2


@pytest.mark.parametrize("batch_processing", [False, True])
def test_wrong_layouts_and_results(batch_processing):
    def refused(text, function, error=OperatorError, **options):
        with pytest.raises(error, match=text):
            outcome(jdali, function, [HWC], batch_processing, **options)

    refused(r"The length of the ``output_layouts`` \(=3\) is greater than the", lambda a: (a, a), ValueError, num_outputs=2,
            output_layouts=["HWC"] * 3)  # fmt: skip
    refused("The layout 'HW' is not valid for 3-dimensional tensor", lambda a: a, output_layouts="HW")
    refused("sample 1 is float32", lambda a: a.astype(np.float32) if a.any() else a)
    refused("sample 1 is uint8 with 2 axes", lambda a: a[0] if a.any() else a)
    none = (
        "NoneType is not an array"
        if batch_processing
        else "Python function returned 0 outputs and 1 were expected"
    )
    refused(none, lambda a: None)


def test_results_are_copied():
    """The function may fill the same array each time."""
    buffer = np.zeros(1, np.int64)

    def function(value):
        buffer[:] = value
        return buffer

    for batch_processing in (False, True):
        pipe = jdali.Pipeline(batch_size=2, num_threads=1)
        called = (lambda values: [function(v).copy() for v in values]) if batch_processing else function
        with pipe:
            data = fn.external_source(numbers)
            pipe.set_outputs(fn.python_function(data, function=called, batch_processing=batch_processing))
        batches = [pipe.run()[0] for _ in range(4)]
        pipe.close()
        assert [b.as_array().ravel().tolist() for b in batches] == [[0, 1], [2, 3], [4, 5], [6, 7]]


@pytest.mark.parametrize("batch_processing", [False, True])
def test_arrays_of_odd_sizes_have_no_gaps(batch_processing):
    """Functions may hand what they get to libraries that look at its memory."""
    seen = []

    def look(given):
        seen.extend(given if batch_processing else [given])
        return given

    pipe = odd_sizes.flipping(
        odd_sizes.RAGGED, lambda x: fn.python_function(x, function=look, batch_processing=batch_processing)
    )
    with pipe:
        pipe.run()
    assert all(array.flags.c_contiguous for array in seen)
    for got, want in zip(seen, odd_sizes.flipped(odd_sizes.RAGGED), strict=False):
        np.testing.assert_array_equal(got, want)
