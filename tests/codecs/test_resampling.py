"""Resampling against a sum written out sample by sample, and against a sine."""

from fractions import Fraction

import numpy as np
import pytest

from jdali.codecs.resampling import (
    _BANK_LIMIT,
    _bank,
    _bank_periods,
    lobes_of,
    resample,
    resampled_length,
)


def slow(wave, in_rate, out_rate, lobes):
    """The definition: a table of sinc under Hann with 32 entries a sample, read with interpolation."""
    entries = 64 * lobes + 1
    position = np.arange(entries) - entries // 2
    table = np.sinc(position / 32) * (0.5 + 0.5 * np.cos(2 * np.pi * position / entries))
    out = np.zeros(int(np.ceil(len(wave) * out_rate / in_rate)))
    for n in range(len(out)):
        distance = np.arange(len(wave)) - n * in_rate / out_rate
        out[n] = wave @ np.interp(distance * 32, position, table, left=0, right=0)
    return out


@pytest.mark.parametrize(
    ("in_rate", "out_rate", "quality"),
    [(44100, 16000, 50), (16000, 44100, 0), (8000, 16000, 50), (16000, 8000, 100), (16000, 16000.5, 50)],
)
def test_equals_the_definition(in_rate, out_rate, quality):
    wave = np.random.default_rng(0).normal(0, 0.3, 500).astype(np.float32)
    got = resample(wave, in_rate, out_rate, quality)
    assert got.dtype == np.float32
    # float32 weights and sums of up to 128 terms; 16000.5 takes the path without a bank.
    np.testing.assert_allclose(got, slow(wave, in_rate, out_rate, lobes_of(quality)), rtol=0, atol=1e-6)


@pytest.mark.cases(5)
@pytest.mark.parametrize("quality", [0, 50, 100])
@pytest.mark.parametrize(
    ("in_rate", "out_rate"),
    [(1, 16000), (1, 7000), (3, 16000), (7, 31775), (5, 44101), (8000, 8001), (2**31 - 1, 16000), (16000, 1)],
)
def test_odd_rates_take_little(in_rate, out_rate, quality):
    """Whatever the rates, a bank has no more weights than the limit, and the values are those of the definition."""
    wave = np.random.default_rng(0).normal(0, 0.3, 5).astype(np.float32)
    lobes, step = lobes_of(quality), Fraction(in_rate, out_rate)
    periods = _bank_periods(step, lobes)
    if periods:
        assert sum(weights.size for _, _, weights in _bank(step, lobes, periods).blocks) <= _BANK_LIMIT
    got = resample(wave, in_rate, out_rate, quality)
    np.testing.assert_allclose(got, slow(wave, in_rate, out_rate, lobes), rtol=0, atol=1e-6)


def test_channels_are_resampled_alike():
    wave = np.random.default_rng(0).normal(0, 0.3, (700, 3)).astype(np.float32)
    for rates in [(22050, 16000), (22050, 16001)]:
        both = resample(wave, *rates, 50)
        for c in range(3):
            np.testing.assert_allclose(both[:, c], resample(wave[:, c], *rates, 50), rtol=0, atol=1e-6)


def test_a_sine_keeps_its_frequency():
    time = np.arange(4000) / 16000
    got = resample(np.sin(2 * np.pi * 440 * time).astype(np.float32), 16000, 44100, 50)
    want = np.sin(2 * np.pi * 440 * np.arange(len(got)) / 44100)
    # 16 lobes and a table of 32 entries a sample are good to about 1e-3 away from the ends.
    np.testing.assert_allclose(got[100:-100], want[100:-100], rtol=0, atol=2e-3)


def test_lobes_and_lengths():
    assert [lobes_of(q) for q in (0, 50, 100)] == [3, 16, 64]
    assert [resampled_length(n, 16000, 44100) for n in (0, 1, 1000)] == [0, 3, 2757]
    assert resample(np.zeros((0, 2), np.float32), 16000, 8000, 50).shape == (0, 2)
    assert resample(np.ones(1, np.float32), 16000, 8000, 50).shape == (1,)
    with pytest.raises(ValueError, match="``quality`` out of range: 101"):
        lobes_of(101)
