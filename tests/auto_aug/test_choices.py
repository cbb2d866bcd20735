"""Which augmentation, magnitude and sign a sample gets: how often, and from what it follows."""

from __future__ import annotations

import collections
import itertools
import math
from typing import Any

import numpy as np
import pytest

import jdali
from jdali import fn
from jdali.auto_aug.auto_augment import apply_auto_augment
from jdali.auto_aug.core import Policy, augmentation, select
from jdali.auto_aug.rand_augment import apply_rand_augment
from jdali.auto_aug.trivial_augment import apply_trivial_augment

BINS = 5


def spelled(data: Any, letter: int) -> Any:
    """What was applied, in the order of its application, as the digits of a number."""
    return data * 10 + letter


@augmentation
def one(data: Any, _: Any) -> Any:
    return spelled(data, 1)


@augmentation
def two(data: Any, _: Any) -> Any:
    return spelled(data, 2)


@augmentation
def three(data: Any, _: Any) -> Any:
    return spelled(data, 3)


@augmentation(mag_range=(1, BINS), randomly_negate=True)
def signed(data: Any, magnitude: Any) -> Any:
    return data + magnitude


@augmentation(mag_range=(1, BINS))
def unsigned(data: Any, magnitude: Any) -> Any:
    return data + 100 + magnitude


def drawn(
    function: Any, count: int, *, batch_size: int = 500, dtype: Any = np.float32, **options: Any
) -> list[Any]:
    """What a function of a batch of zeros makes of `count` samples, each a number."""

    @jdali.pipeline_def(batch_size=batch_size, num_threads=1, enable_conditionals=True, **options)
    def pipeline() -> Any:
        return function(fn.external_source(source=[np.zeros(batch_size, dtype)], cycle=True))

    pipe = pipeline()
    batches = [pipe.run()[0].as_array() for _ in range(-(-count // batch_size))]
    return np.concatenate(batches)[:count].tolist()


def check_counts(found: list[Any], expected: dict[Any, float]) -> None:
    """Raises unless each value comes up as often as its probability says, within five standard deviations.

    Chance alone would exceed that in one of 1.7 million counts; under a fixed seed a count never changes.
    """
    counts, total = collections.Counter(found), len(found)
    assert counts.keys() <= expected.keys()
    for value, probability in expected.items():
        deviation = math.sqrt(total * probability * (1 - probability))
        assert abs(counts[value] - total * probability) <= 5 * deviation, (value, counts[value])


@pytest.mark.parametrize("seed", [None, 3], ids=["the pipeline's seed", "a seed of its own"])
def test_trivial_augment_draws_augmentation_magnitude_and_sign_independently(seed: int | None) -> None:
    found = drawn(
        lambda data: apply_trivial_augment([signed, unsigned], data, num_magnitude_bins=BINS, seed=seed),
        4000, seed=11,
    )  # fmt: skip
    magnitudes = range(1, BINS + 1)
    expected = {sign * m: 1 / 4 / BINS for m in magnitudes for sign in (1.0, -1.0)}
    check_counts(found, expected | {100.0 + m: 1 / 2 / BINS for m in magnitudes})


@pytest.mark.parametrize("seed", [None, 3], ids=["the pipeline's seed", "a seed of its own"])
def test_rand_augment_draws_each_of_several_augmentations_independently(seed: int | None) -> None:
    found = drawn(
        lambda data: apply_rand_augment([one, two, three], data, n=3, m=0, seed=seed),
        4000, seed=12, dtype=np.int32,
    )  # fmt: skip
    words = [int("".join(word)) for word in itertools.product("123", repeat=3)]
    check_counts(found, dict.fromkeys(words, 1 / 27))


def test_rand_augment_gives_all_samples_one_magnitude_and_each_application_a_sign() -> None:
    found = drawn(
        lambda data: apply_rand_augment([signed], data, n=2, m=3, num_magnitude_bins=BINS), 2000, seed=13
    )
    check_counts(found, {8.0: 1 / 4, 0.0: 1 / 2, -8.0: 1 / 4})


def test_auto_augment_applies_one_sub_policy_with_the_probabilities_of_its_parts() -> None:
    policy = Policy("p", BINS, [
        [(one, 0.5, None), (two, 1.0, None)],
        [(three, 0.25, None)],
        [(two, 1.0, None), (two, 0.5, None), (one, 0.5, None)],
        [],
    ])  # fmt: skip
    found = drawn(lambda data: apply_auto_augment(policy, data), 6000, seed=14, dtype=np.int32)
    check_counts(found, {
        12: 1 / 8, 2: 1 / 8 + 1 / 16, 3: 1 / 16, 0: 3 / 16 + 1 / 4, 221: 1 / 16, 22: 1 / 16, 21: 1 / 16,
    })  # fmt: skip


def test_auto_augment_uses_the_magnitude_of_the_position_in_the_sub_policy() -> None:
    policy = Policy("p", BINS, [[(unsigned, 1.0, 4)], [(signed, 1, 2), (unsigned, 1, 0)]])
    found = drawn(lambda data: apply_auto_augment(policy, data), 2000, seed=15)
    check_counts(found, {105.0: 1 / 2, 104.0: 1 / 4, 98.0: 1 / 4})


@pytest.mark.cases(1)
@pytest.mark.parametrize("batch_size", [1, 4, 7])
def test_a_sample_gets_the_same_augmentations_in_any_batch(batch_size: int) -> None:
    def function(data: Any) -> Any:
        data = apply_rand_augment([one, two, three], data, n=2, m=0)
        return apply_trivial_augment([signed, unsigned], data, num_magnitude_bins=BINS)

    whole = drawn(function, 28, batch_size=28, seed=16)
    assert drawn(function, 28, batch_size=batch_size, seed=16) == whole
    assert len(set(whole)) > 10


def test_other_seeds_give_other_choices() -> None:
    def function(seed: int | None) -> Any:
        return lambda data: apply_rand_augment([one, two, three], data, n=3, m=0, seed=seed)

    by_pipeline = [drawn(function(None), 50, batch_size=50, seed=seed) for seed in (1, 2)]
    by_argument = [drawn(function(seed), 50, batch_size=50, seed=1) for seed in (1, 2)]
    again = drawn(function(1), 50, batch_size=50, seed=9)
    assert by_pipeline[0] != by_pipeline[1]
    assert by_argument[0] != by_argument[1]
    assert by_argument[0] == again


def test_two_calls_choose_independently() -> None:
    def function(data: Any) -> Any:
        return apply_rand_augment([one, two], apply_rand_augment([one, two], data, n=1, m=0), n=1, m=0)

    check_counts(drawn(function, 2000, seed=17, dtype=np.int32), dict.fromkeys([11, 12, 21, 22], 1 / 4))


def test_select_with_an_index_of_the_users() -> None:
    def function(data: Any) -> Any:
        index = fn.external_source(source=lambda i: np.int32(i.idx_in_epoch % 3), batch=False)
        return select([one, two, three], index, data)

    assert drawn(function, 7, batch_size=7, dtype=np.int32) == [1, 2, 3, 1, 2, 3, 1]
