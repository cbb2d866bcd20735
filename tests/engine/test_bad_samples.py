"""Every good sample comes once an epoch, wherever the bad ones are."""

import itertools
import json
import math

import numpy as np
import pytest
from support.numbers import NumberReader, numbers, pipeline
from support.some import pairs, some

import jdali
from jdali import fn, types
from jdali._errors import SampleError
from jdali.iterator import DataIterator, LastBatchPolicy

SIZE = 13
EPOCHS = 2


def positions(shards, batch_size):
    """Which samples are bad, by what is special about them."""
    start, end = SIZE // shards, SIZE * 2 // shards if shards > 1 else SIZE
    return {
        "none": (),
        "first": (0,),
        "last": (SIZE - 1,),
        "several": (1, 2, 5, 11),
        "whole batch": tuple(range(min(batch_size, SIZE - 1))),
        "second batch": tuple(range(batch_size, min(2 * batch_size, SIZE))),
        "two batches": tuple(range(min(2 * batch_size, SIZE - 1))),
        "last batch": tuple(range(max(SIZE - batch_size, 1), SIZE)),
        "all of a shard": tuple(range(start, end)) if shards > 1 else tuple(range(1, SIZE)),
        "all but the last": tuple(range(SIZE - 1)),
        "all but one": tuple(i for i in range(SIZE) if i != 6),
    }


def each_position():
    """Shards, batch size and what is special about the bad samples; of two names for the same samples the first."""
    for shards, batch_size in itertools.product([1, 2, 3], [1, 2, 3, 8]):
        names = {bad: where for where, bad in reversed(positions(shards, batch_size).items())}
        for where, on_error in itertools.product(names.values(), ["skip", "mask"]):
            yield shards, batch_size, where, on_error


def row(result):
    """Numbers, mask and padding of a batch, for comparing."""
    return result.outputs[0].as_array().ravel().tolist(), result.mask.tolist(), result.padded.tolist()


@pytest.mark.cases(14)
@some("shards, batch_size, where, on_error", each_position(), covers=pairs)
def test_every_good_sample_once_an_epoch(shards, batch_size, where, on_error):
    bad = positions(shards, batch_size)[where]
    good = [i for i in range(SIZE) if i not in bad]
    batches = math.ceil(math.ceil(SIZE / shards) / batch_size)

    def opened(shard, **options):
        return pipeline(
            SIZE, batch_size, shard_id=shard, num_shards=shards, pad=True, bad=bad,
            pipeline_args={"on_error": on_error} | options,
        )  # fmt: skip

    seen = [[] for _ in range(EPOCHS)]
    for shard in range(shards):
        with opened(shard) as pipe:
            rows, states = [], []
            for _ in range(EPOCHS * batches):
                rows.append(row(pipe.run_result()))
                states.append(json.dumps(pipe.get_state()))
            listed = {error.index for error in pipe.errors}
        for number, (values, mask, padded) in enumerate(rows):
            assert set(values) <= set(good)
            seen[number // batches] += [
                v for v, m, p in zip(values, mask, padded, strict=True) if m and not p
            ]
        assert listed <= set(bad)
        for step in {0, batches - 1}:
            with opened(shard, exec_async=False, exec_pipelined=False) as again:
                again.set_state(json.loads(states[step]))
                assert [row(again.run_result()) for _ in rows[step + 1 :]] == rows[step + 1 :]
    assert [sorted(values) for values in seen] == [good] * EPOCHS


@pytest.mark.cases(10)
@pytest.mark.parametrize("on_error", ["skip", "mask"])
@pytest.mark.parametrize("where", ["first", "several", "whole batch", "last batch", "all but one"])
@pytest.mark.parametrize("batch_size", [1, 3, 8])
def test_through_an_iterator(batch_size, where, on_error):
    bad = positions(1, batch_size)[where]
    pipe = pipeline(SIZE, batch_size, pad=True, bad=bad, pipeline_args={"on_error": on_error})
    with DataIterator(
        pipe, ["x"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
    ) as batches:
        for _ in range(3):
            seen = []
            for batch in batches:
                values = np.ravel(batch["x"])
                seen += values[np.asarray(batch["mask"])].tolist() if on_error == "mask" else values.tolist()
            good = [i for i in range(SIZE) if i not in bad]
            assert sorted(seen) == good or (
                on_error == "skip" and sorted(set(seen)) == good and len(seen) == SIZE
            )


def test_one_sample_reported_at_a_time():
    """Operators that stop at the first bad sample, whose batch has nothing but bad ones."""

    def refuse(values):
        for i, value in enumerate(values):
            if value[0] < 5:
                raise SampleError("too small", sample=i)
        return values

    pipe = jdali.Pipeline(batch_size=3, num_threads=1, seed=1, on_error="mask")
    with pipe:
        values = numbers(NumberReader(9))
        pipe.set_outputs(fn.python_function(values, function=refuse, batch_processing=True))
    with pipe:
        rows = [row(pipe.run_result()) for _ in range(3)]
    assert all(set(values) <= {5, 6, 7, 8} for values, _, _ in rows)
    real = [v for values, mask, _ in rows for v, m in zip(values, mask, strict=True) if m]
    assert real == [5, 6, 7, 8]
    assert [error.index for error in pipe.errors] == [0, 1, 2, 3, 4]


def test_samples_of_an_external_source_are_dropped_with_their_partner():
    """Nothing but a good sample of the batch can take its place: the reader's samples are not used up for it."""
    counter = itertools.count()

    def source():
        return np.array([next(counter) for _ in range(2)], np.int32)

    def refuse(value):
        if value == 2:
            raise SampleError("two")
        return value

    pipe = jdali.Pipeline(batch_size=2, num_threads=1, seed=1, on_error="skip", prefetch_queue_depth=1)
    with pipe:
        values = numbers(NumberReader(8))
        given = fn.python_function(fn.external_source(source=source), function=refuse)
        pipe.set_outputs(values, fn.cast(given, dtype=types.INT64))
    with pipe:
        rows = [[out.as_array().ravel().tolist() for out in pipe.run()] for _ in range(3)]
    assert rows == [[[0, 1], [0, 1]], [[3, 3], [3, 3]], [[4, 5], [4, 5]]]


def given(batches, on_error, **options):
    """A pipeline of an external source of numbers, of which negative ones are bad."""

    def refuse(value):
        if value < 0:
            raise SampleError(f"{value} is bad")
        return value

    source = None if batches is None else lambda: iter([np.array(batch, np.int32) for batch in batches])
    pipe = jdali.Pipeline(batch_size=2, num_threads=1, seed=1, on_error=on_error, **options)
    with pipe:
        values = fn.external_source(source=source and source(), name="given", batch=True)
        pipe.set_outputs(fn.python_function(values, function=refuse))
    return pipe


LOST = [[1, 2], [-3, -4], [5, -6], [-7, -8], [-9, -10], [11, 12], [-13, -14]]


@pytest.mark.parametrize("options", [{}, {"exec_async": False}], ids=["ahead", "on demand"])
@pytest.mark.parametrize("on_error", ["skip", "mask"])
def test_a_batch_that_an_external_source_gave_in_vain_is_left_out(on_error, options):
    with given(LOST, on_error, **options) as pipe:
        assert [x.as_array().tolist() for (x,) in pipe] == [[1, 2], [5, 5], [11, 12]]
        assert [error.index for error in pipe.errors] == [2, 3, 5, 6, 7, 8, 9, 12, 13]
    with given(LOST, on_error, **options) as pipe:
        rows = []
        for _ in range(3):
            pipe.schedule_run()
            rows.append(pipe.share_outputs()[0].as_array().tolist())
        assert rows == [[1, 2], [5, 5], [11, 12]]


@pytest.mark.parametrize("on_error", ["skip", "mask"])
def test_an_iterator_leaves_such_batches_out(on_error):
    def opened():
        numbers = [np.array(batch, np.int32) for batch in LOST]
        pipe = jdali.Pipeline(batch_size=2, num_threads=1, seed=1, on_error=on_error)

        def source(info):  # can be asked for any batch
            if info >= len(numbers):
                raise StopIteration
            return numbers[info]

        def refuse(value):
            if value < 0:
                raise SampleError(f"{value} is bad")
            return value

        with pipe:
            pipe.set_outputs(fn.python_function(fn.external_source(source=source), function=refuse))
        return DataIterator(pipe, ["x"], auto_reset=True)

    with opened() as batches:
        rows, states = [], []
        for batch in batches:
            rows.append(np.ravel(batch["x"]).tolist())
            states.append(json.dumps(batches.get_state()))
        assert rows == [[1, 2], [5, 5], [11, 12]]
        assert [np.ravel(batch["x"]).tolist() for batch in batches] == rows
        assert np.ravel(batches.batch_at(2)["x"]).tolist() == [5, 5]  # the third batch of the source
    for done, state in enumerate(states):
        with opened() as batches:
            batches.set_state(json.loads(state))
            assert [np.ravel(batch["x"]).tolist() for batch in batches] == rows[done + 1 :]


def test_a_fed_batch_of_bad_samples_is_an_error_and_the_next_one_follows():
    with given(None, "skip") as pipe:
        assert pipe.run(given=np.int32([1, -2]))[0].as_array().tolist() == [1, 1]
        with pytest.raises(jdali.OperatorError, match="python_function: -3 is bad"):
            pipe.run(given=np.int32([-3, -4]))
        assert pipe.run(given=np.int32([5, 6]))[0].as_array().tolist() == [5, 6]


def test_a_source_of_bad_samples_only_is_an_error_after_many():
    with given([[1, 2], *[[-3, -4]] * 600, [5, 6]], "skip") as pipe:
        assert pipe.run()[0].as_array().tolist() == [1, 2]
        with pytest.raises(jdali.OperatorError, match="python_function: -3 is bad"):
            pipe.run()
        assert pipe.run()[0].as_array().tolist() == [5, 6]


@pytest.mark.parametrize("policy", [LastBatchPolicy.PAD, LastBatchPolicy.PARTIAL])
def test_an_iterator_over_two_pipelines_cannot_go_on_without_one(policy):
    rows = [[[1, 2], [3, 4], [5, 6]], [[1, 2], [-3, -4], [5, 6]]]
    pipes = [given(batches, "skip") for batches in rows]
    with DataIterator(pipes, ["x"], size=12, last_batch_policy=policy) as batches:
        assert np.ravel(next(batches)["x"]).tolist() == [1, 2, 1, 2]
        with pytest.raises(RuntimeError, match="-3 is bad"):
            next(batches)
        assert np.ravel(next(batches)["x"]).tolist() == [5, 6, 5, 6]


@pytest.mark.parametrize("policy", LastBatchPolicy)
@pytest.mark.parametrize("size", [-1, 6], ids=["without size", "size"])
def test_a_bad_sample_of_an_external_source_changes_no_shape(policy, size):
    """A good one of its batch stands there, also beside a reader, whose next samples stay with their partners."""
    with DataIterator(
        given([[1, 2], [3, -4], [5, 6]], "skip"), ["x"], size=size, last_batch_policy=policy
    ) as batches:
        got = list(batches)
        assert [np.ravel(batch["x"]).tolist() for batch in got] == [[1, 2], [3, 3], [5, 6]]
        if policy is LastBatchPolicy.PAD:
            assert [batch["mask"].tolist() for batch in got] == [[True, True], [True, False], [True, True]]


@pytest.mark.parametrize("on_error", ["skip", "mask"])
def test_bad_samples_of_a_reader_leave_what_a_source_gives_with_its_partner(on_error):
    """The reader's next sample has a partner of its own."""

    def refuse(value):
        if value in (1, 4):
            raise SampleError("bad")
        return value

    pipe = jdali.Pipeline(batch_size=2, num_threads=1, seed=1, on_error=on_error)
    with pipe:
        given = fn.external_source(lambda i: np.arange(2 * i, 2 * i + 2, dtype=np.int64))
        pipe.set_outputs(fn.python_function(numbers(NumberReader(8)), function=refuse), given)
    with pipe:
        rows = [[out.as_array().ravel().tolist() for out in pipe.run()] for _ in range(4)]
    assert rows == [[[0, 0]] * 2, [[2, 3]] * 2, [[5, 5]] * 2, [[6, 7]] * 2]
