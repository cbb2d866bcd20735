"""Random bits of programs: those of JAX, however they are compiled."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jdali
from jdali import fn
from jdali._numerics import random as _random
from jdali._numerics import threefry as _threefry
from jdali._numerics.exact import MINUS_ZERO, exact
from jdali._numerics.random import SampleKeys, element_bits, seed_words

KEYS = jax.random.split(jax.random.key(5), 6)
WORDS = tuple(np.moveaxis(np.asarray(jax.random.key_data(KEYS)), -1, 0))


def same(got, want):
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


def stacked(words):
    return np.stack(words, axis=-1)


@pytest.fixture
def uses(monkeypatch):
    """How often the rounds were written out, one entry each: the number of elements."""
    sizes, original = [], _threefry.threefry_rounds

    def counted(*operands):
        sizes.append(operands[0].size)
        return original(*operands)

    monkeypatch.setattr(_threefry, "threefry_rounds", counted)
    return sizes


# --- the functions of JAX -------------------------------------------------------------------------------
def test_folds_and_splits():
    folded = _threefry.fold_in(WORDS, np.uint32(9))
    same(stacked(folded), jax.random.key_data(jax.vmap(lambda k: jax.random.fold_in(k, 9))(KEYS)))
    same(
        stacked(_random.split(WORDS, 3)),
        jax.random.key_data(jax.vmap(lambda k: jax.random.split(k, 3))(KEYS)),
    )


def test_bits_and_uniform_numbers():
    same(_random.bits(WORDS), jax.vmap(jax.random.bits)(KEYS))
    low, high = np.float32(-1.5), np.float32(2.25)
    want = jax.vmap(lambda k: jax.random.uniform(k, (4,), jnp.float32, low, high))(KEYS)
    same(_random.uniform(WORDS, 4, low, high), want)


def test_integers():
    limits = np.int32([1, 2, 255, 65536, 65537, 2**31 - 1])
    want = jax.vmap(lambda key, limit: jax.random.randint(key, (), 0, limit, jnp.int32))(KEYS, limits)
    same(_random.integer(WORDS, limits), want)


def test_keys_or_counters_alone_may_differ_by_sample():
    extents = np.int32([[4, 3], [2, 2]])
    by_extent = jax.vmap(lambda extent: element_bits(KEYS[0], extent, (4, 3)))(extents)
    by_key = jax.vmap(lambda key: element_bits(key, jnp.asarray(extents[0]), (4, 3)))(KEYS)
    both = jax.vmap(lambda key, extent: element_bits(key, extent, (4, 3)))(KEYS[:2], extents)
    same(by_extent[0], both[0])
    same(by_key[0], both[0])
    same(by_extent[1][:2, :2].reshape(-1), by_extent[0].reshape(-1)[:4])


# --- programs -------------------------------------------------------------------------------------------
def draws(words, limit):
    """Bits wherever a program can have them, some made with others as keys."""
    first = [_random.split(words, count) for count in (2, 3)]
    second = jax.jit(lambda: _random.bits(first[0]))()

    def more(state):
        count, total = state
        return count + 1, total ^ _random.bits((total, words[1])) ^ _random.bits((words[0], total))

    _, third = lax.while_loop(lambda state: state[0] < limit, more, (0, words[0]))
    return {
        "splits": first,
        "of a split": second,
        "in a loop": third,
        "in a branch": lax.cond(limit > 2, lambda: _random.bits(words), lambda: words[0]),
        "of one platform": lax.platform_dependent(cpu=lambda: _random.bits(words), default=lambda: words[0]),
    }


@pytest.mark.cases(1)
@pytest.mark.parametrize("most", [0, 14, 1 << 14])
def test_the_bits_do_not_depend_on_what_is_drawn_together(most, monkeypatch):
    monkeypatch.setattr(_threefry, "MOST_TOGETHER", most)
    got = jax.jit(exact(draws, MINUS_ZERO, "cpu"))(WORDS, 3)
    want = jax.jit(draws)(WORDS, 3)
    jax.tree.map(same, got, want)


def test_draws_that_do_not_depend_on_each_other_are_one(uses):
    def function(words):
        first = [_random.split(words, count) for count in (1, 2, 3)]
        return [_random.bits(keys) for keys in first]

    jax.make_jaxpr(exact(function, MINUS_ZERO, "cpu"))(WORDS)
    assert uses == [36, 36]


def test_large_draws_are_made_apart(uses, monkeypatch):
    monkeypatch.setattr(_threefry, "MOST_TOGETHER", 12)
    jax.make_jaxpr(exact(lambda words: [_random.split(words, n) for n in (1, 2, 3)], MINUS_ZERO, "cpu"))(
        WORDS
    )
    assert sorted(uses) == [18, 18]


@pytest.mark.parametrize("platform", ["cpu", "gpu", "tpu"])
def test_on_every_platform(uses, platform):
    jax.make_jaxpr(exact(_random.bits, MINUS_ZERO, platform))(WORDS)
    assert uses


# --- pipelines ------------------------------------------------------------------------------------------
def random_program(operators):
    """A pipeline with this many random operators of several kinds."""
    pipe = jdali.Pipeline(batch_size=3, num_threads=1, seed=4)
    with pipe:
        values = []
        for i in range(operators):
            values.append(fn.random.coin_flip() if i % 3 else fn.random.normal(shape=[1 + i]))
        pipe.set_outputs(*values)
    return pipe


def test_a_program_grows_by_no_draw_for_another_operator(uses):
    found = []
    for operators in (2, 4):
        uses.clear()
        with random_program(operators) as pipe:
            pipe.run()
        found.append(len(uses))
    # Stream, epoch, and low and high word of the index are folded into keys; then all operators draw.
    assert found == [5, 5]


def drawn_for(key, limit):
    return _random.integer(tuple(jax.random.key_data(key)), limit)


def test_values_of_samples_are_the_same_for_any_number_and_compiled_for_few_numbers():
    def run(count):
        keys = SampleKeys(seed_words(3), 2, np.zeros(count, np.uint32), np.arange(count))
        return keys.map(drawn_for, np.full(count, 1000, np.int32))

    whole = run(8)
    assert len(set(whole.tolist())) > 1
    for count in (0, 5, 6, 7):
        same(run(count), whole[:count])
    assert _random._mapped(drawn_for)._cache_size() == 2  # for 0 and for 8 samples
