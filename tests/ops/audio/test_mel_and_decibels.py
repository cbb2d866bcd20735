"""mel_filter_bank and to_decibels against the real DALI, and against values worked out by hand."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import contract

from jdali._numerics.exact import MINUS_ZERO, exact
from jdali._operators.pure import pure_call
from jdali.ops.audio._mel_filter_bank import hz_to_mel, mel_filter_bank, mel_to_hz
from jdali.ops.audio._to_decibels import to_decibels


def spectra(shapes=((65, 5), (65, 1), (65, 9)), seed=0):
    rng = np.random.default_rng(seed)
    return [rng.gamma(1.0, 2.0, s).astype(np.float32) for s in shapes]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {"nfilter": 10, "sample_rate": 16000.0},
        {"nfilter": 20, "sample_rate": 16000.0, "normalize": False, "freq_low": 100.0, "freq_high": 5000.0},
        {"nfilter": 8, "mel_formula": "htk"},
        {"mel_formula": "htk", "normalize": False, "freq_high": 20000},
        {},
    ],
    ids=str,
)
def test_mel_as_dali(args):
    # Weights are differences of float32 frequencies in both: at 20 kHz an ulp is 1e-5 of a band, and the
    # values summed with them are up to 15.
    contract.check(mel_filter_bank, [spectra()], args, layout="ft", atol=2e-4)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("layout", "shapes"),
    [
        ("tf", [(5, 33), (2, 33)]),
        ("Cft", [(2, 33, 4), (1, 33, 6)]),
        ("f", [(9,), (17,)]),
        ("", [(33, 5), (9, 4)]),
    ],
)
def test_mel_axes_as_dali(layout, shapes):
    args = {"nfilter": 6, "sample_rate": 8000.0}
    contract.check(mel_filter_bank, [spectra(shapes)], args, layout=layout, atol=1e-6)


@pytest.mark.parametrize("bins", [65, 40, 2, 1])
def test_bits_of_mel_do_not_depend_on_padding(bins):
    [spectrum] = spectra([(bins, 30)])

    def padded_to(size):
        padded = np.full((size, 30), np.nan, np.float32)
        padded[:bins] = spectrum

        def mel(value, extent):
            return mel_filter_bank.run(
                value,
                nfilter=30,
                sample_rate=16000.0,
                _axis=0,
                extent=extent,
                out_shape=(30, *value.shape[1:]),
            )

        program = jax.jit(
            lambda zero, *given: exact(mel, zero, "cpu")(*given),
            compiler_options=contract.compiler_options("cpu"),
        )
        return np.asarray(program(MINUS_ZERO, padded, np.array([bins, 30], np.int32)))

    want = padded_to(bins)
    np.testing.assert_allclose(want, mel_by_numpy(spectrum, 30, 16000), rtol=0, atol=1e-6)
    for size in (bins + 3, 96, 257):
        np.testing.assert_array_equal(padded_to(size), want)


def mel_by_numpy(spectrum, count, rate):
    """The dense product, in float64."""
    bins = len(spectrum)
    hz = np.arange(bins) * (rate / 2 / max(bins - 1, 1))
    edges = mel_to_hz(np.linspace(0, hz_to_mel(rate / 2, "slaney"), count + 2), "slaney")[:, None]
    rising, falling = (
        (hz - edges[:-2]) / np.diff(edges, axis=0)[:-1],
        (edges[2:] - hz) / np.diff(edges, axis=0)[1:],
    )
    weights = np.maximum(np.minimum(rising, falling), 0) * 2 / (edges[2:] - edges[:-2])
    return (weights @ spectrum.astype(np.float64)).astype(np.float32)


def test_mel_adds_up_only_the_bins_of_each_filter():
    spectrum = jnp.ones((257, 7))
    work = jax.make_jaxpr(lambda s: pure_call(mel_filter_bank, [s], {"nfilter": 80, "sample_rate": 16000.0}))(
        spectrum
    )
    assert "dot_general" not in str(work)
    gathered = [e.outvars[0].aval.size for e in inner_equations(work.jaxpr) if e.primitive.name == "gather"]
    assert sum(gathered) < 8 * spectrum.size  # of 80 times as much in the dense product


def inner_equations(jaxpr):
    for eqn in jaxpr.eqns:
        yield eqn
        for value in eqn.params.values():
            if hasattr(value, "jaxpr"):
                yield from inner_equations(value.jaxpr)


def test_mel_of_no_bins():
    got = contract.pure(mel_filter_bank, [np.zeros((0, 3), np.float32)], {"nfilter": 5})
    np.testing.assert_array_equal(got, np.zeros((5, 3)))


def test_mel_scales():
    # O'Shaughnessy's formula, and the knee of Slaney's at 1 kHz = 15 mel.
    assert hz_to_mel(700.0, "htk") == pytest.approx(2595 * np.log10(2), rel=1e-4)
    assert hz_to_mel(1000.0, "slaney") == pytest.approx(15)
    assert hz_to_mel(6400.0, "slaney") == pytest.approx(42)
    for formula in ("htk", "slaney"):
        for hz in (0.0, 300.0, 5000.0):
            np.testing.assert_allclose(mel_to_hz(np.array(hz_to_mel(hz, formula)), formula), hz)


def test_a_triangle_by_hand():
    # Below 1 kHz Slaney's scale is linear: one filter from 0 to 800 Hz peaks at 400 Hz.
    args = {"nfilter": 1, "sample_rate": 1600.0, "normalize": False}
    got = contract.pure(mel_filter_bank, [np.eye(9, dtype=np.float32)], args, layout="ft")
    np.testing.assert_allclose(got[0], 1 - np.abs(np.arange(9) - 4) / 4, atol=1e-6)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {},
        {"multiplier": 20.0, "cutoff_db": -80.0},
        {"reference": 3.0},
        {"reference": -1},
        {"cutoff_db": -9e3},
    ],
    ids=str,
)
def test_decibels_as_dali(args):
    data = [*spectra(), np.zeros((3, 3), np.float32), np.array([[np.nan, 2, -1, 0, 1e-30]], np.float32)]
    data.append(np.array([[-0.5, -5, np.nan]], np.float32))
    # One ulp of log2 near 30 times 3 (or 6): 1e-5; at -200 dB the ulp itself is 1.5e-5.
    contract.check(to_decibels, [data], args, atol=4e-5, compiled_atol=4e-5)


def test_not_a_number_in_the_padding_does_not_show():
    data = spectra(((5, 3),))[0]
    padded = np.full((8, 4), np.nan, np.float32)
    padded[:5, :3] = data
    extent = jnp.array([5, 3], jnp.int32)
    mel = jax.jit(functools.partial(mel_filter_bank.run, nfilter=4), static_argnames="out_shape")
    got = mel(padded, extent=extent, out_shape=(6, 4))
    np.testing.assert_allclose(got[:4, :3], mel(data, extent=extent, out_shape=(4, 3)), rtol=1e-5)
    decibels = jax.jit(to_decibels.run, static_argnames="out_shape")
    got = decibels(padded, extent=extent, out_shape=(8, 4))
    np.testing.assert_allclose(got[:5, :3], decibels(data, extent=extent, out_shape=(5, 3)), rtol=1e-5)


def test_decibels_by_hand():
    got = contract.pure(to_decibels, [np.array([1.0, 10.0, 1000.0, 0.0], np.float32)], {"cutoff_db": -60.0})
    np.testing.assert_allclose(got, [-30, -20, 0, -60], atol=1e-5)


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_jit_vmap_and_grad():
    data = jnp.asarray(spectra()[0])
    mel = jax.jit(lambda d: pure_call(mel_filter_bank, [d], {"nfilter": 5}, layout="ft"))
    want = np.asarray(mel(data))
    np.testing.assert_allclose(jax.jit(jax.vmap(mel))(data[None] * 3)[0], want * 3, rtol=1e-5)
    decibels = jax.jit(jax.grad(lambda d: pure_call(to_decibels, [d], {"reference": 1.0}).sum()))
    grad = decibels(jnp.array([2.0, 4.0]))
    np.testing.assert_allclose(grad, 10 / np.log(10) / np.array([2, 4]), rtol=1e-5)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"mel_formula": "x"}, 'mel_filter_bank: Unsupported mel_formula value "x". Supported values are:'),
        ({"nfilter": 0}, "number of filters should be > 0, got 0"),
        ({"sample_rate": 0.0}, "sample rate should be > 0, got 0.0"),
        ({"freq_low": 30000.0}, r"freq_high should be within the range \(freq_low, sample_rate\],"),
    ],
)
def test_wrong_arguments(args, message):
    with pytest.raises(ValueError, match=message):
        pure_call(mel_filter_bank, [np.ones((5, 3), np.float32)], args)


def test_wrong_inputs():
    with pytest.raises(ValueError, match="'f' axis not present in the layout. Got: `HW`"):
        pure_call(mel_filter_bank, [np.ones((5, 3), np.float32)], {}, layout="HW")
    with pytest.raises(ValueError, match="to_decibels: Unsupported data type: int32"):
        pure_call(to_decibels, [np.ones((5, 3), np.int32)], {})
