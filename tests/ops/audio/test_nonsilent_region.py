"""nonsilent_region: DALI on recordings and synthetic sounds, and by hand."""

import jax
import numpy as np
import pytest
import soundfile
from support import contract, oracle
from support.accelerator import for_accelerator

from jdali import ops
from jdali._errors import SampleError
from jdali._kernels import moving_sums as _moving_sums
from jdali._operators.pure import pure_call
from jdali.ops.audio import _nonsilent_region

nonsilent_region = _nonsilent_region.nonsilent_region
# The errors of DALI's sums decide where these regions begin and end.
of_running_sums = pytest.mark.skipif(for_accelerator(), reason="an accelerator adds up each window by itself")


def silence(*parts, dtype=np.float32):
    """Alternating silence and noise of the given lengths."""
    rng = np.random.default_rng(0)
    pieces = [
        rng.uniform(0.2, 1, n) * (i % 2) * (100 if np.dtype(dtype).kind != "f" else 1)
        for i, n in enumerate(parts)
    ]
    return np.concatenate(pieces).astype(dtype)


@pytest.fixture(scope="module")
def utterances(shared_data):
    """Recordings of speech, at most 90,000 samples of each."""
    files = [*(shared_data / "audio" / "wav").glob("*.wav"), *(shared_data / "audio" / "ogg").glob("*.ogg")]
    return [soundfile.read(file, frames=90_000, dtype="float32")[0] for file in sorted(files)]


def regions(samples, args):
    """What jdali finds in samples that are padded with NaN to one shape."""
    padded = np.full((len(samples), max(map(len, samples)) + 5), np.nan, np.float32)
    for row, sample in zip(padded, samples, strict=True):
        row[: len(sample)] = sample
    extents = np.array([[len(sample)] for sample in samples], np.int32)
    found = jax.jit(jax.vmap(lambda s, e: ops.nonsilent_region(s, extent=e, **args)[0]))(padded, extents)
    return np.stack(found, axis=1)


@pytest.mark.oracle
@of_running_sums
@pytest.mark.parametrize("cutoff", [-40.0, -23.5])
@pytest.mark.parametrize(
    ("window", "interval"), [(2048, -1), (2048, 8192), (512, 1024), (2048, 2048), (100, -1)]
)
def test_recordings_as_dali(utterances, cutoff, window, interval):
    """A threshold is met by some samples of thousands, so rounding errors of the sums decide on an end."""
    samples = utterances if interval != window else [u[:12_000] for u in utterances]
    args = {"cutoff_db": cutoff, "window_length": window, "reset_interval": interval}
    want = np.stack(oracle.run("nonsilent_region", [samples], args, outputs=2), axis=1)
    np.testing.assert_array_equal(regions(samples, args), want)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {"window_length": 5, "reset_interval": -1}, {"window_length": 16, "cutoff_db": -3.0},
        {"window_length": 4, "reference_power": 2.0, "cutoff_db": -10.0}, {},
        {"window_length": 4, "reset_interval": 4}, {"window_length": 4, "reset_interval": 20, "cutoff_db": -1.0},
        {"window_length": 1, "reset_interval": 3},
    ],
    ids=str,
)  # fmt: skip
def test_as_dali(args):
    data = [silence(20, 30, 10), silence(0, 10, 40, 5, 3), silence(3), silence(50, 1), silence(0, 7)]
    contract.check(nonsilent_region, [data], args)


@pytest.mark.oracle
@of_running_sums
@pytest.mark.parametrize("interval", [-1, 8, 32])
def test_errors_of_a_sum_last_until_the_next_reset_as_in_dali(interval):
    """A loud sound leaves an error behind, and a number that is none stays until the window is added up anew."""
    rng = np.random.default_rng(1)
    data = [
        (rng.normal(size=size) * 10.0 ** rng.uniform(-3, 3, size)).astype(np.float32) for size in (150, 64, 9)
    ]
    for sample, value in ((0, np.nan), (1, np.inf)):
        data.append(data[sample].copy())
        data[-1][20] = value
    args = {"window_length": 8, "reset_interval": interval, "reference_power": 1e-3, "cutoff_db": -20.0}
    contract.check(nonsilent_region, [data], args)
    contract.check(nonsilent_region, [data], args | {"reference_power": 0.0, "cutoff_db": -65.0}, oracle_args={
        "window_length": 8, "reset_interval": interval, "cutoff_db": -65.0})  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32])
def test_types_as_dali(dtype):
    rng = np.random.default_rng(2)
    whole = np.iinfo(dtype)
    data = [
        rng.integers(whole.min, whole.max, size, dtype, endpoint=True) >> shift
        for size, shift in ((300, 0), (70, 3), (5, 1))
    ]
    for cutoff in (0.0, -1.5):
        contract.check(
            nonsilent_region, [[d.astype(dtype) for d in data]], {"window_length": 33, "cutoff_db": cutoff}
        )


@pytest.mark.oracle
def test_wide_integers_as_dali():
    data = [(silence(20, 30, 10) * 2.0**40).astype(np.int64), (silence(5, 5) * 2.0**20).astype(np.int64)]
    contract.check(nonsilent_region, [data], {"window_length": 7}, x64=True)


@pytest.mark.parametrize("window", [1, 2, 3, 7, 8, 1000, 5000])
def test_sums_of_integers_are_exact(window):
    rng = np.random.default_rng(window)
    values = (rng.integers(0, 2**32, 3000) >> rng.integers(0, 32, 3000)).astype(np.uint32)
    values[1000:2500] = 2**32 - 1
    ends = np.cumsum(values.astype(np.uint64))
    want = ends - np.concatenate([np.zeros(window, np.uint64), ends])[: len(ends)]
    got = jax.jit(_moving_sums.exact_moving_sums, static_argnums=1)(values, window)
    np.testing.assert_array_equal(got, want.astype(np.float32))


@pytest.mark.parametrize("window", [1, 3, 8, 50])
def test_sums_on_an_accelerator_are_of_each_window(window):
    values = np.random.default_rng(3).uniform(0, 1, 37).astype(np.float32)
    want = np.convolve(values.astype(np.float64), np.ones(window))[: len(values)]
    # float32 sums of up to 50 numbers below 1, in any order.
    np.testing.assert_allclose(_moving_sums._window_sums(values, window), want, rtol=0, atol=5e-6)


def test_by_hand():
    data = np.zeros(25, np.float32)
    data[10:15] = 1
    got = contract.pure(nonsilent_region, [data], {"window_length": 3, "reset_interval": -1})
    assert [int(v) for v in got] == [8, 9]  # the first window to see it starts at 8, the last ends at 16
    quiet = contract.pure(nonsilent_region, [data * 0], {"reference_power": 1.0})
    assert [int(v) for v in quiet] == [0, 0]
    assert [int(v) for v in pure_call(nonsilent_region, [data[:0]], {})] == [0, 0]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"window_length": 3}, "`reset_interval` shall be a multiple of `window_length`, or"),
        ({"reset_interval": 0}, "reset_interval must be positive or -1, got 0"),
        ({"reset_interval": -2048}, "reset_interval must be positive or -1, got -2048"),
        ({"window_length": 0}, "window_length must be positive"),
        ({"reference_power": -1.0}, "`reference_power` has to be positive"),
    ],
)
def test_wrong_arguments(args, message):
    with pytest.raises((ValueError, SampleError), match=message):
        pure_call(nonsilent_region, [np.zeros(20, np.float32)], args)
