"""Bits of a sample depend on nothing but the sample: not on the shapes seen before, not on the batch size.

Each of `BY_SIZE` fails without one part of what makes it so; sizes are those for which XLA adds up, or works
out a function, in several ways. Chains of operators in several histories: `tests/engine/test_history.py`.
"""

from collections.abc import Callable

import numpy as np
import pytest

import jdali
from jdali import fn

RNG = np.random.default_rng(1)


def sounds(*lengths: int) -> list[np.ndarray]:
    return [RNG.standard_normal(n).astype(np.float32) for n in lengths]


SOUNDS = sounds(*[900, 701, 640] * 2)
# What a run met before: large samples that all others fit in, small ones, of each three batches' worth.
LARGE, SMALL = sounds(*[3000] * 6), sounds(*[600] * 6)


def mel(spectra):
    """80 filters over 257 bins: a matrix product of XLA takes other blocks for another number of frames."""
    return fn.mel_filter_bank(spectra, nfilter=80, sample_rate=16000.0)


def functions(values):
    """Of a batch of 7: the remainder of XLA's vectors, for which its loops use other polynomials."""
    size = jdali.math.abs(values)
    small = size / 8
    every = [
        getattr(jdali.math, name)(values)
        for name in ("exp", "sinh", "tanh", "asinh", "atan", "sin", "cos", "tan", "cbrt")
    ]
    return (
        *every,
        *[getattr(jdali.math, name)(size) for name in ("log", "log2", "log10", "sqrt", "rsqrt")],
        *[getattr(jdali.math, name)(small) for name in ("asin", "acos", "atanh")],
        jdali.math.acosh(size + 1),
        jdali.math.pow(size, values),
        jdali.math.atan2(values, size),
    )


def spectrum(waves):
    """Transforms of the whole sound: their length follows from the true size."""
    return fn.power_spectrum(waves, device="cpu")


def drawn(values):
    """Random numbers that go through elementary functions."""
    return (
        fn.random.normal(values, seed=5),
        fn.random.beta(shape=[], alpha=0.7, beta=2.0, seed=6),
        fn.noise.gaussian(values, stddev=2.0, seed=7),
    )


# A chain, its samples, their layout.
BY_SIZE = {
    "sums": (fn.reductions.mean, sounds(*[900] * 6), "t"),
    "matrix products": (mel, [np.abs(s).reshape(257, -1) for s in sounds(257 * 9, 257 * 209)], "ft"),
    "transforms": (
        spectrum,
        [s.reshape(rows, -1) for rows, s in ((2, sounds(2 * 310)[0]), (9, sounds(9 * 700)[0]))],
        "ft",
    ),
    "functions": (functions, sounds(*[1] * 7), "t"),
    "functions of several": (functions, sounds(5, 1, 31), "t"),
    "random numbers": (drawn, sounds(5, 1, 31), "t"),
}


def pipeline(chain: Callable, samples: list[np.ndarray], layout: str, batch_size: int, **options):
    @jdali.pipeline_def(batch_size=batch_size, num_threads=2, seed=1, **options)
    def define():
        data = fn.external_source(
            lambda info: samples[info.idx_in_epoch % len(samples)], batch=False, layout=layout
        )
        outputs = chain(data)
        return outputs if isinstance(outputs, tuple) else (outputs,)

    return define()


def take(pipe, batches: int) -> list[list[np.ndarray]]:
    """Samples of each output of the next batches."""
    found: list[list[np.ndarray]] = []
    for _ in range(batches):
        outputs = pipe.run()
        found = found or [[] for _ in outputs]
        for samples, output in zip(found, outputs, strict=True):
            samples += [np.asarray(output.at(i)) for i in range(len(output))]
    return found


def after(before: list[np.ndarray], batch_size: int) -> list[list[np.ndarray]]:
    """The outputs for the six sounds, of a run that met others first."""
    pipe = pipeline(blurred, before + SOUNDS, "t", batch_size, exact_shapes=True)
    try:
        take(pipe, len(before) // batch_size)
        return take(pipe, len(SOUNDS) // batch_size)
    finally:
        pipe.close()


def assert_same_bits(found, want):
    for output, (got, expected) in enumerate(zip(found, want, strict=True)):
        for i, (g, e) in enumerate(zip(got, expected, strict=True)):
            assert (g.shape, g.dtype) == (e.shape, e.dtype)
            different = int((g.view(np.uint32) != e.view(np.uint32)).sum())
            assert not different, f"output {output}, sample {i}: {different} of {g.size} elements differ"


@pytest.mark.cases(2)
@pytest.mark.usefixtures("rows_follow_the_batch")
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.exhaustive) if n == "functions of several" else n for n in BY_SIZE],
)
def test_samples_alone_and_together_have_the_same_bits(name):
    chain, samples, layout = BY_SIZE[name]

    def results(batch_size):
        pipe = pipeline(chain, samples, layout, batch_size)
        try:
            return take(pipe, len(samples) // batch_size)
        finally:
            pipe.close()

    assert_same_bits(results(1), results(len(samples)))


def blurred(waves):
    """`gaussian_blur` is the operator whose bits follow the padded shape."""
    return fn.gaussian_blur(waves, window_size=33)


def test_exact_shapes():
    """With the option no operator's bits change; nor after a restart, which has met nothing."""
    want = after([], 6)
    assert_same_bits(after(LARGE, 2), want)
    assert_same_bits(after(SMALL, 1), want)

    samples = LARGE + SOUNDS
    going_on, restored = (pipeline(blurred, samples, "t", 3, exact_shapes=True) for _ in range(2))
    take(going_on, 2)
    restored.set_state(going_on.get_state())
    assert_same_bits(take(restored, 2), take(going_on, 2))
    going_on.close()
    restored.close()


def test_exact_shapes_is_written_with_a_pipeline():
    pipe = jdali.Pipeline(batch_size=1, exact_shapes=True)
    with pipe:
        pipe.set_outputs(fn.random.uniform())
    assert jdali.Pipeline.deserialize(pipe.serialize()).exact_shapes
