"""The end of an external source, and what the batches behind it have in common with those before: as in DALI."""

import re

import numpy as np
import pytest
from support import oracle, refusals
from support.callbacks import Twos, twos

import jdali

BOTH = pytest.mark.parametrize(
    "package", ["jdali", pytest.param("DALI", marks=pytest.mark.oracle)], indirect=True
)


@pytest.fixture
def package(request):
    return jdali if request.param == "jdali" else oracle.dali()


def pipeline(package, define, **options):
    pipe = package.Pipeline(2, 1, None, prefetch_queue_depth=1, **options)
    with pipe:
        outputs = define(package.fn)
        pipe.set_outputs(*(outputs if isinstance(outputs, tuple) else (outputs,)))
    pipe.build()
    return pipe


def epochs(pipe, count=4, longest=3):
    """The numbers that come in each epoch, "end" where a source has ended; `reset` after each."""
    found = []
    for _ in range(count):
        epoch = []
        try:
            for _ in range(longest):
                epoch.append(tuple(int(np.asarray(out[0]).item()) for out in pipe.run()))
        except StopIteration:
            epoch.append("end")
        found.append(epoch)
        pipe.reset()
    return found


def numbers(*values):
    return [[np.full(1, value, np.int32)] * 2 for value in values]


class Again:
    """An iterator that goes on after its end."""

    def __init__(self):
        self.given = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.given += 1
        if self.given % 3 == 0:
            raise StopIteration
        return numbers(self.given)[0]


SOURCES = {
    "list": lambda: numbers(0, 1),
    "iterable": lambda: Twos(),
    "generator function": lambda: twos,
    "iterator": lambda: iter(numbers(0, 1)),
    "generator": lambda: twos(),
}


@BOTH
@pytest.mark.parametrize("cycle", [None, False, "no"])
@pytest.mark.parametrize("kind", SOURCES)
def test_a_source_that_does_not_cycle_stays_at_its_end(package, kind, cycle):
    pipe = pipeline(package, lambda fn: fn.external_source(SOURCES[kind](), cycle=cycle))
    if kind == "generator" and package is jdali:
        assert epochs(pipe, 1) == [[(0,), (1,), "end"]]
        with pytest.raises(
            RuntimeError, match="the generator is at its end, and cannot begin again for epoch 1"
        ):
            pipe.run()  # an empty epoch, as in DALI, would look like a loop that has trained
    else:
        assert epochs(pipe) == [[(0,), (1,), "end"], ["end"], ["end"], ["end"]]


@BOTH
def test_an_iterator_may_go_on_after_its_end(package):
    pipe = pipeline(package, lambda fn: fn.external_source(Again()))
    assert epochs(pipe, 3) == [[(1,), (2,), "end"], [(4,), (5,), "end"], [(7,), (8,), "end"]]


@BOTH
def test_an_iterable_is_begun_once_for_each_time_it_is_gone_through(package):
    source = Twos()
    pipe = pipeline(package, lambda fn: fn.external_source(source, cycle="raise"))
    assert epochs(pipe, 3) == [[(0,), (1,), "end"]] * 3
    assert source.begun == 4  # it is at its beginning again


@BOTH
@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # The second source gives a batch in the iteration in which the first ends: it is lost.
        ("raise", "quiet", [[(0, 10), (1, 11), "end"]] * 4),
        (None, "raise", [[(0, 10), (1, 11), "end"], ["end"], ["end"], ["end"]]),
        ("raise", None, [[(0, 10), (1, 11), "end"], ["end"], ["end"], ["end"]]),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_sources_go_on_where_another_one_has_ended(package, first, second, expected, swapped):
    def define(fn):
        a, b = (numbers(0, 1), first), (numbers(10, 11, 12), second)
        x, y = (fn.external_source(source, cycle=cycle) for source, cycle in ((b, a) if swapped else (a, b)))
        return (y, x) if swapped else (x, y)

    assert epochs(pipeline(package, define)) == expected


@pytest.mark.cases(2)
@pytest.mark.parametrize("lengths", [(2, 3), (3, 2), (2, 4)])
@pytest.mark.parametrize("kind", ["list", "generator function", "samples", "parallel"])
def test_sources_that_begin_again_do_so_together(kind, lengths):
    """Rows of one place come together in each epoch; DALI goes on in the longer source where it was."""

    def source(length):
        rows = numbers(*range(length))
        if kind == "samples":
            return {"source": [sample for batch in rows for sample in batch], "batch": False}
        return {
            "source": rows if kind == "list" else lambda: (yield from rows),
            "parallel": kind == "parallel",
        }

    def define(fn):
        return tuple(fn.external_source(**source(length), cycle="raise") for length in lengths)

    pipe = pipeline(jdali, define, py_num_workers=1, py_start_method="spawn")
    try:
        assert epochs(pipe, 3, longest=4) == [[(0, 0), (1, 1), "end"]] * 3
    finally:
        pipe.close()


def test_a_callback_that_cannot_begin_again_is_warned_of(caplog):
    ends, goes_on = iter(numbers(0, 1)), iter(numbers(*range(9)))
    pipe = pipeline(
        jdali, lambda fn: (fn.external_source(lambda: next(ends)), fn.external_source(lambda: next(goes_on)))
    )
    assert epochs(pipe, 1) == [[(0, 0), (1, 1), "end"]]
    pipe.close()
    assert "ended first" in caplog.text


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    "package",
    [
        "jdali",
        pytest.param(
            "DALI",
            marks=[
                pytest.mark.oracle,
                # The real DALI leaves a socket to the garbage collector.
                pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
            ],
        ),
    ],
    indirect=True,
)
@pytest.mark.parametrize("source", [Twos(), twos], ids=["iterable", "generator function"])
@pytest.mark.parametrize(
    ("cycle", "expected"),
    [
        (None, [[(0,), (1,), "end"], ["end"], ["end"]]),
        ("raise", [[(0,), (1,), "end"]] * 3),
        ("quiet", [[(0,), (1,), (0,)], [(1,), (0,), (1,)], [(0,), (1,), (0,)]]),
    ],
)
def test_a_source_in_a_worker_ends_as_one_without(package, source, cycle, expected):
    pipe = pipeline(
        package,
        lambda fn: fn.external_source(source, cycle=cycle, parallel=True, prefetch_queue_depth=2),
        py_num_workers=1, py_start_method="spawn",
    )  # fmt: skip
    try:
        assert epochs(pipe, 3) == expected
    finally:
        if package is jdali:
            pipe.close()


def two_sources(fn):
    return fn.external_source(numbers(0, 1), cycle="raise"), fn.external_source(
        numbers(10, 11, 12), cycle="quiet"
    )


@pytest.mark.parametrize("resets", [0, 1])
@pytest.mark.parametrize("taken", [1, 2, 4])
def test_a_state_at_the_end_knows_of_the_batch_that_was_lost(taken, resets):
    pipe = pipeline(jdali, two_sources)
    for _ in range(taken // 2):
        epochs(pipe, 1)
    for _ in range(2):
        pipe.run()
    with pytest.raises(StopIteration):
        pipe.run()
    for _ in range(resets):
        pipe.reset()
    again = pipeline(jdali, two_sources)
    again.set_state(pipe.get_state())
    for one in (pipe, again):
        one.reset()
    assert epochs(again, 2) == epochs(pipe, 2)


@pytest.mark.parametrize("resets", [0, 1])
def test_a_state_at_the_end_in_debug_mode(resets):
    @jdali.pipeline_def(batch_size=2, num_threads=1, debug=True)
    def function():
        return jdali.fn.external_source(numbers(0, 1), cycle="raise")

    pipe, again = function(), function()
    assert [int(out.at(0)[0]) for (out,) in pipe] == [0, 1]
    for _ in range(resets):
        pipe.reset()
    again.run()  # its source is known then
    again.set_state(pipe.get_state())
    again.reset()
    assert epochs(again, 2) == [[(0,), (1,), "end"]] * 2


def test_the_end_that_was_made_ahead_is_in_the_state():
    pipe, again = pipeline(jdali, two_sources), pipeline(jdali, two_sources)
    for _ in range(2):
        pipe.run()
    pipe.reset()  # nothing but the end was left
    again.set_state(pipe.get_state())
    assert epochs(again, 2) == epochs(pipe, 2) == [[(0, 10), (1, 11), "end"]] * 2


# --- what batches have in common ------------------------------------------------------------------
def ones(*shape, dtype=np.float32):
    return [np.ones(shape, dtype)] * 2


CHANGES = {
    "type": (
        ones(2, 3), ones(2, 3, dtype=np.uint8),
        ("Type of the data fed to the external source has changed from the previous iteration. Type in the previous "
        "iteration was float and the current type is uint8."),
    ),
    "axes": (
        ones(2, 3), ones(2, 3, 1),
        ("Number of dimensions of the data fed to the external source has changed from previous iteration. "
        "Dimensionality in the previous iteration was 2 and the current is 3."),
    ),
    "both": (ones(2, 3), ones(2, dtype=np.uint8), "was float and the current type is uint8"),
}  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("fed", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_type_and_axes_must_not_change(change, fed):
    first, second, words = CHANGES[change]

    def run(package):
        pipe = pipeline(package, lambda fn: fn.external_source(None if fed else [first, second], name="data"))
        for number, batch in enumerate((first, second)):
            if fed:
                pipe.feed_input("data", batch)
            if number == 0:
                pipe.run()
        pipe.run()

    refusals.check_both(RuntimeError, re.escape(words), run)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("layouts", "words"),
    [
        (["HW", "WC"], 'Layout in the previous iteration was "HW" and the current is "WC".'),
        (["HW", ""], 'Layout in the previous iteration was "HW" and the current is "".'),
        (["", "HW", "WC"], 'Layout in the previous iteration was "HW" and the current is "WC".'),
        (["", "", "HW", "HW"], None),
    ],
)
@pytest.mark.parametrize("fed", [False, True])
def test_the_layout_must_not_change(layouts, words, fed):
    def run(package):
        lists = package.tensors.TensorListCPU
        batches = [lists(np.ones((2, 2, 3), np.float32), layout=layout) for layout in layouts]
        pipe = pipeline(package, lambda fn: fn.external_source(None if fed else batches, name="data"))
        for layout in layouts:
            if fed:
                pipe.feed_input("data", ones(2, 3), layout=layout or None)
            assert pipe.run()[0].layout() == layout

    if words is not None:
        refusals.check_both(RuntimeError, re.escape(words), run)
        return
    for package in (jdali, oracle.dali()):
        run(package)


@BOTH
def test_a_declared_layout_is_that_of_all_batches(package):
    lists = package.tensors.TensorListCPU
    batches = [lists(np.ones((2, 2, 3), np.float32), layout=layout) for layout in ("HW", "WC", "")]
    pipe = pipeline(package, lambda fn: fn.external_source(batches, layout="WC"))
    assert [pipe.run()[0].layout() for _ in batches] == ["WC"] * 3


@pytest.mark.oracle
def test_each_output_is_looked_at_by_itself():
    def source():
        yield ones(2), ones(2, dtype=np.uint8)
        yield ones(3), ones(1, dtype=np.uint8)
        yield ones(2), ones(2)

    def run(package):
        pipe = pipeline(package, lambda fn: tuple(fn.external_source(source, num_outputs=2)))
        assert [len(pipe.run()) for _ in range(2)] == [2, 2]
        pipe.run()

    refusals.check_both(RuntimeError, "was uint8 and the current type is float", run)


def test_a_pipeline_goes_on_behind_a_batch_of_another_kind():
    batches = [ones(2), np.ones((0, 2, 2), np.uint8), ones(2, dtype=np.uint8), ones(3)]
    pipe = pipeline(jdali, lambda fn: fn.external_source(batches))
    assert [len(pipe.run()[0]) for _ in range(2)] == [2, 0]  # one without samples is of any kind
    with pytest.raises(RuntimeError, match="was float and the current type is uint8"):
        pipe.run()
    assert pipe.run()[0].shape() == [(3,)] * 2


def test_what_came_before_a_state_was_set_is_forgotten():
    batches = [ones(2), ones(2, dtype=np.uint8)]
    pipe = pipeline(jdali, lambda fn: fn.external_source(lambda number: batches[number]))
    pipe.run()
    pipe.set_state(pipe.get_state())
    assert pipe.run()[0].dtype == jdali.types.UINT8


@BOTH
def test_debug_mode_takes_batches_of_any_kind(package):
    batches = [ones(2, 3), ones(2, 3, dtype=np.uint8), ones(2)]
    definition = package.pipeline_def if package is jdali else package.pipeline.experimental.pipeline_def

    @definition(batch_size=2, num_threads=1, device_id=None, debug=True, prefetch_queue_depth=1)
    def function():
        return package.fn.external_source(batches)

    pipe = function()
    assert [str(pipe.run()[0].dtype).rpartition(".")[2] for _ in batches] == ["FLOAT", "UINT8", "FLOAT"]
