"""random_crop_generator: the windows of `random_window`, for shapes that the pipeline computes."""

import jax
import numpy as np
import pytest
from support import contract, oracle

import jdali
from jdali import fn
from jdali._kernels.random_window import random_window
from jdali._operators.pure import pure_call
from jdali.ops.image._random_crop_generator import random_crop_generator

ARGS = {"random_area": (0.1, 0.7), "num_attempts": 4}
window = jax.jit(lambda key, extent: random_window(key, extent, **ARGS))


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [(), (3,)])
def test_is_the_window_of_the_decoders(dtype, channels):
    """By the same keys; whose distribution is compared with DALI's in test_random_window.py."""
    shapes = [np.array((*size, *channels), dtype) for size in [(30, 40), (1, 1), (200, 7)]]
    wide = np.dtype(dtype).itemsize == 8
    anchors, sizes = contract.check_random(random_crop_generator, [shapes], ARGS, x64=wide)
    keys = contract.sample_keys(3)
    for i, shape in enumerate(shapes):
        anchor, size = window(keys[i], np.int32(shape[:2]))
        np.testing.assert_array_equal(anchors[i], anchor)
        np.testing.assert_array_equal(sizes[i], size)
        assert anchors[i].dtype == sizes[i].dtype == np.int32


@pytest.mark.oracle
def test_no_pixels_as_dali():
    shapes = [np.int64([0, 5])] * 2
    expected = oracle.run("random_crop_generator", [shapes], outputs=2)
    got = contract.check_random(random_crop_generator, [shapes], x64=True)
    for output, want in zip(got, expected, strict=True):
        for one, other in zip(output, want, strict=True):
            contract.compare(one, other, 0, "empty picture")


def test_in_a_pipeline_with_slice():
    pipe = jdali.Pipeline(batch_size=2, num_threads=1)
    with pipe:
        images = fn.external_source(
            lambda: [np.zeros((20, 30, 3), np.uint8), np.zeros((9, 50, 3), np.uint8)], layout="HWC"
        )
        anchor, size = fn.random_crop_generator(images.shape())
        pipe.set_outputs(fn.slice(images, start=anchor, shape=size, axes=[0, 1]), size)
    cut, size = pipe.run()
    pipe.close()
    for window, wanted in zip(cut.to_samples(), size.to_samples(), strict=True):
        assert window.shape == (*wanted.tolist(), 3)


@pytest.mark.parametrize(
    ("shape", "args", "text"),
    [
        (np.float32([4, 5]), {}, "Only integer types are supported. Got: float32"),
        (np.int64([4]), {}, r"Expected a 1D tensor with 2 or 3 values.* Got 1 elements"),
        (np.int64([1, 2, 3, 4]), {}, r"Expected a 1D tensor with 2 or 3 values.* Got 4 elements"),
        (np.int64([[4, 5]]), {}, "Expected a 1D tensor with 2 or 3 values.* Got 2 axes"),
        (np.int64([4, 5]), {"random_area": (0.0, 1.0)}, "Provided empty range: random_area must be"),
        (np.int64([4, 5]), {"num_attempts": 0}, "num_attempts must be at least 1"),
    ],
)
def test_what_is_refused(shape, args, text):
    with (
        jax.enable_x64(True),
        pytest.raises((TypeError, ValueError), match=f"^random_crop_generator: {text}"),
    ):
        pure_call(random_crop_generator, [shape], args, key=contract.sample_keys(1)[0])
