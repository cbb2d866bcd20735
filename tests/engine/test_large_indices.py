"""Sample counters of 64 bits: streams and data sets of more than 2**32 samples."""

import json

import jax
import numpy as np
import pytest
from support.numbers import NumberReader, numbers

import jdali
from jdali import fn
from jdali._numerics.random import SampleKeys, index_words, sample_key, seed_words
from jdali.readers.order.epochs import Order

EDGE = 2**32
AROUND = [EDGE - 2, EDGE - 1, EDGE, EDGE + 1, EDGE + 2, 2**33 - 1]


def test_keys_are_of_the_whole_index():
    """Below 2**32 the fold of seed, stream, epoch and index; past it the high word is folded in too."""
    words, indices = seed_words(11), np.array([0, 1, *AROUND])
    low, high = index_words(indices)
    keys = jax.vmap(lambda n, h: sample_key(words, np.uint32(3), np.uint32(2), n, h))(low, high)
    got = np.asarray(jax.random.key_data(keys))
    for data, index in zip(got, indices.tolist(), strict=True):
        key = jax.random.wrap_key_data(words, impl="threefry2x32")
        folded = [3, 2, index % EDGE] + ([index // EDGE] if index >= EDGE else [])
        for word in folded:
            key = jax.random.fold_in(key, np.uint32(word))
        np.testing.assert_array_equal(data, jax.random.key_data(key))
    assert len({tuple(data) for data in got.tolist()}) == len(indices)


def test_keys_on_the_host():
    indices = np.array([*AROUND, 0, 1, 2])
    keys = SampleKeys(seed_words(11), 3, np.full(len(indices), 2, np.uint32), indices)
    mapped = keys.map(jax.random.bits)
    assert len(set(mapped.tolist())) == len(indices)
    drawn = [keys.numpy_rng(i).integers(2**63) for i in range(len(indices))]
    assert len(set(drawn)) == len(indices)
    near = np.random.SeedSequence([*seed_words(11).tolist(), 3, 2, EDGE - 1])
    assert drawn[1] == np.random.Generator(np.random.Philox(near)).integers(2**63)


@jdali.pipeline_def(num_threads=1, seed=5)
def endless(told):
    def source(info):
        told.append((info.idx_in_epoch, info.idx_in_batch))
        return np.int64(info.idx_in_epoch)

    return fn.external_source(source=source, batch=False), fn.random.uniform(range=[0.0, 1.0])


def at(pipe, position, iteration):
    """Sets an external source's pipeline to a sample of its stream, through the bytes of a state."""
    state = json.loads(json.dumps(pipe.get_state())) | {"position": position, "iteration": iteration}
    pipe.set_state(state)


def test_endless_sources():
    told = []
    with endless(told, batch_size=4) as pipe:
        at(pipe, EDGE - 2, EDGE // 4)
        told.clear()
        rows = []
        for _ in range(2):
            numbers, values = pipe.run()
            rows += zip(numbers.as_array().ravel().tolist(), values.as_array().ravel().tolist(), strict=True)
        state = pipe.get_state()
        after = [out.as_array().tolist() for out in pipe.run()]
    assert state["position"] == EDGE + 6
    assert [number for number, _ in rows] == list(range(EDGE - 2, EDGE + 6))
    assert told[:4] == [(EDGE - 2 + i, i) for i in range(4)]
    assert len({value for _, value in rows}) == len(rows)
    with endless([], batch_size=1) as pipe:  # the same values, whatever the batch size
        first = [float(pipe.run()[1].as_array()[0]) for _ in range(8)]
        at(pipe, EDGE - 1, EDGE - 1)
        alone = [float(pipe.run()[1].as_array()[0]) for _ in range(3)]
    assert alone == [value for _, value in rows[1:4]]
    assert not set(first) & {value for _, value in rows[2:]}  # those of the low word alone
    with endless([], batch_size=4) as pipe:
        pipe.set_state(json.loads(json.dumps(state)))
        assert [out.as_array().tolist() for out in pipe.run()] == after


@pytest.mark.parametrize("on_error", ["raise", "skip", "mask"])
def test_readers(on_error):
    size, bad = 2**33, EDGE + 1

    def opened(**options):
        reader = NumberReader(size, bad=() if on_error == "raise" else (bad,))
        pipe = jdali.Pipeline(
            batch_size=4, num_threads=1, seed=5, on_error=on_error, enable_checkpointing=True, **options
        )
        with pipe:
            pipe.set_outputs(numbers(reader), fn.random.uniform(range=[0.0, 1.0]))
        return reader, pipe

    def run(pipe, batches):
        results = [pipe.run_result() for _ in range(batches)]
        return [[out.as_array().ravel().tolist() for out in result.outputs] for result in results]

    reader, pipe = opened()
    reader.skip(1, EDGE - 2)
    with pipe:
        rows = run(pipe, 2)
        saved = pipe.checkpoint()
        after = run(pipe, 2)
        errors = pipe.errors
    third = bad if on_error == "raise" else bad + 1
    wanted = [EDGE - 2, EDGE - 1, EDGE, third, *range(EDGE + 2, EDGE + 6)]
    assert [number for numbers, _ in rows for number in numbers] == wanted
    assert [error.index for error in errors] == ([] if on_error == "raise" else [bad])
    values = {n: v for ns, vs in rows for n, v in zip(ns, vs, strict=True)}
    assert len(set(values.values())) == len(values)
    _, again = opened(checkpoint=saved)
    with again:
        assert run(again, 2) == after


@pytest.mark.parametrize(
    "options", [{}, {"random_shuffle": True}, {"random_shuffle": True, "initial_fill": 8}]
)
def test_orders(options):
    order = Order(2**33, **options)
    order.skip(1, EDGE - 2)
    taken = order.take(4).indices
    assert len(set(taken.tolist())) == 4
    assert ((taken >= 0) & (taken < 2**33)).all()
    state = json.loads(json.dumps(order.get_state()))
    again = Order(2**33, **options)
    again.set_state(state)
    np.testing.assert_array_equal(again.take(4).indices, order.take(4).indices)
