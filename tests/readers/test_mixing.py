"""Mixing through a buffer: the bounds that `mixed` states, how well it mixes, and that it never changes."""

import functools
import tracemalloc

import numpy as np
import pytest
from support import oracle, records

from jdali.readers.order import mixing as _mixing
from jdali.readers.order.epochs import Order
from jdali.readers.order.mixing import mixed, reach

WORD = (1 << 64) - 1


def listed(items, start=0, stop=None):
    return items.at(np.arange(start, len(items) if stop is None else stop))


def finalized(x):
    """The finalizer of SplitMix64, in plain integers."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & WORD
    return x ^ (x >> 31)


def by_moments(size, fill, row, width, *key):
    """The order once more, from the definition, item by item."""
    state = functools.reduce(lambda s, k: finalized(s ^ (k & WORD)), key, 0)
    moments = []
    for begin in range(0, size, row):
        # The last row is as long as the others, but its items from `size` on do not exist.
        words = [finalized(((begin + j) * 0x9E3779B97F4A7C15 + state) & WORD) & -row | j for j in range(row)]
        for stratum, word in enumerate(sorted(words)):
            item = begin + (word & (row - 1))
            low = (finalized(word ^ state) >> 32) * width  # in units of 2^-32
            moments.append(((item + stratum * width << 32) + low, item))
    return [item for _, item in sorted(moments) if item < size]


@pytest.mark.parametrize(
    ("fill", "row", "width"), [(2, 1, 2), (5, 1, 5), (33, 4, 11), (100, 8, 19), (1024, 32, 59)]
)
@pytest.mark.parametrize("size", [101, 4096, 4097, 9000])
def test_follows_from_its_key_for_ever(fill, row, width, size):
    assert reach(fill) == row * width
    if size > fill:
        assert listed(mixed(size, fill, 7, -3)).tolist() == by_moments(size, fill, row, width, 7, -3)


@pytest.mark.parametrize("fill", [1, 2, 3, 4, 7, 10, 16, 31, 32, 64, 200, 1000])
def test_bounds(fill):
    for size in sorted({1, 2, max(fill - 1, 1), fill, fill + 1, 2 * fill + 1, 4095, 4097, 6 * fill + 5}):
        for key in range(3):
            order = listed(mixed(size, fill, key, 9))
            positions = np.arange(size)
            assert (np.sort(order) == positions).all()
            # Taken from the front as far as needed, less what was given before.
            buffered = np.maximum.accumulate(order) + 1 - positions
            assert buffered.max() <= fill
            late = positions - order
            assert late.min() > -fill
            if fill < size:
                assert late.max() < reach(fill)
                assert fill <= reach(fill) < 2 * fill or fill == 1
    assert listed(mixed(5, 1, 0)).tolist() == [0, 1, 2, 3, 4]


def test_any_positions_may_be_asked_for():
    items = mixed(20_000, 50, 3)
    order = listed(items)
    positions = np.random.default_rng(0).permutation(20_000)[:500]
    np.testing.assert_array_equal(items.at(positions), order[positions])


@pytest.mark.parametrize("fill", [1, 2, 1024, 20_000])
def test_far_away_and_at_the_end(fill):
    size = 10**12
    items = mixed(size, fill, 1, 2)
    width = 2 * reach(fill) + 4096
    for start in (0, 4096 * 10**8 - width // 2, size - width):
        tracemalloc.start()
        part = listed(items, start, start + width)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2000 * 4096 + 400 * reach(fill)
        assert len(np.unique(part)) == width
        late = np.arange(start, start + width) - part
        assert -fill < late.min()
        assert late.max() < reach(fill)
        # Whoever is sure to be given here is.
        low = 0 if start == 0 else start + fill
        high = size if start + width == size else start + width - reach(fill)
        assert np.isin(np.arange(low, high), part).all()


def test_a_huge_buffer_is_as_good_as_a_large_one(monkeypatch):
    monkeypatch.setattr(_mixing, "_LARGEST_FILL", 100)
    assert listed(mixed(1000, 500, 4)).tolist() == listed(mixed(1000, 100, 4)).tolist()
    # Not if all fit into it: no trace of the old order is left.
    order = listed(mixed(1000, 1000, 4, 0))
    assert abs(np.corrcoef(np.arange(1000), order)[0, 1]) < 0.16  # five standard deviations


@pytest.mark.parametrize("fill", [100, 1024])
def test_mixes_well(fill):
    size = 60_000
    order, other = (listed(mixed(size, fill, 5, epoch)) for epoch in (0, 1))
    position = np.empty(size, np.int64)
    position[order] = np.arange(size)
    inner = slice(2 * fill, size - 2 * fill)
    late = (position - np.arange(size))[inner]
    # As far as the bounds let it: evenly over a width of `reach`.
    spread = reach(fill) / np.sqrt(12)
    assert abs(late.mean()) < 0.02 * fill
    assert spread * 0.98 < late.std() < spread * 1.02
    counts = np.histogram(late, 10, (-reach(fill) / 2, reach(fill) / 2))[0] / len(late)
    np.testing.assert_allclose(counts, 0.1, atol=0.012)
    # Correlations of 58,000 independent pairs: standard deviation 0.0042. Neighbours are in different strata,
    # which costs 1 / (m - 1) for m of them in a row, 8 and 32 here; no others depend on each other.
    for apart in (1, 2, 5):
        assert -1 / 7 - 0.02 < np.corrcoef(late[apart:], late[:-apart])[0, 1] < 0.02
    for apart in (32, 33, 100):
        assert abs(np.corrcoef(late[apart:], late[:-apart])[0, 1]) < 0.02
    # Within what may be in the buffer at once, the order is any: ranks do not follow from it.
    windows = order[: size // 50 * 50].reshape(-1, 50)
    ranks = windows.argsort(axis=1).argsort(axis=1)
    slope = np.corrcoef(np.tile(np.arange(50), len(ranks)), ranks.ravel())[0, 1]
    assert slope < 60 / fill  # 50 positions of some 2 · fill
    # Another epoch, another order.
    position_then = np.empty(size, np.int64)
    position_then[other] = np.arange(size)
    assert abs(np.corrcoef(late, (position_then - np.arange(size))[inner])[0, 1]) < 0.02


def epochs_of_dali(path, index, count, fill):
    import nvidia.dali
    import nvidia.dali.fn as fn

    pipe = nvidia.dali.Pipeline(batch_size=1, num_threads=1, device_id=None, seed=3)
    with pipe:
        pipe.set_outputs(
            fn.readers.mxnet(path=path, index_path=index, random_shuffle=True, initial_fill=fill)[1]
        )
    pipe.build()
    return np.array([int(np.array(pipe.run()[0].at(0))[0]) for _ in range(count)])


@pytest.mark.oracle
def test_as_far_as_dali(tmp_path):
    """How far records move: never further to the front than in DALI, and of the same order of magnitude."""
    oracle.dali()
    size, fill = 300, 32
    offsets = records.recordio(tmp_path / "a.rec", [records.image_record(b"x", [i]) for i in range(size)])
    index = records.index(tmp_path / "a.idx", enumerate(offsets))
    theirs = epochs_of_dali(str(tmp_path / "a.rec"), str(index), 2 * size, fill).reshape(2, size)
    mine = Order(size, random_shuffle=True, initial_fill=fill).take(2 * size).indices.reshape(2, size)
    spreads = []
    for epochs in (theirs, mine):
        late = np.arange(size) - epochs
        assert late.min() > -fill
        assert not np.array_equal(*epochs)
        spreads.append(np.sqrt((late**2).mean()))
    assert spreads[0] / 3 < spreads[1] < spreads[0] * 3
    # And with a buffer of one: as they lie.
    one = epochs_of_dali(str(tmp_path / "a.rec"), str(index), size, 1)
    assert one.tolist() == list(range(size))
    assert Order(size, random_shuffle=True, initial_fill=1).take(size).indices.tolist() == one.tolist()
