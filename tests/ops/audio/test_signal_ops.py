"""mfcc, preemphasis_filter, power_spectrum and audio_resample: DALI, SciPy, NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.fft
from support import contract

from jdali import Pipeline, fn
from jdali._errors import SampleError
from jdali._operators.pure import pure_call
from jdali._operators.record import REGISTRY
from jdali.codecs.resampling import resample
from jdali.ops.audio import _audio_resample, _mfcc, _power_spectrum, _preemphasis_filter

mfcc, power_spectrum = _mfcc.mfcc, _power_spectrum.power_spectrum
audio_resample = _audio_resample.audio_resample
preemphasis_filter = _preemphasis_filter.preemphasis_filter


def arrays(shapes, dtype=np.float32, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    return [(rng.normal(0, 1, s) * scale).astype(dtype) for s in shapes]


@pytest.mark.oracle
@pytest.mark.parametrize(("dct_type", "normalize"), [(1, False), (2, True), (3, False), (3, True), (4, True)])
def test_mfcc_as_dali(dct_type, normalize):
    # Sums of up to 40 terms near 1 in another order, and cosines of float32.
    args = {"dct_type": dct_type, "normalize": normalize, "n_mfcc": 13}
    contract.check(mfcc, [arrays([(40, 6), (17, 3), (5, 1)])], args, atol=1e-5)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args", [{"axis": 1, "lifter": 22.0}, {"axis": 2, "lifter": -3.0, "n_mfcc": 50}], ids=str
)
def test_mfcc_axes_and_lifter_as_dali(args):
    contract.check(mfcc, [arrays([(2, 30, 7), (1, 12, 9)])], args, atol=2e-4)


def test_mfcc_equals_scipy():
    data = arrays([(30, 4)])[0]
    got = contract.pure(mfcc, [data], {"normalize": True, "n_mfcc": 30})
    np.testing.assert_allclose(got, scipy.fft.dct(data, axis=0, norm="ortho"), rtol=0, atol=1e-5)


@pytest.mark.oracle
@pytest.mark.parametrize("border", ["clamp", "reflect", "zero"])
def test_preemphasis_as_dali(border):
    args = {"border": border}
    share = [0.0, 0.5, 1.0]
    # A multiply and a subtract in float32, fused or not.
    contract.check(
        preemphasis_filter, [arrays([(50,), (2,), (7,)])], args, {"preemph_coeff": share}, atol=3e-7
    )


@pytest.mark.oracle
def test_preemphasis_of_two_axes_as_dali():
    contract.check(preemphasis_filter, [arrays([(5, 4), (3, 7), (1, 2)])], {}, atol=3e-7)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("source", "dtype"), [(np.int16, np.float32), (np.uint8, np.int16), (np.int32, np.uint8)]
)
def test_preemphasis_types_as_dali(source, dtype):
    data = arrays([(50,), (1,)], source, scale=100)
    contract.check(preemphasis_filter, [data], {"dtype": dtype}, atol=2e-5 if dtype is np.float32 else 1)


@pytest.mark.oracle
@pytest.mark.parametrize("args", [{}, {"nfft": 16, "power": 1}, {"axis": 0}, {"nfft": 8, "axis": 0}], ids=str)
def test_power_spectrum_as_dali(args):
    # Transforms in float32 (with no nfft by way of a convolution); powers reach 100.
    # DALI cannot transform 1 or 2 elements.
    contract.check(power_spectrum, [arrays([(12, 10), (5, 3), (4, 33)])], args, atol=2e-4)


@pytest.mark.parametrize("pad", [1, 60, 900])
def test_power_spectrum_of_any_size_has_the_same_bits_in_any_padded_shape(pad):
    """Also where the padding is larger than the sample, which has several powers of two between them."""
    data = arrays([(3, 31), (3, 97), (2, 1), (1, 2), (2, 300)])
    expected = [np.abs(np.fft.rfft(sample.astype(np.float64))).astype(np.float32) for sample in data]
    contract.check(power_spectrum, [data], {"power": 1}, expected=[expected], atol=1e-4, pad=pad)


def test_power_spectrum_of_any_size_equals_numpy():
    for size in (1, 97, 4001):
        data = arrays([(size,)])[0]
        want = np.abs(np.fft.rfft(data.astype(np.float64)))
        got = contract.pure(power_spectrum, [data], {"power": 1})
        # Some float32 ulps of the transform's norm.
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * max(1, size**0.5))


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_lengths_of_samples(dtype):
    """DALI takes int64 alone."""
    out = contract.pure(audio_resample, [np.ones(10, np.float32)], {"out_length": dtype(7)})
    assert out.shape == (7,)
    lengths = dtype([4, 9])
    with Pipeline(batch_size=2, num_threads=1, device_id=None) as pipe:
        sound = fn.external_source(lambda: [np.ones(10, np.float32)] * 2)
        pipe.set_outputs(fn.audio_resample(sound, out_length=fn.external_source(lambda: list(lengths))))
    (out,) = pipe.run()
    pipe.close()
    assert [tuple(shape) for shape in out.shape()] == [(4,), (9,)]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {"in_rate": 16000.0, "out_rate": 8000.0}, {"scale": 2.0, "quality": 0.0}, {"out_length": 100},
        {"scale": 0.7, "quality": 90.0},
    ],
    ids=str,
)  # fmt: skip
def test_resampling_as_dali(args):
    # DALI adds up positions in float32 (see jdali.codecs.resampling), which is exact for powers of two.
    exact = args.get("scale", 2.0) == 2.0 and "out_length" not in args
    data = arrays([(300,), (41,), (1,)], scale=0.3)
    contract.check(audio_resample, [data], args, atol=1e-6 if exact else 3e-3, compiled_atol=1e-6)


@pytest.mark.oracle
def test_resampling_of_channels_per_sample_as_dali():
    data = arrays([(100, 2), (60, 2)], scale=0.3)
    rates = {"in_rate": [8000.0, 16000.0], "out_rate": [16000.0, 4000.0]}
    contract.check(audio_resample, [data], {}, rates, atol=1e-6, compiled_atol=1e-6)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("source", "dtype"),
    [(np.uint8, np.uint8), (np.int16, np.uint8), (np.uint16, np.float32)],
)
def test_resampling_types_as_dali(source, dtype):
    info = np.iinfo(source)
    data = [np.linspace(info.min, info.max, 60).astype(source)]
    # The rounding of a float32 sum that stands near a half.
    contract.check(
        audio_resample, [data], {"scale": 2.0, "dtype": dtype}, atol=1e-6 if dtype is np.float32 else 1
    )


def test_resampling_far_from_the_start_equals_the_codec():
    # The fixed-point step is good to 2^-33 samples, so after 100,000 outputs to 1e-5.
    wave = np.sin(np.arange(300000) * 0.05).astype(np.float32)
    got = contract.pure(audio_resample, [wave], {"in_rate": 44100.0, "out_rate": 16000.0})
    np.testing.assert_allclose(got, resample(wave, 44100.0, 16000.0, 50), rtol=0, atol=2e-5)


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_jit_vmap_and_grad():
    wave = jnp.asarray(arrays([(40,)])[0])
    for name, args in [
        ("audio_resample", {"scale": 1.5}),
        ("preemphasis_filter", {}),
        ("power_spectrum", {}),
    ]:
        call = jax.jit(lambda w, n=name, a=args: pure_call(REGISTRY[n], [w], a))
        want = np.asarray(call(wave))
        np.testing.assert_allclose(jax.jit(jax.vmap(call))(wave[None])[0], want, atol=1e-4)
        degree = 2 if name == "power_spectrum" else 1  # homogeneous: the derivative along the signal is known
        grad = jax.jit(jax.grad(lambda w, c=call: c(w).sum()))(wave)
        np.testing.assert_allclose(grad @ wave, degree * want.sum(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("op", "args", "message"),
    [
        (mfcc, {"axis": 1}, r"mfcc: Axis 1 is out of bounds \[0,1\)"),
        (mfcc, {"axis": -1}, "mfcc: Provided axis cannot be negative. Got -1"),
        (mfcc, {"dct_type": 5}, "Unsupported DCT type: 5. Supported types are: 1, 2, 3, 4"),
        (mfcc, {"dct_type": 1, "normalize": True}, "Ortho-normalization is not supported for DCT type I"),
        (mfcc, {"n_mfcc": 0}, "number of MFCCs should be > 0, got n_mfcc=0"),
        (preemphasis_filter, {"border": "x"}, '``border`` mode "x" is not supported. It must be one of'),
        (power_spectrum, {"power": 3}, "Power argument should be either `2` for power spectrum or `1`"),
        (power_spectrum, {"axis": 1}, r"Transform axis 1 is out of bounds \[0, 1\)"),
        (audio_resample, {}, "No resampling factor specified! Please supply either the"),
        (audio_resample, {"in_rate": 1.0}, "The parameters ``in_rate`` and ``out_rate`` must be specified"),
        (audio_resample, {"scale": -1.0}, "The scaling factor must be non-negative. Got scale == -1"),
        (
            audio_resample,
            {"scale": 1.0, "quality": 101.0},
            r"``quality`` out of range: 101.0. Valid range is \[0..100\]",
        ),
        (
            audio_resample,
            {"scale": 1.0, "dtype": np.int64},
            "Unsupported output type: int64. Supported types are : uint8",
        ),
    ],
)
def test_wrong_arguments(op, args, message):
    with pytest.raises((ValueError, SampleError), match=message):
        pure_call(op, arrays([(20,)]), args)
