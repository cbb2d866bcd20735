"""An exception of user code, whatever its class, is an OperatorError at its batch, and nothing else is lost.

Batches with an odd number fail, each by an exception of another class (`support.user_errors`). Every batch is paired with
one of a second source, so what falls out of step shows.
"""

import signal

import jax
import numpy as np
import pytest
from support.user_errors import (
    BATCH,
    COUNT,
    ERRORS,
    IN_WORKERS,
    NAMES,
    SOURCES,
    batch,
    function,
    function_of_lists,
    good,
)

import jdali
import jdali.plugin.jax as jax_plugin
from jdali import fn
from jdali._operators.record import REGISTRY
from jdali.graph import call_operator
from jdali.iterator import DataIterator
from jdali.plugin.jax.fn import jax_function
from jdali.plugin.operators import operator

EXPECTED = [NAMES[number // 2] if number % 2 else number for number in range(COUNT)]
END_LOOPS = (StopIteration, StopAsyncIteration)
pytestmark = pytest.mark.timeout(120)


def pipeline(define, **options):
    options = {"batch_size": BATCH, "num_threads": 2, "device_id": None} | options
    return jdali.pipeline_def(**options)(define)()


def taken(take, most=COUNT + 2):
    """What comes up to the end of an epoch: the numbers of batches, and the names of classes that errors are of."""
    got = []
    for _ in range(most):
        try:
            first, second = take()
        except StopIteration:
            break
        except jdali.OperatorError as error:
            name = EXPECTED[len(got)] if len(got) < COUNT else ""
            is_right = isinstance(name, str) and name in str(error) and not isinstance(error, END_LOOPS)
            got.append(name if is_right else error)
        else:
            values = np.unique([np.asarray(first), np.asarray(second)])
            assert len(values) == 1, f"what was paired is of different batches: {values}"
            got.append(int(values[0]))
    return got


# --- ways to take the batches of a pipeline: each gives a function that takes one, and one that begins an epoch -----
def by_iterator(pipe, **options):
    it = DataIterator(pipe, ["x", "y"], **options)
    return lambda: tuple(next(it).values()), it.reset


def by_size(pipe):
    return by_iterator(pipe, size=COUNT * BATCH)


def by_auto_reset(pipe):
    return by_iterator(pipe, auto_reset=True)[0], lambda: None


def by_plugin(pipe):
    it = jax_plugin.DALIGenericIterator([pipe], ["x", "y"])
    return lambda: tuple(next(it).values()), it.reset


def by_run(pipe):
    return lambda: tuple(out.as_array() for out in pipe.run()), pipe.reset


def by_schedule(pipe):
    def take():
        pipe.schedule_run()
        return tuple(out.as_array() for out in pipe.share_outputs())

    return take, pipe.reset


WAYS = {
    "iterator": by_iterator,
    "size": by_size,
    "auto_reset": by_auto_reset,
    "plugin": by_plugin,
    "run": by_run,
    "schedule_run": by_schedule,
}
INLINE = {"exec_async": False, "exec_pipelined": False}


def check(pipe, way="iterator", epochs=2):
    try:
        take, reset = WAYS[way](pipe)
        for _ in range(epochs):
            assert taken(take) == EXPECTED
            reset()
    finally:
        pipe.close()


def sources(kind, **options):
    def define():
        given = SOURCES[kind]() | options
        return fn.external_source(name="raises", **given), fn.external_source(good, name="good")

    return define


# --- sources ------------------------------------------------------------------------------
@pytest.mark.cases(12)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", SOURCES)
def test_sources(kind, way):
    check(pipeline(sources(kind)), way)


@pytest.mark.parametrize("options", [INLINE, {"debug": True}], ids=["inline", "debug"])
@pytest.mark.parametrize("kind", ["batch", "sample without argument"])
def test_sources_that_are_asked_when_a_batch_is(kind, options):
    check(pipeline(sources(kind), **options), "run")


@pytest.mark.cases(1)
@pytest.mark.parametrize("kind", IN_WORKERS)
def test_parallel_sources(kind):
    check(pipeline(sources(kind, parallel=True), py_num_workers=1, py_start_method="spawn"))


@pytest.mark.parametrize("error", ERRORS, ids=NAMES)
def test_a_generator_that_raises_has_ended(error):
    """The error comes at its batch, then the end of the epoch; a function that makes generators begins again."""

    def generator():
        yield from (batch(number) for number in range(3))
        raise error()

    pipe = pipeline(lambda: fn.external_source(generator, cycle="raise"))
    with DataIterator(pipe, ["x"]) as it:
        for _ in range(2):
            assert [int(next(it)["x"][0, 0]) for _ in range(3)] == [0, 1, 2]
            with pytest.raises(jdali.OperatorError) as caught:
                next(it)
            assert type(error()).__name__ in str(caught.value)
            with pytest.raises(StopIteration):
                next(it)
            it.reset()


@pytest.mark.parametrize("kind", ["iterable", "iterable of samples"])
def test_a_state_after_an_error_goes_on_behind_it(kind):
    """A fresh source is gone through up to there, over the items that raise."""
    with DataIterator(pipeline(sources(kind)), ["x", "y"]) as it:
        take = lambda: tuple(next(it).values())  # noqa: E731
        assert taken(take, 5) == EXPECTED[:5]
        state = it.get_state()
    with DataIterator(pipeline(sources(kind)), ["x", "y"]) as it:
        it.set_state(state)
        assert [int(v) for v in np.unique(np.concatenate([*_after_the_next_error(it).values()]))] == [6]


def _after_the_next_error(it):
    with pytest.raises(jdali.OperatorError):
        next(it)
    return next(it)


# --- functions ------------------------------------------------------------------------------
def called_by_jax(array):
    function(array)
    return array


FUNCTIONS = {
    "python_function": lambda x: fn.python_function(x, function=function),
    "batch_processing": lambda x: fn.python_function(x, function=function_of_lists, batch_processing=True),
    "parallel": lambda x: fn.python_function(x, function=function, parallel=True),
    "jax_function": jax_function(called_by_jax),
}


def functions(kind):
    def define():
        x = fn.external_source(lambda number: batch(number) if number < COUNT else end(), name="x")
        return FUNCTIONS[kind](x), x

    return define


def end():
    raise StopIteration


@pytest.mark.cases(4)
@pytest.mark.parametrize("way", ["iterator", "size", "run"])
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_functions(kind, way):
    check(pipeline(functions(kind), py_num_workers=1), way)


@pytest.mark.parametrize("options", [INLINE, {"debug": True}], ids=["inline", "debug"])
def test_functions_that_are_called_when_a_batch_is_asked_for(options):
    check(pipeline(functions("python_function"), **options), "run")


@pytest.mark.cases(1)
@pytest.mark.parametrize("kind", ["python_function", "batch_processing", "parallel"])
def test_functions_in_workers_that_make_batches(kind):
    check(pipeline(functions(kind), workers=1))


@pytest.mark.cases(1)
@pytest.mark.parametrize("options", [{}, {"workers": 1}], ids=["here", "workers"])
@pytest.mark.parametrize("kind", ["python_function", "batch_processing", "parallel", "jax_function"])
def test_a_stop_iteration_of_a_function_ends_no_epoch(kind, options):
    if options and kind == "jax_function":
        pytest.skip("it is called with arrays on the devices of the program, so not in a worker")

    def stops(x):
        if int(np.ravel(x)[0]) == 1:
            next(iter(()))
        return x

    def define():
        x = fn.external_source(lambda number: batch(number) if number < 3 else end(), name="x")
        if kind == "jax_function":
            return jax_function(stops)(x), x
        if kind == "batch_processing":
            of_lists = lambda xs: [stops(x) for x in xs]  # noqa: E731
            return fn.python_function(x, function=of_lists, batch_processing=True), x
        return fn.python_function(x, function=stops, parallel=kind == "parallel"), x

    with DataIterator(pipeline(define, py_num_workers=1, **options), ["x", "y"]) as it:
        for _ in range(2):
            assert int(next(it)["x"][0, 0]) == 0
            with pytest.raises(jdali.OperatorError, match="StopIteration") as caught:
                next(it)
            assert not isinstance(caught.value, StopIteration)
            assert int(next(it)["x"][0, 0]) == 2
            with pytest.raises(StopIteration):
                next(it)
            it.reset()


@pytest.mark.parametrize("error", [StopIteration, GeneratorExit, SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize("place", ["setup", "run"])
def test_an_operator_of_a_third_party(place, error):
    """Its `setup` runs for each batch, its `run` while a program is traced."""

    def setup(image, **_):
        if place == "setup":
            raise error
        return image

    @operator(setup=setup, name=f"raises_{error.__name__}_in_{place}")
    def raises(image, /, *, extent=None, out_shape=None):
        raise error

    def define():
        x = fn.external_source(lambda number: batch(number) if number < 3 else end(), name="x")
        return call_operator(raises, [x + 1], {}), x

    try:
        take, reset = by_iterator(pipeline(define))
        for _ in range(2):
            for _ in range(3):
                with pytest.raises(jdali.OperatorError, match=f"raises_.*{error.__name__}"):
                    take()
            with pytest.raises(StopIteration):
                take()
            reset()
    finally:
        REGISTRY.pop(raises.name)


IN_FUNCTIONS = {
    "call": lambda pipe, x, folder: pipe.function("x")(x),
    "jit": lambda pipe, x, folder: jax.jit(pipe.function("x"))(x),
    "grad": lambda pipe, x, folder: jax.grad(lambda values: pipe.function("x")(values).sum())(x),
    "sample": lambda pipe, x, folder: pipe.function("x").sample(x[0]),
    "vmap": lambda pipe, x, folder: jax.vmap(pipe.function("x").sample)(x),
    "export": lambda pipe, x, folder: pipe.export(
        folder, "x", shapes=[x.shape[1:]], dtypes=x.dtype, platforms=["cpu"]
    ),
}


@pytest.mark.parametrize("way", IN_FUNCTIONS)
@pytest.mark.parametrize("error", [ValueError, StopIteration, GeneratorExit])
def test_an_operator_in_a_pipelines_function(way, error, tmp_path):
    """The engine's own types stay in the engine."""

    @operator(setup=lambda image, **_: image, name="raises_in_a_function")
    def raises(image, /, *, extent=None, out_shape=None):
        raise error("as it is traced")

    pipe = jdali.Pipeline(batch_size=BATCH, num_threads=1, device_id=None, seed=1)
    with pipe:
        x = fn.external_source(lambda: np.ones((BATCH, 3, 4, 3), np.float32), layout="HWC", name="x")
        pipe.set_outputs(call_operator(raises, [fn.flip(x)], {}))
    try:
        with pytest.raises(
            jdali.OperatorError, match=f"raises_in_a_function: {error.__name__}: as it is traced"
        ):
            IN_FUNCTIONS[way](pipe, np.ones((BATCH, 3, 4, 3), np.float32), tmp_path)
    finally:
        REGISTRY.pop(raises.name)
        pipe.close()


@pytest.mark.parametrize("debug", [False, True], ids=["iter_setup", "debug"])
@pytest.mark.parametrize("error", [ValueError, GeneratorExit, SystemExit])
def test_code_beside_the_operators(debug, error):
    """`iter_setup`, and in debug mode the function of the pipeline, run for each batch; they are no operators."""
    calls = []

    def called():
        calls.append(len(calls))
        if len(calls) == 2:
            raise error("the second time")

    class Fed(jdali.Pipeline):
        def define_graph(self):
            if debug:
                called()
            return fn.external_source(lambda: batch(len(calls)))

        def iter_setup(self):
            if not debug:
                called()

    pipe = Fed(BATCH, 1, None, debug=debug)
    with DataIterator(pipe, ["x"], size=3 * BATCH) as it:
        assert int(next(it)["x"][0, 0]) == 1
        with pytest.raises(ValueError if error is ValueError else RuntimeError, match="the second time"):
            next(it)
        assert int(next(it)["x"][0, 0]) == 3
        with pytest.raises(StopIteration):
            next(it)


# --- Ctrl-C -------------------------------------------------------------------------------
@pytest.fixture
def interruptible():
    """Ctrl-C interrupts, also where the tests were started in the background and would ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("options", [{}, INLINE], ids=["ahead", "inline"])
def test_ctrl_c_while_sources_are_asked(interruptible, options):
    """It comes at once, as itself; the sources that were asked before keep what they gave."""
    interrupts = []

    def interrupted(number):
        if number == 4 and not interrupts:
            interrupts.append(number)
            signal.raise_signal(signal.SIGINT)
        return batch(number)

    given = iter(range(100))
    pipe = pipeline(
        lambda: (
            fn.external_source(lambda: batch(next(given)), name="a"),
            fn.external_source(interrupted, name="b"),
        ),
        **options,
    )
    with DataIterator(pipe, ["x", "y"], size=8 * BATCH) as it:
        got = []
        while len(got) < 8:
            try:
                x, y = next(it).values()
            except KeyboardInterrupt:
                continue
            assert int(x[0, 0]) == int(y[0, 0])
            got.append(int(x[0, 0]))
        assert got == [*range(8)]
        assert interrupts
