"""The random generators: distributions, ranges, types, and that nothing but the key decides a value."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from support import contract, oracle
from support.some import drawn

import jdali.dynamic as jd
import jdali.ops
from jdali import OperatorError, Pipeline, fn, types
from jdali._batches import BatchSpec
from jdali._errors import SampleError
from jdali._operators.call import CallRequest, plan_call
from jdali._operators.pure import pure_call
from jdali._operators.record import REGISTRY
from jdali.ops import random as _random  # noqa: F401 (registers the operators)

UNIFORM, NORMAL, COIN, BETA, CHOICE = (
    REGISTRY[f"random.{name}"] for name in ("uniform", "normal", "coin_flip", "beta", "choice")
)
KEY = contract.sample_keys(1)[0]
MANY = 100_000
INTEGERS = [np.uint8, np.int8, np.uint16, np.int16, np.int32, np.uint32]


def draw(op, *inputs, key=KEY, **args):
    return np.asarray(pure_call(op, list(inputs), args, key=key))


def fits(values, distribution):
    """The Kolmogorov-Smirnov test does not refuse the distribution (seeds are fixed)."""
    return stats.kstest(values, distribution.cdf).pvalue > 0.01


def as_likely(values, expected):
    """The chi-square test does not refuse the probabilities of 0, 1, ..."""
    counts = np.bincount(values, minlength=len(expected))
    used = np.asarray(expected) > 0
    assert not counts[~used].any()
    return stats.chisquare(counts[used], np.asarray(expected)[used] * len(values)).pvalue > 0.01


# --- distributions ------------------------------------------------------------------------------
def test_uniform_is_uniform():
    values = draw(UNIFORM, shape=MANY)
    assert values.dtype == np.float32
    assert fits(values, stats.uniform(-1, 2))
    assert fits(draw(UNIFORM, shape=MANY, range=(3.0, 3.5)), stats.uniform(3, 0.5))
    assert -1 <= values.min() < -0.9999
    assert 0.9999 < values.max() < 1


def test_neighbours_and_draws_are_independent():
    values = draw(UNIFORM, shape=(MANY // 2, 2))
    assert abs(np.corrcoef(values.T)[0, 1]) < 0.01
    counts, *_ = np.histogram2d(*values.T, bins=8)
    assert stats.chisquare(counts.ravel()).pvalue > 0.01


def test_uniform_never_gives_the_end():
    # Two floats apart: half of the sums begin + u * (end - begin) would be rounded up to the end.
    end = np.nextafter(np.float32(1), np.float32(2))
    assert set(draw(UNIFORM, shape=1000, range=(1.0, float(end)))) == {1.0}


def test_uniform_over_listed_values():
    values = draw(UNIFORM, shape=MANY, values=[0.0, 1.0, 2.0])
    assert as_likely(values.astype(int), [1 / 3] * 3)
    assert set(draw(UNIFORM, shape=100, values=[5.5, -7.5], dtype=types.INT32)) == {6, -8}


def test_integers_of_a_range():
    """The ends come half as often, as in DALI; a fraction of the range counts."""
    assert as_likely(draw(UNIFORM, shape=MANY, range=(0.0, 5.0), dtype=types.INT32), [0.1, *[0.2] * 4, 0.1])
    assert as_likely(draw(UNIFORM, shape=MANY, range=(0.5, 2.25), dtype=types.INT32), [0, 4 / 7, 3 / 7])


@pytest.mark.oracle
def test_integers_of_a_range_in_dali():
    args = {"range": [0.0, 5.0], "shape": [MANY], "dtype": types.INT32, "seed": 7}
    ((values,),) = oracle.run("random.uniform", [], args)
    assert as_likely(values, [0.1, *[0.2] * 4, 0.1])


def test_normal_is_normal():
    assert fits(draw(NORMAL, shape=MANY), stats.norm)
    assert fits(draw(NORMAL, shape=MANY, mean=5.0, stddev=0.1), stats.norm(5, 0.1))
    assert fits(draw(NORMAL, shape=MANY, mean=5.0, stddev=-2.0), stats.norm(5, 2))
    assert set(draw(NORMAL, shape=10, mean=2.0, stddev=0.0)) == {2.0}


@pytest.mark.parametrize("probability", [0.5, 0.1, 0.999])
def test_coin_flip_has_its_probability(probability):
    values = draw(COIN, shape=MANY, probability=probability)
    assert values.dtype == np.int32
    assert as_likely(values, [1 - probability, probability])


@pytest.mark.parametrize(("probability", "value"), [(0.0, 0), (-0.5, 0), (1.0, 1), (1.5, 1)])
def test_a_sure_coin(probability, value):
    assert set(draw(COIN, shape=10_000, probability=probability)) == {value}


@pytest.mark.timeout(120, method="thread")  # a loop in a compiled program does not look at signals
@pytest.mark.parametrize("alpha", [np.nan, -1.0, 0.0])
def test_beta_of_what_is_no_parameter_is_nan(alpha):
    """Where it cannot be refused: computed by the program that draws."""
    draw_one = jax.jit(lambda a: pure_call(BETA, [], {"alpha": a, "shape": (4,)}, key=KEY))
    assert np.isnan(draw_one(jnp.float32(alpha))).all()
    assert ((draw_one(jnp.float32(2)) > 0) & (draw_one(jnp.float32(2)) < 1)).all()


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.5, 2.0), (5.0, 0.7), (20.0, 30.0)])
def test_beta_is_beta(alpha, beta):
    values = draw(BETA, shape=20_000, alpha=alpha, beta=beta)
    assert fits(values, stats.beta(alpha, beta))
    assert values.min() >= 0
    assert values.max() <= 1


def test_choice_without_and_with_probabilities():
    assert as_likely(draw(CHOICE, np.int32(5), shape=MANY), [0.2] * 5)
    p = [0.0, 0.3, 0.0, 0.6, 0.1, 0.0]
    assert as_likely(draw(CHOICE, np.int32(6), shape=MANY, p=p), p)
    letters = np.array([10, 20, 30], np.uint8)
    values = draw(CHOICE, letters, shape=MANY, p=[0.2, 0.3, 0.5])
    assert values.dtype == np.uint8
    assert as_likely(values // 10 - 1, [0.2, 0.3, 0.5])


def test_choice_of_a_large_range_reaches_all_of_it():
    values = draw(CHOICE, np.uint32(4_000_000_000), shape=MANY)
    assert fits(values, stats.uniform(0, 4e9))


def test_choice_of_rows():
    rows = np.arange(12, dtype=np.float32).reshape(3, 4)
    values = draw(CHOICE, rows, shape=(2, 5))
    assert values.shape == (2, 5, 4)
    assert {tuple(row) for row in values.reshape(-1, 4)} == {tuple(row) for row in rows}


# --- types --------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_rounded_and_saturated(dtype):
    values = draw(UNIFORM, shape=MANY, range=(-1.5, 2.5), dtype=dtype)
    low = 0 if np.dtype(dtype).kind == "u" else -2  # -1.5 itself, one draw in 2**23, rounds away
    assert values.dtype == dtype
    assert set(values.tolist()) - {-2} == set(range(low, 4)) - {-2, 3}
    if low == 0:
        assert as_likely(values, [0.5, 0.25, 0.25])
    far = draw(NORMAL, shape=1000, stddev=1e16, dtype=dtype)
    assert set(far.tolist()) == {np.iinfo(dtype).min, np.iinfo(dtype).max}


def test_every_type_of_a_coin():
    for dtype in (np.bool_, np.uint8, np.int32, np.float32):
        values = draw(COIN, shape=100, dtype=dtype)
        assert values.dtype == dtype
        assert set(values.tolist()) == {0, 1}


def test_64_bit_types():
    every = (UNIFORM, np.int64), (NORMAL, np.float64), (COIN, np.uint64), (BETA, np.float64)
    for op, dtype in drawn(every, 2, lambda one: one[0].name):
        (values,) = contract.check_random(op, args={"dtype": dtype, "shape": 3}, batch_size=1, x64=True)
        assert values[0].dtype == dtype


# --- shapes -------------------------------------------------------------------------------------
GENERATORS = [UNIFORM, NORMAL, COIN, BETA]


@pytest.mark.exhaustive  # laws/test_every_operator has it of every operator
@pytest.mark.parametrize("op", GENERATORS, ids=lambda op: op.name)
def test_values_do_not_depend_on_padding(op):
    (planes,) = contract.check_random(op, per_sample={"shape": [(2, 3), (1, 5)]}, batch_size=2)
    assert [v.shape for v in planes] == [(2, 3), (1, 5)]
    assert draw(op, shape=0).shape == (0,)


def test_scalars_and_shapes_like_an_input():
    (scalars,) = contract.check_random(UNIFORM)
    assert [v.shape for v in scalars] == [()] * 3
    like = [[np.zeros((2, 3), np.uint8), np.zeros((5, 1), np.uint8)]]
    (values,) = contract.check_random(NORMAL, like, layout="HW")
    assert [v.shape for v in values] == [(2, 3), (5, 1)]
    contract.check_random(BETA, per_sample={"alpha": [0.3, 2.0, 1.0]})


@pytest.mark.exhaustive  # laws/test_every_operator has it of every operator
def test_choice_does_not_depend_on_padding():
    ragged = [np.arange(6, dtype=np.int32), np.arange(2, dtype=np.int32), np.arange(3, dtype=np.int32)]
    contract.check_random(CHOICE, [ragged])
    contract.check_random(CHOICE, [ragged], {"shape": (2, 3)}, pad=2)
    contract.check_random(CHOICE, [[np.int32(n) for n in (1, 7, 3)]], {"shape": 5})
    rows = [np.arange(n * 8, dtype=np.float32).reshape(n, 8) for n in (4, 2)]
    contract.check_random(CHOICE, [rows, [np.zeros(3), np.zeros(2)]])


P = [(0.5, 0.5), (0.0, 0.25, 0.75)]
# Of scalars, vectors and probabilities for each sample: those that DALI takes, and those it does not.
FITTING = [(2, P[0]), ([7, 8], P[0]), ([[7, 8], [7, 8, 9]], P)]
NOT_FITTING = [(5, P[0]), (1, P[0]), ([7, 8, 9], P[0]), (2, P), ([[7, 8], [7, 8]], P), (0, None), (-1, None)]


@pytest.mark.oracle
@pytest.mark.parametrize(("a", "p"), FITTING + NOT_FITTING, ids=str)
def test_one_probability_for_each_element(a, p):
    """A constant number n, or the elements, of all samples or of each; draws only of what has a probability."""
    fits_dali = (a, p) in FITTING

    def draws(fn, pipe):
        def each(values, dtype):
            return fn.external_source([[np.array(v, dtype) for v in values]], batch=True, cycle=True)

        with pipe:
            probabilities = each(p, np.float32) if p is P else p
            elements = a if isinstance(a, int) else each(a if p is P else [a, a], np.int32)
            pipe.set_outputs(fn.random.choice(elements, p=probabilities, shape=[9]))
        pipe.build()
        output = pipe.run()[0]
        return [np.array(output.at(i)) for i in range(2)]

    dali = oracle.dali()
    theirs = pytest.importorskip("nvidia.dali.fn")
    pipes = [(theirs, dali.Pipeline(batch_size=2, num_threads=1, device_id=None, seed=1))]
    pipes.append((fn, Pipeline(batch_size=2, num_threads=1, seed=1)))
    for functions, pipe in pipes:
        if fits_dali:
            for i, sample in enumerate(draws(functions, pipe)):
                probabilities = p[i] if p is P else p
                possible = np.arange(a) if isinstance(a, int) else np.array(a[i] if p is P else a)
                assert set(sample.tolist()) <= set(possible[np.array(probabilities) > 0].tolist())
        else:
            with pytest.raises(RuntimeError, match="expected|must be one prob|elements to choose|positive"):
                draws(functions, pipe)
    pipes[1][1].close()


def test_number_of_probabilities_outside_of_a_pipeline():
    with pytest.raises(OperatorError, match='Argument "p" expected shape 5 but got 2 values'):
        jd.random.choice(5, p=P[0])
    with pytest.raises(SampleError, match='Argument "p" expected shape 5 but got 2 values'):
        jdali.ops.random.choice(jax.random.key(0), 5, p=P[0])
    with pytest.raises(SampleError, match='Argument "p" expected shape 5 but got 2 values'):
        jax.jit(lambda p: jdali.ops.random.choice(jax.random.key(0), 5, p=p))(np.float32(P[0]))


def test_arguments_may_differ_by_sample():
    ranges = [(0.0, 1.0), (5.0, 6.0), (-3.0, -2.0)]
    (values,) = contract.check_random(UNIFORM, args={"shape": 50}, per_sample={"range": ranges})
    for sample, (low, high) in zip(values, ranges, strict=True):
        assert low <= sample.min() < sample.max() < high
    (flips,) = contract.check_random(COIN, per_sample={"probability": [0.0, 1.0, 0.0]})
    assert [int(v) for v in flips] == [0, 1, 0]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args", [{}, {"shape": 3}, {"shape": [2, 2]}, {"shape": []}, {"shape": [0]}], ids=str
)
def test_shapes_and_types_are_as_in_dali(args):
    for op in GENERATORS:
        ((want,),) = oracle.run(op.name, [], args)
        got = draw(op, **args)
        assert (got.shape, got.dtype) == (want.shape, want.dtype), op.name
    for a in (np.int32(5), np.arange(4, dtype=np.uint8), np.ones((3, 2), np.float32)):
        ((want,),) = oracle.run("random.choice", [[a]], args)
        got = draw(CHOICE, a, **args)
        assert (got.shape, got.dtype) == (want.shape, want.dtype)


def test_layout_of_a_choice():
    def layout(ndim, name, **args):
        batch = BatchSpec(np.full((2, ndim), 3), np.uint8, name)
        return plan_call(CallRequest(CHOICE, [batch], args, batch_size=2)).outputs[0].layout

    assert layout(2, "XY") == "Y"
    assert layout(2, "XY", shape=[4]) == "XY"
    assert layout(1, "X", shape=[4, 4]) == ""
    assert layout(1, "X") == ""


# --- keys ---------------------------------------------------------------------------------------
def test_a_key_gives_the_same_values_again_and_another_key_others():
    keys = {
        (seed, stream, epoch, index): contract.sample_keys(2, seed, stream, epoch)[index]
        for seed in (1, 2) for stream in (1, 2) for epoch in (0, 1) for index in (0, 1)
    }  # fmt: skip
    drawn = {where: draw(UNIFORM, key=key, shape=8) for where, key in keys.items()}
    np.testing.assert_array_equal(drawn[1, 1, 0, 0], draw(UNIFORM, key=keys[1, 1, 0, 0], shape=8))
    assert len({v.tobytes() for v in drawn.values()}) == len(drawn)
    pooled = np.concatenate([draw(UNIFORM, key=key, shape=5000) for key in keys.values()])
    assert fits(pooled, stats.uniform(-1, 2))


def test_first_values_of_many_samples_are_independent():
    keys = contract.sample_keys(20_000)
    first = jax.vmap(lambda k: pure_call(UNIFORM, [], {}, key=k))(keys)
    assert fits(np.asarray(first), stats.uniform(-1, 2))
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 0.03


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_jit_vmap_and_grad():
    keys = contract.sample_keys(4)

    def numbers(key, mean):
        return pure_call(NORMAL, [], {"mean": mean, "shape": 3}, key=key)

    np.testing.assert_allclose(jax.jit(numbers)(keys[0], 2.0), numbers(keys[0], 2.0), rtol=1e-6)
    mapped = jax.vmap(numbers, (0, None))(keys, 2.0)
    np.testing.assert_allclose(mapped[3], numbers(keys[3], 2.0), rtol=1e-6)
    assert jax.grad(lambda m: numbers(keys[0], m).sum())(2.0) == 3


@pytest.mark.parametrize("op", GENERATORS, ids=lambda op: op.name)
def test_no_64_bit_value_appears_with_64_bit_types_enabled(op):
    with jax.enable_x64(True):
        text = str(jax.make_jaxpr(lambda k: pure_call(op, [], {"shape": (2, 2)}, key=k))(KEY))
        wide = str(jax.make_jaxpr(lambda k: pure_call(CHOICE, [jnp.int32(5)], {"p": [0.2] * 5}, key=k))(KEY))
    for name in ("f64[", "i64[", "u64["):
        assert name not in text
        assert name not in wide


# --- errors -------------------------------------------------------------------------------------
def test_wrong_arguments():
    with pytest.raises(ValueError, match=r"random.uniform: Invalid range \[2, 1\). It is empty"):
        draw(UNIFORM, range=(2.0, 1.0))
    with pytest.raises(ValueError, match=r"Argument .range. expected shape 2 but got 3 values"):
        draw(UNIFORM, range=(0.0, 1.0, 2.0))
    with pytest.raises(ValueError, match="values is empty"):
        draw(UNIFORM, values=[])
    with pytest.raises(ValueError, match='Providing argument "shape" is incompatible with providing a'):
        draw(UNIFORM, np.zeros(3), shape=2)
    with pytest.raises(SampleError, match="Input size less than zero not supported. Got shape 2 x -1"):
        draw(NORMAL, shape=(2, -1))
    with pytest.raises(SampleError, match="The `alpha` must be a positive float32, got `0` for sample at"):
        draw(BETA, alpha=0.0)
    with pytest.raises(TypeError, match="Data type uint8 is not supported. Supported types are:"):
        draw(BETA, dtype=np.uint8)
    with pytest.raises(TypeError, match="Data type float32 is not supported for 0D inputs. It must be"):
        draw(CHOICE, np.float32(3))
    with pytest.raises(SampleError, match="Expected positive number of elements for sampling, got: 0 for"):
        draw(CHOICE, np.zeros(0, np.int32))
    with pytest.raises(SampleError, match='Argument "p" expected shape 3 but got'):
        draw(CHOICE, np.zeros(3, np.int32), p=[0.5, 0.5])
    with pytest.raises(SampleError, match=r"Sum of probabilities must be 1.0, but got [0-9.]+ for sample: 0"):
        draw(CHOICE, np.int32(2), p=[0.5, 0.6])
    with pytest.raises(
        SampleError, match=r"Probabilities must be in range \[0, 1\], but got: -0.5 for sample: 0 at index 0"
    ):
        draw(CHOICE, np.int32(2), p=[-0.5, 1.5])
    with pytest.raises(TypeError, match=r"random.normal draws random values: pass a JAX key first"):
        pure_call(NORMAL, [], {})
