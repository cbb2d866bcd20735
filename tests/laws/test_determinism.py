"""Same seed, same bytes: whatever the threads, the batch size or the prefetching."""

import numpy as np
import pytest
from support.data import image

import jdali
from jdali import fn, types

SAMPLES = [np.asarray(image(12 + i % 3, 10 + i % 4, seed=i)) for i in range(32)]


@jdali.pipeline_def(seed=42)
def augmenting():
    def source(sample):
        return SAMPLES[sample.idx_in_epoch % len(SAMPLES)]

    images = fn.external_source(source=source, batch=False, layout="HWC")
    images = fn.rotate(images, angle=fn.random.uniform(range=[-30.0, 30.0]), interp_type=types.INTERP_NN)
    images = fn.random_resized_crop(images, size=[8, 8], interp_type=types.INTERP_NN)
    images = fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip(), mean=[120.0])
    return images, fn.random.normal(shape=[3]), fn.random.uniform(range=[0.0, 1.0]) * 2 + 1


def stream(count=32, **options):
    """The first `count` samples of every output."""
    pipe = augmenting(**options)
    rows = [[], [], []]
    while len(rows[0]) < count:
        for row, out in zip(rows, pipe.run(), strict=True):
            row += [np.asarray(out.at(i)) for i in range(len(out))]
    pipe.close()
    return [np.stack(row[:count]) for row in rows]


@pytest.fixture(scope="module")
def reference():
    return stream(batch_size=8, num_threads=4, prefetch_queue_depth=2)


@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 8, "num_threads": 1},
        {"batch_size": 8, "num_threads": 16},
        {"batch_size": 1, "num_threads": 4},
        {"batch_size": 32, "num_threads": 4},
        {"batch_size": 8, "num_threads": 4, "prefetch_queue_depth": 1},
        {"batch_size": 8, "num_threads": 4, "prefetch_queue_depth": 4},
        {"batch_size": 8, "num_threads": 4, "exec_async": False},
    ],
    ids=str,
)
def test_the_same_bytes(reference, options):
    for got, want in zip(stream(**options), reference, strict=True):
        np.testing.assert_array_equal(got, want)


def test_another_seed_gives_other_values(reference):
    other = stream(batch_size=8, num_threads=4, seed=43)
    assert all((a != b).any() for a, b in zip(other, reference, strict=True))


def test_operators_differ_and_equal_seeds_agree():
    @jdali.pipeline_def(batch_size=16, num_threads=1, seed=5)
    def pipeline():
        own = [fn.random.uniform(range=[0.0, 1.0]) for _ in range(2)]
        same = [fn.random.uniform(range=[0.0, 1.0], seed=9) for _ in range(2)]
        return *own, *same

    a, b, c, d = (out.as_array() for out in pipeline().run())
    assert (a != b).any()
    np.testing.assert_array_equal(c, d)
    assert (a != c).any()


def test_values_differ_from_sample_to_sample_and_batch_to_batch(reference):
    normal = reference[1]
    assert len(np.unique(normal.ravel())) == normal.size
