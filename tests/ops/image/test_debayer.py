"""debayer against the real DALI, bit by bit."""

import numpy as np
import pytest
from support import contract

from jdali import Pipeline, fn
from jdali._operators.pure import pure_call
from jdali.ops.image._debayer import debayer

RNG = np.random.default_rng(3)
TILES = [(0, 0), (0, 1), (1, 0), (1, 1)]


def sensor(*shape, dtype=np.uint8):
    """Noise, with a part that is as bright as can be."""
    values = RNG.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    values[..., : shape[-2] // 3, :] = np.iinfo(dtype).max
    return values


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("algorithm", ["bilinear_ocv", "edgeaware_ocv", "gray_ocv"])
def test_equals_dali(algorithm, dtype):
    """Every tile, and pictures that are all border or nearly so."""
    samples = [sensor(*shape, dtype=dtype) for shape in [(22, 30), (4, 6), (2, 8), (6, 2)]]
    contract.check(debayer, [samples], {"algorithm": algorithm}, {"blue_position": TILES}, layout="HW")


@pytest.mark.oracle
@pytest.mark.parametrize("algorithm", ["bilinear_ocv", "edgeaware_ocv", "gray_ocv", "vng_ocv"])
def test_large_pictures_equal_dali(algorithm):
    """Made in several blocks of rows on a CPU."""
    samples = [sensor(140, 150), sensor(130, 142)]
    contract.check(debayer, [samples], {"algorithm": algorithm}, {"blue_position": TILES[1:3]}, layout="HW")


@pytest.mark.oracle
def test_gradients_equal_dali():
    """Widths with every rest of 8, where OpenCV rounds in another way; and small pictures."""
    shapes = [(500, 16), (400, 18), (300, 20), (300, 22), (8, 8), (6, 24), (24, 6)]
    tiles = [TILES[i % 4] for i in range(len(shapes))]
    samples = [sensor(*shape) for shape in shapes]
    contract.check(debayer, [samples], {"algorithm": "vng_ocv"}, {"blue_position": tiles}, layout="HW", pad=2)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("layout", "shape"), [("HWC", (4, 6, 1)), ("FHW", (2, 4, 6)), ("FHWC", (2, 4, 6, 1)), ("", (4, 6))]
)
def test_layouts_equal_dali(layout, shape):
    """A name in capital letters, and one value for both coordinates."""
    args = {"algorithm": "BILINEAR_OCV", "blue_position": 1}
    contract.check(debayer, [[sensor(*shape)]], args, layout=layout)


def test_flat_colour_stays():
    """Red 10, green 20 and blue 30 everywhere; red lies in the corner where `blue_position` is (0, 0)."""
    picture = np.full((8, 8), 20, np.uint8)
    picture[::2, ::2], picture[1::2, 1::2] = 10, 30
    for algorithm in ("bilinear_ocv", "edgeaware_ocv", "vng_ocv"):
        got = contract.pure(
            debayer, [picture], {"blue_position": (0, 0), "algorithm": algorithm}, layout="HW"
        )
        np.testing.assert_array_equal(got, np.broadcast_to(np.uint8([10, 20, 30]), (8, 8, 3)))


def test_deprecated_name():
    with Pipeline(batch_size=1, num_threads=1, device_id=None) as pipe:
        picture = fn.external_source(lambda: [np.full((4, 4), 7, np.uint8)], layout="HW")
        pipe.set_outputs(fn.experimental.debayer(picture, blue_position=[0, 1]))
    (out,) = pipe.run()
    pipe.close()
    assert out.layout() == "HWC"
    np.testing.assert_array_equal(np.asarray(out.at(0)), np.full((4, 4, 3), 7, np.uint8))


@pytest.mark.parametrize(
    ("picture", "args", "message"),
    [
        (sensor(4, 5), {}, "The height and width of the image to debayer must be even."),
        (sensor(4, 4).astype(np.float32), {}, "Unsupported input type for debayer operator: float32"),
        (
            sensor(4, 4, dtype=np.uint16),
            {"algorithm": "vng_ocv"},
            "VNG debayering only supported with UINT8. Images are uint16",
        ),
        (sensor(4, 4), {"algorithm": "default_npp"}, "default_npp algorithm is not supported on CPU. "),
        (
            sensor(4, 4),
            {"blue_position": (0, 2)},
            "The `blue_position` position must lie within 2x2 tile, got: 0",
        ),
        (
            sensor(4, 4),
            {"blue_position": (0, 1, 0)},
            'Argument "blue_position" expects either a single value or a list of 2',
        ),
        (
            np.zeros((4, 4, 3), np.uint8),
            {},
            r"The debayer operator expects grayscale \(i.e. single channel\) images, got channels: 3",
        ),
    ],
)
def test_what_is_refused(picture, args, message):
    with pytest.raises(ValueError, match=f"debayer: {message}"):
        pure_call(debayer, [picture], {"blue_position": (0, 0)} | args, layout="HWC"[: picture.ndim])
