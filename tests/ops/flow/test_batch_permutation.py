"""batch_permutation: its distribution is DALI's, and a batch's indices follow from its samples."""

import itertools
from collections import Counter

import numpy as np
import pytest
from support import oracle

import jdali
from jdali import fn
from jdali._numerics.random import SampleKeys, seed_words
from jdali._operators.call import CallRequest, plan_call
from jdali._operators.record import REGISTRY

OPTIONS = [
    {},
    {"no_fixed_points": True},
    {"allow_repetitions": True},
    {"allow_repetitions": True, "no_fixed_points": True},
]


def drawn(indices, **options):
    """The indices of a batch of these samples of the data set."""
    index = np.asarray(indices, np.int64)
    keys = SampleKeys(seed_words(5), 1, np.zeros(len(index), np.int64), index)
    planned = plan_call(
        CallRequest(REGISTRY["batch_permutation"], [], options, batch_size=len(index), keys=keys)
    )
    return tuple(planned.traced["_index"].tolist())


def possible(size, allow_repetitions=False, no_fixed_points=False):
    every = (
        itertools.product(range(size), repeat=size)
        if allow_repetitions
        else itertools.permutations(range(size))
    )
    every = [e for e in every if not no_fixed_points or all(e[i] != i for i in range(size))]
    if no_fixed_points and not allow_repetitions:
        every = [e for e in every if is_one_cycle(e)]
    return set(every)


def is_one_cycle(indices):
    at, steps = indices[0], 1
    while at != 0:
        at, steps = indices[at], steps + 1
    return steps == len(indices)


@pytest.mark.cases(1)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_each_is_as_likely(options):
    """Chi-squared of 100 draws for each outcome, which is above the limit once in a million."""
    outcomes = possible(3, **options)
    counts = Counter(drawn(range(3 * i, 3 * i + 3), **options) for i in range(40 * len(outcomes)))
    assert set(counts) <= outcomes
    found = sum((counts[outcome] - 40) ** 2 / 40 for outcome in outcomes)
    limits = {2: 24.0, 6: 35.9, 8: 39.7, 27: 76.0}  # for degrees of freedom of one less
    assert found < limits[len(outcomes)]


@pytest.mark.oracle
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_outcomes_are_dali_s(options):
    """All that DALI gives in 600 batches of 3 is what we take for possible."""
    dali = oracle.dali()
    pipe = dali.Pipeline(batch_size=3, num_threads=1, device_id=None, seed=3)
    with pipe:
        pipe.set_outputs(dali.fn.batch_permutation(**options))
    pipe.build()
    runs = [pipe.run()[0] for _ in range(600)]
    assert {tuple(int(out.at(i)) for i in range(3)) for out in runs} == possible(3, **options)
    assert np.array(runs[0].at(0)).dtype == np.int32


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_small_batches(options):
    assert drawn([], **options) == ()
    assert drawn([7], **options) == (0,)
    if "no_fixed_points" in options:
        assert drawn([7, 9], **options) == (1, 0)


def test_depends_on_the_samples_of_the_batch_alone():
    """Of the first half of a batch the order is what it is in the whole batch."""
    order = drawn(range(40))
    assert sorted(order) == list(range(40))
    assert drawn(range(20)) == tuple(i for i in order if i < 20)


def test_in_a_pipeline():
    """With permute_batch; the same again from a state, and with another seed another one."""

    def pipeline(seed):
        pipe = jdali.Pipeline(batch_size=8, num_threads=2, seed=seed)
        with pipe:
            data = fn.external_source(lambda i: [np.int32(8 * i + k) for k in range(8)])
            pipe.set_outputs(fn.permute_batch(data, indices=fn.batch_permutation(no_fixed_points=True)))
        return pipe

    def batches(pipe, count):
        return [[int(v) for v in pipe.run()[0].to_samples()] for _ in range(count)]

    with pipeline(1) as pipe, pipeline(1) as again, pipeline(2) as other:
        first = batches(pipe, 3)
        for i, batch in enumerate(first):
            assert sorted(batch) == list(range(8 * i, 8 * i + 8))
            assert all(batch[k] != 8 * i + k for k in range(8))
        assert [v % 8 for v in first[0]] != [v % 8 for v in first[1]]
        assert batches(again, 3) == first
        assert batches(other, 3) != first
