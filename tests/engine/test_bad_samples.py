"""Every good sample comes once an epoch, wherever the bad ones are."""

import itertools
import json
import math

import numpy as np
import pytest
from support.numbers import NumberReader, numbers, pipeline

import jdali
from jdali import fn, types
from jdali._errors import SampleError
from jdali.iterator import DataIterator, LastBatchPolicy

SIZE = 13
EPOCHS = 2


def places(shards, batch_size):
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


def each_place():
    """Shards, batch size and bad samples; where two places are the same samples, the first of them."""
    for shards, batch_size in itertools.product([1, 2, 3], [1, 2, 3, 8]):
        names = {bad: where for where, bad in reversed(places(shards, batch_size).items())}
        for bad, where in names.items():
            yield pytest.param(shards, batch_size, bad, id=f"{shards}-{batch_size}-{where}")


def row(result):
    """Numbers, mask and padding of a batch, for comparing."""
    return result.outputs[0].as_array().ravel().tolist(), result.mask.tolist(), result.padded.tolist()


@pytest.mark.parametrize("on_error", ["skip", "mask"])
@pytest.mark.parametrize(("shards", "batch_size", "bad"), list(each_place()))
def test_every_good_sample_once_an_epoch(shards, batch_size, bad, on_error):
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
            assert all(mask) or on_error == "mask"
            seen[number // batches] += [
                v for v, m, p in zip(values, mask, padded, strict=True) if m and not p
            ]
        assert listed <= set(bad)
        for step in {0, batches - 1}:
            with opened(shard, exec_async=False, exec_pipelined=False) as again:
                again.set_state(json.loads(states[step]))
                assert [row(again.run_result()) for _ in rows[step + 1 :]] == rows[step + 1 :]
    assert [sorted(values) for values in seen] == [good] * EPOCHS


@pytest.mark.parametrize("on_error", ["skip", "mask"])
@pytest.mark.parametrize("where", ["first", "several", "whole batch", "last batch", "all but one"])
@pytest.mark.parametrize("batch_size", [1, 3, 8])
def test_through_an_iterator(batch_size, where, on_error):
    bad = places(1, batch_size)[where]
    pipe = pipeline(SIZE, batch_size, pad=True, bad=bad, pipeline_args={"on_error": on_error})
    with DataIterator(
        pipe, ["x"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
    ) as batches:
        for _ in range(3):
            seen = []
            for batch in batches:
                values = np.ravel(batch["x"])
                seen += values[np.asarray(batch["mask"])].tolist() if on_error == "mask" else values.tolist()
            assert sorted(seen) == [i for i in range(SIZE) if i not in bad]


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
    """Nothing can take the place of what a source gave once: the reader's samples are not used up for it."""
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
    assert rows == [[[0, 1], [0, 1]], [[3], [3]], [[4, 5], [4, 5]]]
