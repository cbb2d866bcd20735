"""The noise operators: distributions, rounding, which pixels change together, independence of padding."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from support import contract, oracle
from support.data import image

from jdali._operators.pure import pure_call
from jdali.ops.noise._gaussian import gaussian
from jdali.ops.noise._salt_and_pepper import salt_and_pepper
from jdali.ops.noise._shot import shot

KEY = contract.sample_keys(1)[0]
SIDE = 200
OPS = [gaussian, salt_and_pepper, shot]


def apply(op, data, layout="", **args):
    return np.asarray(contract.pure(op, [data], args, key=KEY, layout=layout))


def flat(value, dtype=np.float32):
    return np.full((SIDE, SIDE), value, dtype)


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    ("op", "dtype"),
    [(gaussian, np.uint8), (salt_and_pepper, np.int16), (salt_and_pepper, np.float32), (shot, np.uint8)],
)
def test_noise_does_not_depend_on_padding(op, dtype):
    samples = [image(4, 3, 3, dtype), image(1, 5, 3, dtype, 1)]
    (results,) = contract.check_random(op, [samples], layout="HWC", compiled_atol=1e-5)
    assert all(r.dtype == dtype and r.shape == s.shape for r, s in zip(results, samples, strict=True))


def test_gaussian_noise_is_normal():
    noise = apply(gaussian, flat(3), mean=1.0, stddev=2.0) - 3
    assert stats.kstest(noise.ravel(), stats.norm(1, 2).cdf).pvalue > 0.01


def test_gaussian_noise_is_rounded_and_saturated():
    values = apply(gaussian, flat(30, np.uint8), stddev=0.3)
    outside = 2 * stats.norm.sf(0.5 / 0.3)  # of the interval that rounds to 30
    counts = [(values == v).sum() for v in (29, 30, 31)]
    expected = np.array([outside / 2, 1 - outside, outside / 2]) * SIDE**2
    assert stats.chisquare(counts, expected * sum(counts) / expected.sum()).pvalue > 0.01
    assert sum(counts) == SIDE**2
    assert set(np.unique(apply(gaussian, flat(128, np.uint8), stddev=1e12))) == {0, 255}


def test_salt_and_pepper_have_their_probabilities():
    values = apply(salt_and_pepper, np.full((SIDE, SIDE, 1), 7, np.int16), prob=0.3, salt_vs_pepper=0.2)
    counts = [(values == v).sum() for v in (-32768, 7, 32767)]
    assert stats.chisquare(counts, np.array([0.24, 0.7, 0.06]) * SIDE**2).pvalue > 0.01


@pytest.mark.parametrize(
    ("dtype", "values"), [(np.float32, (-1, 1)), (np.uint8, (0, 255)), (np.int8, (-128, 127))]
)
def test_salt_and_pepper_are_the_limits_of_the_type(dtype, values):
    assert set(np.unique(apply(salt_and_pepper, np.zeros((99, 2), dtype), prob=1.0))) == set(values)


def test_given_salt_and_pepper_are_rounded_and_saturated():
    data = np.ones((99, 2), np.uint8)
    values = apply(salt_and_pepper, data, prob=1.0, salt_val=2.5, pepper_val=-2.0)
    assert set(np.unique(values)) == {0, 3}


@pytest.mark.parametrize(
    ("layout", "together"), [("HWC", [2]), ("CHW", [0]), ("", [2]), ("DHW", []), ("HCW", [1])]
)
def test_channels_of_a_pixel_change_together(layout, together):
    data = np.full((20, 20, 20), 9, np.uint8)
    values = apply(salt_and_pepper, data, layout, prob=0.5)
    assert [axis for axis in range(3) if np.ptp(values, axis=axis).max() == 0] == together
    values = apply(salt_and_pepper, data, layout, prob=0.5, per_channel=True)
    assert all(np.ptp(values, axis=axis).max() > 0 for axis in range(3))


@pytest.mark.oracle
@pytest.mark.parametrize("layout", ["HWC", "CHW", ""])
def test_channels_change_together_as_in_dali(layout):
    data = np.full((20, 20, 20), 9, np.uint8)
    ((want,),) = oracle.run("noise.salt_and_pepper", [[data]], {"prob": 0.5}, layout=layout)
    got = apply(salt_and_pepper, data, layout, prob=0.5)
    assert [np.ptp(got, axis=a).max() for a in range(3)] == [np.ptp(want, axis=a).max() for a in range(3)]


noisy_picture = jax.jit(lambda data, factor: pure_call(shot, [data], {"factor": factor}, key=KEY))


def noisy(mean, factor=1.0):
    """Shot noise by one program for all means and factors."""
    return np.asarray(noisy_picture(flat(mean), np.float32(factor)))


@pytest.mark.parametrize("mean", [0.05, 1, 9.99, 10, 12, 50, 1000, 1e6])
def test_shot_noise_is_poisson(mean):
    values = noisy(mean).ravel()
    assert (values == np.floor(values)).all()
    # Made continuous: a uniform number within each step of the distribution.
    step = np.random.default_rng(0).uniform(size=values.size) * stats.poisson.pmf(values, mean)
    assert stats.kstest(stats.poisson.cdf(values, mean) - step, "uniform").pvalue > 0.01


@pytest.mark.parametrize("mean", [0.5, 9, 11, 30])
def test_shot_noise_has_the_probability_of_each_number_of_events(mean):
    values = noisy(mean).ravel().astype(int)
    low, high = stats.poisson.ppf([1e-3, 1 - 1e-3], mean).astype(int)
    counts = np.bincount(np.clip(values, low, high) - low, minlength=high - low + 1)
    expected = stats.poisson.pmf(np.arange(low, high + 1), mean)
    expected[0], expected[-1] = stats.poisson.cdf(low, mean), stats.poisson.sf(high - 1, mean)
    assert stats.chisquare(counts, expected * values.size).pvalue > 0.01
    assert abs(values.mean() - mean) < 4 * np.sqrt(mean) / SIDE
    assert abs(values.var() / mean - 1) < 4 * np.sqrt(2 + 1 / mean) / SIDE  # its own deviation, four times


@pytest.mark.parametrize("mean", [2.0**21, 1e9, 1e12])
def test_shot_noise_of_many_events_is_normal(mean):
    """DALI never comes back from 2**32 events on."""
    values = noisy(mean).ravel().astype(np.float64)
    apart = np.spacing(np.float32(mean))  # float32 holds no numbers in between
    values += np.random.default_rng(0).uniform(-0.5, 0.5, values.size) * apart
    assert stats.kstest(values, stats.norm(np.float32(mean), np.sqrt(mean)).cdf).pvalue > 0.01


def test_shot_noise_of_more_events_than_floats_can_tell_apart_is_nothing():
    np.testing.assert_array_equal(noisy(1e30), flat(1e30))
    np.testing.assert_array_equal(noisy(5, 1e-30), flat(5))


# A loop in a compiled program does not look at signals, so a thread ends the run.
ends = pytest.mark.timeout(120, method="thread")
NO_NUMBERS = np.float32([np.nan, np.inf, -np.inf, -5, -0.0, 0])


@ends
@pytest.mark.oracle
def test_shot_noise_of_what_is_no_number_is_dalis():
    ((want,),) = oracle.run("noise.shot", [[NO_NUMBERS]], {"factor": 1.0})
    np.testing.assert_array_equal(apply(shot, NO_NUMBERS, factor=1.0), want)


@ends
@pytest.mark.parametrize("factor", [np.nan, np.inf, -np.inf])
def test_shot_noise_of_a_factor_that_is_no_number_ends(factor):
    assert np.isnan(noisy(3, factor)).all()


KEYS = contract.sample_keys(3)
SAMPLES = [
    image(4, 3, 3, np.float32) * 300, np.full((2, 5, 3), np.nan, np.float32), flat(11)[:1, :2, None]
]  # fmt: skip
batch = jax.jit(jax.vmap(lambda k, d, e: shot.run(k, d, factor=jnp.float32(1), extent=e)))


@functools.cache
def alone():
    return [
        np.asarray(contract.pure(shot, [s], {"factor": 1.0}, key=k))
        for s, k in zip(SAMPLES, KEYS, strict=True)
    ]


@pytest.mark.exhaustive  # test_noise_does_not_depend_on_padding has shot noise too
@ends
@pytest.mark.parametrize("padding", [0, np.nan, 1e30, -np.inf, 50])
def test_shot_noise_depends_neither_on_padding_nor_on_other_samples(padding):
    """Bit by bit: it is the same program of the sample alone, with nothing around it."""
    padded = np.full((3, 7, 9, 3), padding, np.float32)
    for sample, row in zip(SAMPLES, padded, strict=True):
        row[tuple(map(slice, sample.shape))] = sample
    got = np.asarray(batch(KEYS, padded, np.int32([s.shape for s in SAMPLES])))
    for sample, row, expected in zip(SAMPLES, got, alone(), strict=True):
        np.testing.assert_array_equal(row[tuple(map(slice, sample.shape))], expected)


def test_shot_noise_in_units_of_the_factor():
    values = noisy(30, 3.0)
    assert set(np.unique(values) % 3) == {0}
    assert abs(values.mean() - 30) < 5 * np.sqrt(30 * 3) / SIDE
    np.testing.assert_array_equal(noisy(-5), flat(0))
    np.testing.assert_array_equal(noisy(5, 0.0), flat(5))
    assert noisy(-8, -4.0).max() <= 0


@pytest.mark.oracle
def test_shot_noise_has_dalis_default_factor():
    ((want,),) = oracle.run("noise.shot", [[flat(30)]])
    got = apply(shot, flat(30))
    assert stats.ks_2samp(got.ravel(), want.ravel()).pvalue > 0.01
    assert set(np.unique(want) % 12) == set(np.unique(got) % 12) == {0}


@pytest.mark.oracle
def test_gaussian_noise_is_distributed_as_dalis():
    args = {"mean": 2.0, "stddev": 4.0}
    ((want,),) = oracle.run("noise.gaussian", [[flat(250, np.uint8)]], args)
    got = apply(gaussian, flat(250, np.uint8), **args)
    assert stats.ks_2samp(got.ravel(), want.ravel()).pvalue > 0.01


@pytest.mark.cases(1)
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_jit_and_no_64_bit_value(op):
    data = jnp.asarray(image(4, 3, 3, np.float32))
    once = contract.pure(op, [data], {}, key=KEY)
    compiled = jax.jit(lambda d, k: pure_call(op, [d], {}, key=k))
    np.testing.assert_allclose(compiled(data, KEY), once, rtol=0, atol=1e-6)
    with jax.enable_x64(True):
        text = str(jax.make_jaxpr(lambda d, k: pure_call(op, [d], {}, key=k))(data, KEY))
    assert "f64[" not in text
    assert "i64[" not in text


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_gaussian_noise_has_a_gradient():
    grad = jax.grad(lambda d: pure_call(gaussian, [d], {}, key=KEY).sum())(jnp.ones((2, 3)))
    np.testing.assert_array_equal(grad, np.ones((2, 3)))


def test_a_probability_out_of_range():
    for name, title in (("prob", "Noise"), ("salt_vs_pepper", "Salt-vs-pepper")):
        text = rf"noise.salt_and_pepper: {title} probability should be a value within \[0.0, 1.0\]. Got: 1.5 for {name}"
        with pytest.raises(ValueError, match=text):
            apply(salt_and_pepper, np.zeros((2, 2)), **{name: 1.5})
