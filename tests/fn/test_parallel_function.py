"""`fn.python_function(..., parallel=True)`: the same outputs as in the process itself, and errors by sample."""

import numpy as np
import pytest
from support.callbacks import dies, doubled, fails_on_three, never, two_outputs

import jdali
from jdali import fn


def run(define, parallel=True, count=1, batch_size=5, **options):
    """Values and layouts of some batches."""
    pipe = jdali.Pipeline(
        batch_size=batch_size, num_threads=2, py_num_workers=2, py_start_method="forkserver", **options
    )
    with pipe:
        outputs = define(parallel)
        pipe.set_outputs(*(outputs if isinstance(outputs, tuple) else (outputs,)))
    try:
        found = []
        for _ in range(count):
            batch = pipe.run()
            found.append([([np.asarray(sample).tolist() for sample in out], out.layout()) for out in batch])
        return found
    finally:
        pipe.close()


def numbers():
    return fn.external_source([np.int32([[1], [2], [3], [4], [5]]), np.int32([[6], [7], [8]])], cycle=True)


@pytest.mark.parametrize(
    "options",
    [{"function": doubled}, {"function": lambda x: x + 1}, {"function": doubled, "output_layouts": "X"}],
    ids=["by name", "lambda", "layout"],
)
def test_the_same_outputs_as_in_the_process_itself(options):
    def define(parallel):
        return fn.python_function(numbers(), parallel=parallel, **options)

    assert run(define, True, 3) == run(define, False, 3)


def test_a_function_that_uses_its_array_again():
    array = np.zeros(2, np.int32)

    def filled(number):
        array[:] = number
        return array

    def define(parallel):
        rows = fn.external_source([np.arange(32, dtype=np.int32)[:, None]])
        return fn.python_function(rows, function=filled, parallel=parallel)

    ((values, _),) = run(define, batch_size=32)[0]  # several samples are one task of a worker
    assert values == [[i, i] for i in range(32)]


def test_several_inputs_and_outputs():
    def define(parallel):
        data = numbers()
        return fn.python_function(data, data[0] * 10, function=two_outputs, num_outputs=2, parallel=parallel)

    assert run(define, True, 2) == run(define, False, 2)


def test_the_bad_sample_is_named():
    with pytest.raises(KeyError, match=r"three'?\n +sample 2 of the batch") as caught:
        run(lambda parallel: fn.python_function(numbers(), function=fails_on_three, parallel=parallel))
    assert isinstance(caught.value, jdali.OperatorError)


def test_a_worker_that_dies():
    with pytest.raises(RuntimeError, match=r"worker process \d+ ended with exit code 7"):
        run(lambda parallel: fn.python_function(numbers(), function=dies, parallel=parallel))


def test_a_function_used_by_two_pipelines():
    outside = fn.python_function(numbers(), function=doubled, parallel=True)
    for _ in range(2):
        assert run(lambda _: outside) == [[([[2], [4], [6], [8], [10]], "")]]


def test_not_on_whole_batches():
    with pytest.raises(ValueError, match="not with batch_processing"):
        fn.python_function(numbers(), function=doubled, parallel=True, batch_processing=True)


def test_a_call_that_takes_longer_than_it_may():
    with pytest.raises(
        RuntimeError, match=r"worker process \d+ has not answered a call for 0.2 s, which is py_timeout"
    ):
        run(lambda parallel: fn.python_function(numbers(), function=never, parallel=parallel), py_timeout=0.2)
    with pytest.raises(ValueError, match="py_timeout must be more than 0 seconds, not 0"):
        jdali.Pipeline(batch_size=1, py_timeout=0)
