"""The program of a sample follows from its batch, its bits from the sample alone: neither from what a process met before."""

from collections import Counter

import numpy as np
import pytest
from support.data import image

import jdali
from jdali import fn, types
from jdali.engine.steps.stage import StageRunner

RNG = np.random.default_rng(7)


def pictures(*sizes):
    return [np.asarray(image(h, w, seed=i)) for i, (h, w) in enumerate(sizes)]


def sounds(*lengths):
    return [RNG.standard_normal(n).astype(np.float32) for n in lengths]


def resized(images):
    return fn.resize(images, size=[20, 21], dtype=types.FLOAT)


def warped(images):
    return fn.rotate(images, angle=20.0, fill_value=0, interp_type=types.INTERP_LINEAR)


def colour(images):
    twisted = fn.color_twist(images, hue=20.0, saturation=1.2, brightness=0.9, contrast=1.1)
    return fn.normalize(fn.gaussian_blur(twisted, sigma=1.0), axes=[0, 1])


def speech(waves):
    spectra = fn.spectrogram(fn.preemphasis_filter(waves), nfft=64, window_length=64, window_step=32)
    mel = fn.mel_filter_bank(spectra, nfilter=10, sample_rate=8000.0)
    return fn.normalize(fn.to_decibels(mel, multiplier=10.0), axes=[1])


# The samples, and what a run may have met before them: larger ones that would hold them, and smaller ones.
PICTURES = pictures((20, 31), (33, 33), (20, 30), (31, 20), (34, 33), (20, 29))
SEEN = pictures(*[(46, 46)] * 6), pictures(*[(9, 11)] * 6)
SOUNDS = sounds(900, 701, 640, 880, 910, 650)
CHAINS = {
    "resized": (resized, "HWC", PICTURES, *SEEN),
    "warped": (warped, "HWC", PICTURES, *SEEN),
    "colour": (colour, "HWC", PICTURES, *SEEN),
    "speech": (speech, "t", SOUNDS, sounds(*[3000] * 6), sounds(*[500] * 6)),
}


def run(chain, layout, before, samples, batch_size):
    """Values for `samples`, and how many of them ran in programs of which shapes."""

    @jdali.pipeline_def(batch_size=batch_size, num_threads=2, seed=1, exec_async=False)
    def define():
        data = fn.external_source(
            lambda info: (before + samples)[info.idx_in_epoch % len(before + samples)],
            batch=False,
            layout=layout,
        )
        return chain(data)

    pipe = define()
    try:
        pipe.build()
        for _ in range(len(before) // batch_size):
            pipe.run()
        start = programs(pipe)
        results = [pipe.run() for _ in range(len(samples) // batch_size)]
        ran = programs(pipe) - start
    finally:
        pipe.close()
    return [np.asarray(out.at(i)) for (out,) in results for i in range(batch_size)], ran


def programs(pipe):
    runners = [r for r in pipe.internals().engine.stage_runners if isinstance(r, StageRunner)]
    return Counter({(n, p.shape): p.samples for n, r in enumerate(runners) for p in r.programs.values()})


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", CHAINS)
def test_programs_and_bits_of_a_sample_do_not_follow_from_history(name):
    chain, layout, samples, large, small = CHAINS[name]
    want, ran = run(chain, layout, large, samples, 2)
    assert sum(ran.values()) >= len(samples)
    for batch_size in (2, 3):
        got, others = run(chain, layout, small, samples, batch_size)
        if batch_size == 2:
            assert others == ran
        for g, w in zip(got, want, strict=True):
            assert (g.shape, g.dtype) == (w.shape, w.dtype)
            np.testing.assert_array_equal(g.view(np.uint8), w.view(np.uint8))
