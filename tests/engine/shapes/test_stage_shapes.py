"""Stages with samples of ever new sizes: the number of their programs has a bound, and their values stay right."""

import numpy as np
import pytest

import jdali
from jdali import fn
from jdali.engine.shapes.stage_shapes import MOST_SHAPES

RNG = np.random.default_rng(3)
# Planes of which hardly two share a padded shape, with 1 to 3 channels that are never padded; small ones at first.
SAMPLES = [
    RNG.integers(0, 99, (*sorted(RNG.integers(5, 20 + 9 * i, 2)), 1 + i % 3)).astype(np.int32)
    for i in range(48)
]


def run(**options):
    pipe = jdali.Pipeline(batch_size=4, num_threads=1, seed=1, compilation_cache=False, **options)
    with pipe:
        data = fn.external_source(lambda info: SAMPLES[info.idx_in_epoch], batch=False, layout="HWC")
        pipe.set_outputs(data * 2 + 1)
    with pipe:
        for start in range(0, len(SAMPLES), 4):
            (out,) = pipe.run()
            for i, sample in enumerate(SAMPLES[start : start + 4]):
                np.testing.assert_array_equal(out.at(i), 2 * sample + 1)
        return pipe.executor_statistics()["programs"], pipe.plan()


def test_programs_have_a_bound():
    programs, plan = run()
    # For each number of channels a few that hold what none of them held: sizes grow all the time here.
    assert MOST_SHAPES <= programs <= MOST_SHAPES + 3 * 5
    assert "padding makes them take 1." in plan or "padding makes them take 2." in plan


def test_not_with_exact_shapes():
    """There the shape follows from the sample, however many there are."""
    programs, _ = run(exact_shapes=True)
    assert programs > MOST_SHAPES + 3 * 5


@pytest.mark.parametrize("count", [1, 3])
def test_samples_of_one_shape_are_one_group(count):
    pipe = jdali.Pipeline(batch_size=count, num_threads=1, seed=1)
    with pipe:
        pipe.set_outputs(fn.external_source(lambda: [np.ones((6, 7), np.int32)] * count) + 1)
    with pipe:
        for _ in range(3):
            assert pipe.run()[0].as_array().shape == (count, 6, 7)
        assert pipe.executor_statistics()["programs"] == 1
