"""Scaled decoding: only where a resize shrinks as much anyway, same sizes, nearly the same picture."""

import io

import numpy as np
import pytest
from PIL import Image

import jdali
from jdali import fn


def jpeg(height: int, width: int, seed: int) -> np.ndarray:
    """A picture without fine detail, so that how it is shrunk hardly matters."""
    y, x = np.mgrid[0:height, 0:width] / max(height, width)
    planes = [np.sin((3 + c + seed) * x + (2 + c) * y) * 100 + 128 for c in range(3)]
    buffer = io.BytesIO()
    Image.fromarray(np.stack(planes, axis=-1).astype(np.uint8)).save(buffer, "JPEG", quality=92)
    return np.frombuffer(buffer.getvalue(), np.uint8)


# The second is too small for what it is resized to; the others are shrunk to an eighth and a quarter or a half.
ENCODED = [jpeg(530, 410, 0), jpeg(40, 50, 2), jpeg(130, 220, 3)]


def run(scaled, resize, *, crop=False, decode=fn.decoders.image):
    @jdali.pipeline_def(batch_size=len(ENCODED), num_threads=2, scaled_decoding=scaled, seed=3)
    def pipeline():
        return resize(decode(fn.external_source(source=lambda: ENCODED)))

    pipe = pipeline()
    (out,) = pipe.run()
    return [out.at(i).astype(int) for i in range(len(ENCODED))], pipe.plan()


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("resize", "decode"),
    [
        (lambda x: fn.resize(x, size=[32, 32]), fn.decoders.image_random_crop),
        pytest.param(
            lambda x: fn.resize(x, resize_shorter=40), fn.decoders.image, marks=pytest.mark.exhaustive
        ),
        (lambda x: fn.resize_crop_mirror(x, resize_shorter=40, crop=(32, 36), mirror=1), fn.decoders.image),
    ],
    ids=["random_crop", "shorter", "crop_mirror"],
)
def test_same_sizes_and_nearly_the_same_picture(resize, decode):
    exact, _ = run(False, resize, decode=decode)
    scaled, _ = run(True, resize, decode=decode)
    for a, b in zip(exact, scaled, strict=True):
        assert a.shape == b.shape
        # Another filter, and at the border another pixel to repeat.
        assert np.abs(a - b).max() <= 12
        assert np.abs(a - b).mean() < 1
    assert any((a != b).any() for a, b in zip(exact, scaled, strict=True))


def test_no_scaling_where_the_picture_is_used_elsewhere_too():
    @jdali.pipeline_def(batch_size=len(ENCODED), num_threads=2, scaled_decoding=True)
    def pipeline():
        images = fn.decoders.image(fn.external_source(source=lambda: ENCODED))
        return images, fn.resize(images, size=[8, 8])

    images, _ = pipeline().run()
    assert images.shape() == [(530, 410, 3), (40, 50, 3), (130, 220, 3)]


def test_no_scaling_where_the_resize_enlarges():
    exact, _ = run(False, lambda x: fn.resize(x, size=[540, 420]))
    scaled, _ = run(True, lambda x: fn.resize(x, size=[540, 420]))
    for a, b in zip(exact, scaled, strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_cannot_be_decoded_at_a_fraction_of_its_size_is_whole():
    """Beside JPEG files in one batch: of a PNG file the resize gets, and takes, all of the picture."""
    buffer = io.BytesIO()
    Image.open(io.BytesIO(ENCODED[0].tobytes())).save(buffer, "PNG")
    png = np.frombuffer(buffer.getvalue(), np.uint8)

    def resized(scaled):
        @jdali.pipeline_def(batch_size=2, num_threads=2, scaled_decoding=scaled)
        def pipeline():
            images = fn.decoders.image(fn.external_source(source=lambda: [png, ENCODED[0]]))
            return fn.resize(images, size=[32, 40])

        (out,) = pipeline().run()
        return [out.at(i).astype(int) for i in range(2)]

    exact, scaled = resized(False), resized(True)
    np.testing.assert_array_equal(scaled[0], exact[0])
    assert (scaled[1] != exact[1]).any()
    assert np.abs(scaled[1] - exact[1]).max() <= 12
