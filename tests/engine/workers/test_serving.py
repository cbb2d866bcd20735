"""Functions that ask their own pipeline for a batch: an error in words, where they would wait forever."""

import numpy as np
import pytest
from support.faults import in_thread
from support.numbers import NumberReader, numbers

import jdali
from jdali import fn
from jdali.iterator import DataIterator

pytestmark = pytest.mark.timeout(180)

WORDS = "asked the same pipeline, or an iterator of it, for a batch, and would wait for itself forever"


def values(number):
    return np.full((2, 3), number, np.float32)


def in_function(ask, **options):
    with jdali.Pipeline(batch_size=2, num_threads=2, seed=1, **options) as pipe:
        data = numbers(NumberReader(8))
        pipe.set_outputs(fn.python_function(data, function=lambda x: ask(pipe) and x))
    return pipe


def in_batch_function(ask, **options):
    with jdali.Pipeline(batch_size=2, num_threads=2, seed=1, **options) as pipe:
        data = numbers(NumberReader(8))
        pipe.set_outputs(fn.python_function(data, function=lambda x: ask(pipe) and x, batch_processing=True))
    return pipe


def in_source(ask, **options):
    with jdali.Pipeline(batch_size=2, num_threads=2, seed=1, **options) as pipe:
        pipe.set_outputs(fn.external_source(lambda i: ask(pipe) and values(i)))
    return pipe


def in_debug_mode(ask, **options):
    made = []

    @jdali.pipeline_def(batch_size=2, num_threads=2, seed=1, debug=True, **options)
    def pipeline():
        return fn.python_function(fn.external_source(values), function=lambda x: ask(made[0]) and x)

    made.append(pipeline())
    return made[0]


def in_setup(ask, **options):
    class Fed(jdali.Pipeline):
        def define_graph(self):
            return fn.external_source(name="x")

        def iter_setup(self):
            ask(self)
            self.feed_input("x", values(0))

    return Fed(batch_size=2, num_threads=2, seed=1, **options)


PLACES = [in_function, in_batch_function, in_source, in_debug_mode, in_setup]


@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize("place", PLACES)
def test_a_function_that_asks_its_own_pipeline_for_a_batch(place, ahead):
    pipe = place(lambda own: own.run(), exec_async=ahead)
    with pytest.raises(RuntimeError, match=WORDS):
        in_thread(pipe.run)()
    pipe.close()


def test_by_scheduling():
    pipe = in_function(lambda own: own.schedule_run() or own.share_outputs())
    with pytest.raises(RuntimeError, match=WORDS):
        in_thread(pipe.run)()
    pipe.close()


@pytest.mark.parametrize("place", [in_function, in_source])
def test_by_its_iterator(place):
    pipe = place(lambda own: next(iterators[0]))
    iterators = []
    name = "Reader" if place is in_function else None
    iterators.append(DataIterator(pipe, ["x"], reader_name=name, prepare_first_batch=False))
    with pytest.raises(RuntimeError, match=WORDS):
        in_thread(lambda: next(iterators[0]))()
    iterators[0].close()


def test_another_pipeline_may_be_asked():
    with jdali.Pipeline(batch_size=2, num_threads=2, seed=1) as other:
        other.set_outputs(fn.external_source(values))
    pipe = in_function(lambda own: other.run())
    for _ in range(3):
        assert in_thread(pipe.run)()
    pipe.close()
    other.close()


def test_an_error_is_no_end():
    """What came before the function asked, and what comes after, are batches."""
    numbers_that_ask = {4, 5}

    def function(x):
        return pipe.run() if int(np.ravel(x)[0]) in numbers_that_ask else x

    with jdali.Pipeline(batch_size=2, num_threads=2, seed=1) as pipe:
        pipe.set_outputs(fn.python_function(numbers(NumberReader(8)), function=function))
    got = []
    for _ in range(4):
        try:
            got.append(np.ravel(pipe.run()[0].as_array()).tolist())
        except RuntimeError:
            got.append("error")
    assert got == [[0, 1], [2, 3], "error", [6, 7]]
    pipe.close()
