"""The key of the pure functions that draw random values: first or by name, typed or not, missing or misplaced."""

from __future__ import annotations

import functools
import inspect
import itertools
import re

import jax
import numpy as np
import pytest
from ops.pure_calls import OPERATORS, eager, layout_of, one, public, samples
from ops.pure_cases import CASES, Case
from support.some import some

from jdali import ops
from jdali._operators.random_key import call_with_key

RANDOM = {op.name: op for op in OPERATORS.values() if op.random}
FIRST_CASES = {name: next(case for case in CASES if case.op == name) for name in RANDOM}
# Operators that compile quickly.
QUICK = [FIRST_CASES[name] for name in ("random.uniform", "noise.gaussian", "random.coin_flip")]
IMAGE = np.zeros((4, 5, 3), np.uint8)

each_case = pytest.mark.parametrize("case", FIRST_CASES.values(), ids=str)


def drawn(case: Case, *leading, **named) -> list[np.ndarray]:
    """What the first sample gives, with the key where the caller puts it."""
    sample = one(samples(case, 1), 0)
    return outputs_of(case, sample.inputs, sample.traced, *leading, **named)


def outputs_of(case: Case, inputs, traced, *leading, **named) -> list[np.ndarray]:
    out = public(case.op)(*leading, *inputs, **named, **case.args, **traced, **layout_of(case))
    return list(out) if isinstance(out, tuple) else [out]


def same(got, want) -> None:
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(g, w)


def computed(function, *operands) -> str:
    """What a call computes, in words: two calls that say the same give the same."""
    return str(jax.make_jaxpr(function)(*operands))


@pytest.mark.cases(5)
@each_case
def test_a_key_by_name_is_the_key_in_front(case: Case):
    key = samples(case, 1).key[0]
    first = computed(lambda key: drawn(case, key), key)
    assert "random" in first or "threefry" in first
    assert computed(lambda key: drawn(case, key=key), key) == first


@each_case
def test_old_style_keys_are_the_typed_ones(case: Case):
    sample = one(samples(case, 1), 0)
    words = jax.random.key_data(sample.key)
    given = functools.partial(outputs_of, case, sample.inputs, sample.traced)
    typed = computed(lambda words: given(jax.random.wrap_key_data(words)), words)
    assert computed(given, words) == typed
    assert computed(lambda words: given(key=words), words) == typed


@pytest.mark.cases(1)
@some("case, of_numpy", itertools.product(QUICK, [True, False]), ids=str)
def test_old_style_keys_outside_of_a_program(case: Case, of_numpy: bool):
    words = jax.random.key_data(samples(case, 1).key[0])
    words = np.asarray(words) if of_numpy else words
    same(drawn(case, words), eager(case)[0])
    same(drawn(case, key=words), eager(case)[0])


def test_old_style_keys_of_jax_are_taken():
    want = ops.random.uniform(jax.random.key(3), shape=(4,))
    same([ops.random.uniform(jax.random.PRNGKey(3), shape=(4,))], [want])


@some("case, typed", itertools.product(QUICK, [True, False]), ids=str)
def test_vmap_over_a_batch_of_keys(case: Case, typed: bool):
    """Of the other operators `test_pure_functions` has it."""
    stacked = samples(case, 2)
    keys = stacked.key if typed else jax.random.key_data(stacked.key)
    call = jax.jit(jax.vmap(lambda key, inputs, traced: outputs_of(case, inputs, traced, key=key)))
    got = call(keys, stacked.inputs, stacked.traced)
    for i in range(2):
        for g, w in zip(got, eager(case)[i], strict=True):
            # A program may fuse what the plain call does step by step: some ulps, or a rounding of an integer.
            np.testing.assert_allclose(
                np.asarray(g[i], np.float64), np.asarray(w, np.float64), rtol=1e-5, atol=1e-5
            )


@each_case
def test_a_call_without_a_key_says_where_it_goes(case: Case):
    first = f"{case.op} draws random values: pass a JAX key first, ops.{case.op}(key"
    with pytest.raises(TypeError, match=re.escape(first)):
        drawn(case)
    with pytest.raises(TypeError, match=re.escape(first)):
        drawn(case, 42)


@pytest.mark.parametrize("name", RANDOM)
def test_the_call_in_the_message_is_one(name: str):
    """With the inputs that the signature wants, by their names."""
    parameters = inspect.signature(public(name)).parameters.values()
    needed = [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY and p.default is p.empty]
    assert call_with_key(RANDOM[name]) == f"ops.{name}({', '.join(needed)})"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ops.noise.gaussian(IMAGE), r"ops\.noise\.gaussian\(key, data\), or key=.*argument is an array, uint8 \["),
        (lambda: ops.noise.gaussian(IMAGE, jax.random.key(0)), "the key is argument 2$"),
        (lambda: ops.noise.gaussian(IMAGE, key=IMAGE), r"key= is an array, uint8 \[4, 5, 3\], which is not a key$"),
        (lambda: ops.noise.gaussian(IMAGE, key=3), "key= is 3, which is not a key$"),
        (lambda: ops.random.normal(), r"^random\.normal draws .* ops\.random\.normal\(key\), or key=.*the call has none"),
        (lambda: ops.noise.gaussian(jax.random.key(0), IMAGE, key=jax.random.key(1)), "given twice, first and as key="),
        (lambda: ops.random.uniform(jax.random.key(0), key=jax.random.key(1)), "given twice, first and as key="),
        (lambda: ops.noise.gaussian(jax.random.split(jax.random.key(0), 3), IMAGE),
         "got a batch of 3 keys, and a call is for one sample, which has one key: .* jax.vmap"),
        (lambda: ops.noise.gaussian(jax.random.split(jax.random.PRNGKey(0), 3), IMAGE), "got a batch of 3 keys"),
        (lambda: jax.jit(ops.noise.gaussian)(IMAGE), "its first argument is an array"),
    ],
)  # fmt: skip
def test_missing_and_misplaced_keys(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_two_words_beside_a_key_are_data():
    """What looks like an old-style key may be the input of a call with a key by name."""
    words = np.array([1, 2], np.uint32)
    key = jax.random.key(0)
    same([ops.noise.gaussian(words, key=key)], [ops.noise.gaussian(key, words)])


@pytest.mark.parametrize("name", RANDOM)
def test_the_docs_say_that_a_key_comes_first(name: str):
    doc = public(name).__doc__
    assert re.search(r"\nArgs:\n    key: JAX key", doc), doc
    assert next(iter(inspect.signature(public(name)).parameters)) == "key"


def test_functions_that_draw_nothing_have_no_key():
    with pytest.raises(TypeError, match="key"):
        ops.flip(IMAGE, key=jax.random.key(0))
    assert "JAX key" not in ops.flip.__doc__


def test_other_kinds_of_keys_draw_as_well():
    key = jax.random.key(7, impl="rbg")
    got = np.asarray(ops.noise.gaussian(key, np.zeros(1000, np.float32)))
    assert abs(got.mean()) < 0.2
    assert abs(got.std() - 1) < 0.2
