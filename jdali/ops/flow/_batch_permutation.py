from __future__ import annotations

import jax
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._numerics.random import SampleKeys
from jdali._numerics.threefry import Words, threefry
from jdali._operators.record import PerSample, Static, host_operator


def setup(*, allow_repetitions: bool, no_fixed_points: bool, keys: SampleKeys, batch_size: int) -> Plan:
    high, low = keys.map(_word_pair)
    draws = (high.astype(np.uint64) << np.uint64(32) | low) / 2.0**64
    indices = _any_indices(draws, no_fixed_points) if allow_repetitions else _permuted(draws, no_fixed_points)
    scalars = BatchSpec(np.zeros((batch_size, 0), np.int64), np.dtype(np.int32))
    return Plan((scalars,), {"_index": indices.astype(np.int32)})


def _word_pair(key: Array) -> Words:
    """Draws 64 random bits from a key. With so many bits, two samples of a batch almost never draw the same."""
    words = jax.random.key_data(key)
    return threefry(words[0], words[1], np.uint32(0), np.uint32(0))


def _permuted(draws: np.ndarray, no_fixed_points: bool) -> np.ndarray:
    """Sorts sample indices by their draws. With `no_fixed_points`, returns each index's successor in this order."""
    order = np.argsort(draws, kind="stable")
    if not no_fixed_points:
        return order
    following = np.empty_like(order)
    following[order] = np.roll(order, -1)
    return following


def _any_indices(draws: np.ndarray, no_fixed_points: bool) -> np.ndarray:
    """Chooses an index for each sample, independently. With `no_fixed_points`, no sample gets its own index."""
    count = len(draws)
    if not no_fixed_points or count < 2:
        return np.floor(draws * count)
    return (np.arange(count) + 1 + np.floor(draws * (count - 1))) % count


@host_operator(setup=setup, devices=("cpu",), source="operators/generic/permute_batch/batch_permutation.cc")
def batch_permutation(
    key: object,
    /,
    *,
    allow_repetitions: Static[bool] = False,
    no_fixed_points: Static[bool] = False,
    _index: PerSample[int | None] = None,
) -> np.ndarray:
    """Draws indices of samples, for `permute_batch`.

    All permutations are equally likely. Each sample draws a number with its own key, and the permutation is the
    order of these numbers. The permutation depends only on the samples in the batch.

    Args:
        allow_repetitions: draw each index independently, so that samples may repeat or be missing.
        no_fixed_points: no sample gets its own index; without repetitions, the permutation is then one cycle, and all
            cycles are equally likely. Without effect in a batch of one.

    Returns: int32, a scalar for each sample, from 0 to the batch size - 1.

    Parity: random numbers differ from DALI's, but have the same distributions.

    Example: order = fn.batch_permutation()
    """
    return np.asarray(_index, np.int32)
