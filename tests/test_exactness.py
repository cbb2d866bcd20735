"""Bits of a sample depend on nothing but the sample: not on the shapes seen before, not on the batch size.

Each of `BY_SIZE` fails without one part of what makes it so; sizes are those for which XLA adds up, or works
out a function, in several ways.
"""

from collections.abc import Callable

import numpy as np
import pytest
from support.data import image

import jdali
from jdali import fn, types

RNG = np.random.default_rng(1)


def pictures(*sizes: tuple[int, int]) -> list[np.ndarray]:
    return [np.asarray(image(h, w, seed=i)) for i, (h, w) in enumerate(sizes)]


def sounds(*lengths: int) -> list[np.ndarray]:
    return [RNG.standard_normal(n).astype(np.float32) for n in lengths]


PICTURES, SOUNDS = pictures(*[(37, 53), (20, 71), (33, 33)] * 2), sounds(*[900, 701, 640] * 2)
# What a run met before: nothing, large samples that all others fit in, small ones, of each three batches' worth.
BEFORE = {
    "pictures": ([], pictures(*[(80, 90)] * 6), pictures(*[(9, 11)] * 6)),
    "sounds": ([], sounds(*[3000] * 6), sounds(*[600] * 6)),
}


def picture_chain(images):
    images = fn.resize(images, size=[24, 30], dtype=types.FLOAT)
    images = fn.color_twist(images, hue=20.0, saturation=1.2, brightness=0.9, contrast=1.1)
    return fn.normalize(images, axes=[0, 1])


def float_chain(images):
    images = fn.cast(images, dtype=types.FLOAT) / 255.0
    images = fn.crop_mirror_normalize(images, mean=[0.4, 0.5, 0.6], std=[0.2, 0.3, 0.25], shift=0.1)
    return images * 1.7 + 0.3, fn.reductions.mean(images, axes=[1, 2]), fn.reductions.rms(images)


def sound_chain(waves):
    waves = fn.preemphasis_filter(waves)
    spectra = fn.spectrogram(waves, window_length=64, window_step=32)
    mel = fn.mel_filter_bank(spectra, nfilter=10, sample_rate=8000.0)
    decibels = fn.to_decibels(mel, multiplier=10.0)
    return fn.normalize(decibels, axes=[1]), fn.mfcc(decibels, n_mfcc=5)


CHAINS = {
    "pictures": (picture_chain, "pictures", "HWC"),
    "floats": (float_chain, "pictures", "HWC"),
    "sounds": (sound_chain, "sounds", "t"),
}


def mel(spectra):
    """80 filters over 257 bins: a matrix product of XLA takes other blocks for another number of frames."""
    return fn.mel_filter_bank(spectra, nfilter=80, sample_rate=16000.0)


def functions(values):
    """Of a batch of 7: the remainder of XLA's vectors, for which its newer loops use other polynomials."""
    return jdali.math.atan(values), jdali.math.log(jdali.math.abs(values))


# A chain, its samples, their layout.
BY_SIZE = {
    "sums": (fn.reductions.mean, sounds(*[900] * 6), "t"),
    "matrix products": (mel, [np.abs(s).reshape(257, -1) for s in sounds(257 * 9, 257 * 209)], "ft"),
    "functions": (functions, sounds(*[1] * 7), "t"),
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


def after(name: str, before: list[np.ndarray], batch_size: int, **options) -> list[list[np.ndarray]]:
    """The outputs for the six samples, of a run that met others first."""
    chain, kind, layout = CHAINS[name] if isinstance(name, str) else name
    samples = PICTURES if kind == "pictures" else SOUNDS
    pipe = pipeline(chain, before + samples, layout, batch_size, **options)
    try:
        take(pipe, len(before) // batch_size)
        return take(pipe, len(samples) // batch_size)
    finally:
        pipe.close()


def assert_same_bits(found, want):
    for output, (got, expected) in enumerate(zip(found, want, strict=True)):
        for i, (g, e) in enumerate(zip(got, expected, strict=True)):
            assert (g.shape, g.dtype) == (e.shape, e.dtype)
            different = int((g.view(np.uint32) != e.view(np.uint32)).sum())
            assert not different, f"output {output}, sample {i}: {different} of {g.size} elements differ"


@pytest.mark.parametrize("name", CHAINS)
def test_neither_what_came_before_nor_the_batch_size_changes_a_bit(name):
    nothing, large, small = BEFORE[CHAINS[name][1]]
    want = after(name, nothing, 6)
    assert_same_bits(after(name, large, 2), want)
    assert_same_bits(after(name, small, 3), want)


@pytest.mark.parametrize("name", BY_SIZE)
def test_samples_alone_and_together_have_the_same_bits(name):
    chain, samples, layout = BY_SIZE[name]

    def results(batch_size):
        pipe = pipeline(chain, samples, layout, batch_size)
        try:
            return take(pipe, len(samples) // batch_size)
        finally:
            pipe.close()

    assert_same_bits(results(1), results(len(samples)))


def any_size(waves):
    """`power_spectrum` of the whole axis is the operator whose bits follow the padded shape."""
    return fn.power_spectrum(waves, device="cpu")


def test_exact_shapes():
    """With the option no operator's bits change; nor after a restart, which has met nothing."""
    nothing, large, small = BEFORE["sounds"]
    chain = (any_size, "sounds", "t")
    want = after(chain, nothing, 6, exact_shapes=True)
    assert_same_bits(after(chain, large, 2, exact_shapes=True), want)
    assert_same_bits(after(chain, small, 1, exact_shapes=True), want)

    samples = large + SOUNDS
    going_on, restored = (pipeline(any_size, samples, "t", 3, exact_shapes=True) for _ in range(2))
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
