"""Debug mode: operators run when the user's function calls them, with the values of the plain pipeline."""

import gc
import weakref

import numpy as np
import pytest

import jdali
from jdali import fn, types
from jdali.pipeline.experimental import pipeline_def

SIZE = 4


@pytest.fixture
def folder(tmp_path):
    """Ten files of one to ten bytes in two classes; nobody decodes them."""
    for i in range(10):
        path = tmp_path / f"class{i % 2}" / f"{i}.jpg"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes([i] * (i + 1)))
    return tmp_path


def make(function, **options):
    return pipeline_def(function, **{"batch_size": SIZE, "num_threads": 1, "seed": 5} | options)()


def pair(function, **options):
    """The pipeline of a function, and the same in debug mode."""
    return make(function, **options), make(function, debug=True, **options)


def assert_same(plain, debug, iterations):
    for _ in range(iterations):
        for expected, got in zip(plain.run(), debug.run(), strict=True):
            assert expected.layout() == got.layout()
            assert [s.shape() for s in expected] == [s.shape() for s in got]
            for a, b in zip(expected, got, strict=True):
                np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def numbers(iteration):
    return np.arange(SIZE * 3, dtype=np.int32).reshape(SIZE, 3) + iteration


# --- values in the middle ---------------------------------------------------------------------
def test_values_are_there_when_the_function_goes_on():
    seen = []

    def function():
        x = fn.external_source(numbers)
        y = x * 2 + 1
        seen.append((y.get().as_array(), y.shape(), y.ndim, y.dtype, y.layout, y.device))
        return fn.reshape(y, layout="A")

    pipe = make(function, debug=True)
    for i in range(2):
        (out,) = pipe.run()
        expected = numbers(i) * 2 + 1
        np.testing.assert_array_equal(out.as_array(), expected)
        assert out.layout() == "A"
        values, *facts = seen[i]
        np.testing.assert_array_equal(values, expected)
        assert facts == [[(3,)] * SIZE, 1, types.INT32, "", "cpu"]


def test_print_shows_the_values():
    texts = []

    def function():
        x = fn.external_source(numbers, name="numbers")
        texts.append(str(x))
        return x

    make(function, debug=True).run()
    assert texts[0].startswith('DataNodeDebug(\n    name="numbers",\n    data=TensorListCPU(')
    assert "[ 9 10 11]" in texts[0]


def test_an_error_comes_from_the_line_of_the_call():
    reached = []

    def function():
        x = fn.external_source(numbers)
        reached.append("source")
        y = fn.python_function(x, function=lambda sample: {}[0])
        reached.append("after")
        return y

    with pytest.raises(KeyError, match=r"(?s)python_function.*test_debug\.py"):
        make(function, debug=True).run()
    assert reached == ["source"]


def test_a_user_exception_passes_as_it_is():
    def function():
        raise LookupError("mine")

    with pytest.raises(LookupError, match="^mine$"):
        make(function, debug=True).run()


def test_a_node_keeps_the_batch_of_its_iteration():
    nodes = []

    def function():
        nodes.append(fn.external_source(numbers))
        return nodes[0] + nodes[-1]

    pipe = make(function, debug=True)
    pipe.run()
    (out,) = pipe.run()
    np.testing.assert_array_equal(nodes[0].get().as_array(), numbers(0))
    np.testing.assert_array_equal(out.as_array(), numbers(0) + numbers(1))


def test_batches_of_the_user_are_inputs():
    def function():
        x = fn.external_source(numbers)
        doubled = [np.asarray(sample) * 2 for sample in x.get()]
        return fn.copy(doubled), fn.copy(x.get()), fn.cat(x, x.get())

    pipe = make(function, debug=True)
    for i in range(2):
        doubled, same, twice = pipe.run()
        np.testing.assert_array_equal(doubled.as_array(), numbers(i) * 2)
        np.testing.assert_array_equal(same.as_array(), numbers(i))
        np.testing.assert_array_equal(twice.as_array(), np.concatenate([numbers(i)] * 2, axis=1))


# --- the same values as the plain pipeline ------------------------------------------------------
def test_random_values_are_those_of_the_plain_pipeline(folder):
    def function():
        early = fn.random.uniform(range=[0.0, 1.0])  # keys are of samples that a later reader gives
        data, label = fn.readers.file(file_root=str(folder), random_shuffle=True)
        late = fn.random.uniform(range=[0.0, 1.0])
        seeded = fn.random.uniform(range=[0.0, 1.0], seed=3)
        return early + late, data, label, seeded

    assert_same(*pair(function), iterations=4)  # into a second epoch


def test_values_asked_for_before_the_first_reader_belong_to_positions(folder):
    def function(look=lambda early: None):
        early = fn.random.uniform(range=[0.0, 1.0])
        look(early)
        return early, fn.readers.file(file_root=str(folder), random_shuffle=True)[1]

    plain = make(function)
    debug = make(lambda: function(look=lambda early: early.get()), debug=True)
    first, then = [(plain.run()[0].as_array(), debug.run()[0].as_array()) for _ in range(2)]
    assert not np.array_equal(*first)  # the one batch whose samples were not known yet
    np.testing.assert_array_equal(*then)


def test_conditionals():
    def function():
        x = fn.random.uniform(range=[0.0, 1.0])
        if x < 0.4:
            y = x + 10.0
            z = types.Constant(3)
        elif x < 0.7 or not x < 0.9:
            y = x * 2.0
            z = types.Constant(4)
        else:
            y = x
            z = types.Constant(5)
        return x, y, z

    assert_same(*pair(function, enable_conditionals=True), iterations=3)


def test_batches_that_are_no_nodes_are_refused_with_conditionals():
    def function():
        x = fn.external_source(numbers)
        return fn.copy(x.get())

    with pytest.raises(ValueError, match="Expected `DataNodeDebug` as an input, got TensorList.* at input 0"):
        make(function, debug=True, enable_conditionals=True).run()


def test_batches_of_changing_size():
    batches = [numbers(0)[:n] for n in (3, 1, 4)]

    def function():
        x = fn.external_source(batches)
        return x, fn.random.coin_flip()

    assert_same(*pair(function), iterations=3)


def test_the_end_of_a_source_and_reset():
    def function():
        return fn.external_source([numbers(0), numbers(1)], cycle="raise")

    pipe = make(function, debug=True)
    for _ in range(2):
        assert [out.as_array()[0, 0] for (out,) in pipe] == [0, 1]
        pipe.reset()


def test_data_that_are_fed_before_and_after_the_first_run():
    def function():
        return fn.external_source(name="fed"), fn.external_source(numbers)

    pipe = make(function, debug=True)
    pipe.feed_input("fed", numbers(5))
    assert pipe.run()[0].as_array()[0, 0] == 5
    with pytest.raises(RuntimeError, match="no data"):
        pipe.run()
    assert pipe.run(fed=numbers(6))[0].as_array()[0, 0] == 6


def test_callbacks_of_workers_run_here():
    position = []

    def source(info):
        position.append(info.idx_in_batch)
        return np.int32([info.idx_in_epoch])

    def function():
        x = fn.external_source(source, batch=False, parallel=True)
        return fn.python_function(x, function=lambda v: v + 1, parallel=True)

    pipe = make(function, debug=True)
    for first in (0, SIZE):
        np.testing.assert_array_equal(pipe.run()[0].as_array()[:, 0], np.arange(first, first + SIZE) + 1)
    assert position == [0, 1, 2, 3] * 2


def test_facts_of_readers_after_the_first_run(folder):
    pipe = make(lambda: fn.readers.file(file_root=str(folder), name="files"), debug=True)
    pipe.run()
    assert pipe.reader_meta("files")["epoch_size"] == 10
    assert pipe.num_outputs == 2


def test_states_of_the_plain_pipeline_and_its_own(folder):
    def function():
        label = fn.readers.file(file_root=str(folder), name="files", random_shuffle=True)[1]
        return label, fn.random.uniform(range=[0, 1])

    plain, debug = pair(function)
    state = debug.get_state()  # has no operators yet
    for pipe in (plain, debug):
        pipe.run()
    assert debug.get_state() == plain.get_state() != state
    fresh = make(function, debug=True)
    with pytest.raises(ValueError, match=r"after the first run: call run\(\), then set_state"):
        fresh.set_state(plain.get_state())
    fresh.run()
    fresh.set_state(plain.get_state())
    assert_same(plain, fresh, 3)


@pytest.mark.parametrize("fails", [False, True])
def test_states_fit_after_an_iteration_that_ended_early(fails):
    """The source ends, or the user's function fails, in the middle of the function."""
    asked = []

    def function():
        data = fn.external_source([numbers(i) for i in range(2 + fails)])
        asked.append(None)
        if fails and len(asked) == 3:
            raise RuntimeError("the user's own")
        return fn.copy(data) + 1

    pipe = make(function, debug=True)
    pipe.run()
    state = pipe.get_state()
    expected = pipe.run()[0].as_array()
    with pytest.raises(RuntimeError if fails else StopIteration):
        pipe.run()
    assert pipe.get_state()["graph"] == state["graph"]
    pipe.set_state(state)
    np.testing.assert_array_equal(pipe.run()[0].as_array(), expected)


def test_a_dict_names_the_outputs_from_the_first_run_on():
    pipe = make(lambda: {"numbers": fn.external_source(numbers)}, debug=True)
    pipe.run()
    assert pipe.output_names == ("numbers",)


def test_subclass_with_define_graph():
    class Mine(jdali.Pipeline):
        def define_graph(self):
            x = fn.external_source(numbers)
            assert x.get().as_array()[0, 1] == x.get().as_array()[0, 0] + 1
            return x, 7

    outputs = Mine(batch_size=SIZE, debug=True).run()
    np.testing.assert_array_equal(outputs[0].as_array(), numbers(0))
    np.testing.assert_array_equal(outputs[1].as_array(), [7] * SIZE)


# --- what must be the same in each iteration ----------------------------------------------------
class Alternating:
    """Gives one value in the first iteration, the other after it."""

    def __init__(self, first, then):
        self._values = [first, then]

    def __call__(self):
        return self._values.pop(0)


CASES = {
    "another operator": (
        lambda x, pick: fn.copy(x) if pick() else fn.cast(x, dtype=types.FLOAT),
        (True, False),
        r"Unexpected operator 'cast'\. Debug mode does not support changing the order of operators",
    ),
    "one more operator": (
        lambda x, pick: fn.copy(x) if pick() else fn.copy(fn.copy(x)),
        (True, False),
        r"Unexpected operator 'copy'\. Debug mode does not support changing the order of operators",
    ),
    "another source": (
        lambda x, pick: fn.cat(x, fn.external_source(numbers) if pick() else x),
        (False, True),
        r"Unexpected operator 'ExternalSource'\. Debug mode does not support",
    ),
    "fewer inputs": (
        lambda x, pick: fn.cat(*[x] * pick()),
        (2, 1),
        r"operator 'cat' with different number of inputs than when it was built\. Expected: 2 inputs, got 1",
    ),
    "fewer arguments": (
        lambda x, pick: fn.cast(x + 0, **({"dtype": types.FLOAT, "preserve": False} if pick() else {})),
        (True, False),
        "dtype",
    ),
    "a constant that was a batch": (
        lambda x, pick: fn.random.coin_flip(probability=pick()),
        ([np.float32(0.5).reshape(1)] * SIZE, 0.5),
        r"Argument 'probability' for operator 'random.coin_flip' is a constant but was a batch when created",
    ),
    "an input that was a constant": (
        lambda x, pick: fn.cat(x, pick()),
        (np.int32([1]), [np.int32([1])] * SIZE),
        r"Input 1 for operator 'cat' is a batch but was a constant when created",
    ),
    "another value": (
        lambda x, pick: fn.random.coin_flip(probability=pick()),
        (0.5, 0.25),
        r"Argument 'probability' for operator 'random.coin_flip' unexpectedly changed value from '0.5' to '0.25'",
    ),
    "another type": (
        lambda x, pick: fn.copy(pick()),
        ([np.int32([1])] * SIZE, [np.float32([1])] * SIZE),
        r"Input 0 for operator 'copy' has dtype = DALIDataType.FLOAT, expected: DALIDataType.INT32",
    ),
    "another number of axes": (
        lambda x, pick: fn.copy(pick()),
        ([np.int32([1])] * SIZE, [np.int32([[1]])] * SIZE),
        r"Input 0 for operator 'copy' has ndim = 2, expected: 1",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_changes_is_an_error(name):
    call, values, message = CASES[name]
    pick = Alternating(*values)

    def function():
        return call(fn.external_source(numbers), pick)

    pipe = make(function, debug=True)
    pipe.run()
    with pytest.raises((RuntimeError, TypeError), match=message):
        pipe.run()


def test_nan_and_new_functions_are_no_change():
    def function():
        x = fn.external_source(numbers)
        return fn.python_function(x, function=lambda v: v), fn.constant(fdata=[np.nan])

    pipe = make(function, debug=True)
    for i in range(2):
        out, nan = pipe.run()
        np.testing.assert_array_equal(out.as_array(), numbers(i))
        assert np.isnan(nan.as_array()).all()


def test_batches_of_different_sizes():
    def given():
        x = fn.external_source(numbers)
        return fn.copy([np.asarray(x.get()[i]) for i in range(3)])

    with pytest.raises(
        RuntimeError, match="Batch size must be uniform across an iteration. Input 0 for operator 'copy'"
    ):
        make(given, debug=True).run()

    def sources():
        return fn.external_source(numbers), fn.external_source(lambda i: numbers(i)[:2])

    with pytest.raises(RuntimeError, match="External Source operator returned batch size: 2, expected: 4"):
        make(sources, debug=True).run()


def test_a_definition_in_a_with_block_is_refused():
    pipe = jdali.Pipeline(batch_size=SIZE, debug=True)
    with pytest.raises(RuntimeError, match="works only with `pipeline_def`"), pipe:
        pass


def test_a_dropped_pipeline_is_collected():
    pipe = make(lambda: fn.external_source(numbers) + 1, debug=True)
    pipe.run()
    dropped = weakref.ref(pipe)
    del pipe
    gc.collect()
    assert dropped() is None


def test_a_closed_pipeline():
    pipe = make(lambda: fn.external_source(numbers), debug=True)
    pipe.run()
    pipe.close()
    with pytest.raises(RuntimeError, match="the pipeline is closed"):
        pipe.run()


def test_training_iterator(folder):
    def function():
        return fn.readers.file(file_root=str(folder), name="files", pad_last_batch=True)[1]

    plain, debug = pair(function)
    got = [
        np.concatenate(
            [np.asarray(batch["label"]) for batch in jdali.iterator.DataIterator(pipe, ["label"], size=10)]
        )
        for pipe in (plain, debug)
    ]
    np.testing.assert_array_equal(*got)


def test_what_cannot_be_fed():
    def feed_and_run(name):
        pipe = make(lambda: fn.external_source(numbers, name="own"))
        pipe.feed_input(name, numbers(0))
        pipe.run()

    with pytest.raises(
        RuntimeError, match="Cannot use `feed_input` on the external source 'own' with a `source`"
    ):
        feed_and_run("own")
    with pytest.raises(KeyError, match='Could not find an input operator with name "other"'):
        feed_and_run("other")
