"""spectrogram against the real DALI and against SciPy and NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.signal
from support import contract

from jdali._errors import SampleError
from jdali._operators.pure import pure_call
from jdali.ops.audio._spectrogram import hann_window, spectrogram


def signals(lengths=(200, 61, 3, 1), seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(0, 0.3, n).astype(np.float32) for n in lengths]


ARGS = [
    {"window_length": 16, "window_step": 4},
    {"window_length": 15, "window_step": 7, "nfft": 20, "layout": "tf", "power": 1},
    {"window_length": 16, "window_step": 5, "reflect_padding": False, "nfft": 32},
    {"window_length": 8, "window_step": 8, "window_fn": np.linspace(0.1, 1, 8).tolist(), "power": 1},
    {"nfft": 600},
]


@pytest.mark.oracle
@pytest.mark.parametrize("args", ARGS, ids=str)
def test_centred_windows_as_dali(args):
    # Two float32 Fourier transforms that add up in different orders; the largest bins are near 10
    # (3000 with windows of 512).
    contract.check(spectrogram, [signals()], args, atol=1e-5 if args != ARGS[-1] else 2e-3)


@pytest.mark.oracle
@pytest.mark.parametrize("args", ARGS[1:2], ids=str)
def test_windows_inside_as_dali(args):
    contract.check(spectrogram, [signals((40, 16, 77))], args | {"center_windows": False}, atol=1e-5)


@pytest.mark.oracle
@pytest.mark.parametrize("shape", [(-1, 1), (1, -1, 1)])
def test_one_channel_in_more_axes_as_dali(shape):
    data = [s.reshape(shape) for s in signals()]
    contract.check(spectrogram, [data], {"window_length": 16, "window_step": 4}, atol=1e-5)


def test_equals_scipy():
    wave = signals()[0]
    got = contract.pure(spectrogram, [wave], {"window_length": 16, "window_step": 4, "power": 1})
    _, _, want = scipy.signal.stft(
        np.pad(wave.astype(np.float64), 8, "reflect"), window=hann_window(16), nperseg=16, noverlap=12,
        boundary=None, padded=False, scaling="spectrum",
    )  # fmt: skip
    np.testing.assert_allclose(got, np.abs(want) * hann_window(16).sum(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("step", [1, 2, 3, 40, 41, 50])
@pytest.mark.parametrize("centred", [True, False])
def test_windows_that_overlap_much_or_not_at_all(step, centred):
    wave = signals((130,))[0]
    args = {"window_length": 40, "window_step": step, "center_windows": centred}
    got = np.asarray(contract.pure(spectrogram, [wave], args))
    padded = np.pad(wave.astype(np.float64), 20, "reflect") if centred else wave.astype(np.float64)
    frames = np.stack([padded[at : at + 40] for at in range(0, len(padded) - 39, step)])
    want = np.abs(np.fft.rfft(frames * hann_window(40))) ** 2
    assert got.shape == (21, len(frames))
    np.testing.assert_allclose(got, want.T, rtol=0, atol=1e-5)


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_jit_vmap_and_grad():
    wave = jnp.asarray(signals()[0])
    call = jax.jit(lambda w: pure_call(spectrogram, [w], {"window_length": 16, "window_step": 4}))
    want = np.asarray(call(wave))
    np.testing.assert_allclose(jax.jit(jax.vmap(call))(wave[None] * 2)[0], 4 * want, atol=1e-4)
    # Derivative along the signal itself: the power is homogeneous of degree 2.
    grad = jax.jit(jax.grad(lambda w: call(w).sum()))(wave)
    np.testing.assert_allclose(grad @ wave, 2 * want.sum(), rtol=1e-4)
    magnitude = lambda w: pure_call(spectrogram, [w], {"window_length": 8, "power": 1}).sum()  # noqa: E731
    assert np.isfinite(jax.jit(jax.grad(magnitude))(jnp.zeros(20))).all()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"layout": "xy"}, "spectrogram: Unexpected layout: xy. It must be 'ft' or 'tf'"),
        ({"power": 3}, r"spectrogram: `power` can be only 1 \(energy\) or 2 \(power\), received 3"),
        ({"window_step": 0}, "must be positive"),
        ({"nfft": 100}, r"Window length \(512\) can't be bigger than the FFT size \(100\)"),
        ({"window_fn": [1.0, 2.0]}, "Window function should match the specified `window_length`."),
        ({"center_windows": False}, r"Signal is too short \(200\) for sample 0: a window has 512;"),
    ],
)
def test_wrong_arguments(args, message):
    with pytest.raises(ValueError, match=message):
        pure_call(spectrogram, signals()[:1], args)


def test_wrong_signals():
    with pytest.raises(
        ValueError, match="spectrogram: Unsupported data type: int16. It must be float32; cast it"
    ):
        pure_call(spectrogram, [np.ones(9, np.int16)], {})
    with pytest.raises(
        SampleError, match=r"Input data must be 1D or all but one dimensions must be degenerate .* Got: 9 x 2"
    ):
        pure_call(spectrogram, [np.ones((9, 2), np.float32)], {})
    with pytest.raises(SampleError, match="does not support empty"):
        pure_call(spectrogram, [np.ones(0, np.float32)], {})
