"""grid_mask against the real DALI and against NumPy."""

import numpy as np
import pytest
from support import contract, oracle
from support.data import image

import jdali
from jdali import fn
from jdali._operators.pure import pure_call
from jdali.ops.image._grid_mask import grid_mask

SIZES = [(23, 31), (40, 17), (1, 1), (9, 50)]


def pictures(dtype=np.uint8, channels=3):
    return [image(h, w, channels, dtype, i) for i, (h, w) in enumerate(SIZES)]


def position(height, width, tile, angle=0.0, shift_x=0.0, shift_y=0.0):
    """float64 (u, v) of each pixel of the grid."""
    y, x = np.mgrid[:height, :width].astype(np.float64)
    cos, sin = np.cos(angle), np.sin(angle)
    return (x * cos - y * sin - shift_x) / tile, (x * sin + y * cos - shift_y) / tile


def test_squares():
    """Without an angle, in whole pixels: by indices alone."""
    white = np.full((10, 13, 1), 255, np.uint8)
    y, x = np.mgrid[:10, :13]
    black = ((x - 3) % 8 < 4) & ((y + 2) % 8 < 4)
    args = {"tile": 8, "ratio": 0.5, "shift_x": 3.0, "shift_y": -2.0}
    contract.check(
        grid_mask, [[white]], args, layout="HWC", expected=[[np.where(black[..., None], 0, white)]]
    )


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.float32])
def test_per_sample(dtype):
    """Borders of squares lie on pixels here, except for rounding: every product and sum must be DALI's."""
    per_sample = {
        "ratio": [0.4, 1 / 3, 0.5, 0.3], "shift_x": [0.1, 1 / 3, -3.0, 2.7], "shift_y": [0.0, 2 / 3, 0.2, -7.1],
        "tile": [5, 3, 7, 10],
    }  # fmt: skip
    contract.check(grid_mask, [pictures(dtype)], {}, per_sample, layout="HWC", compiled_atol=0)


@pytest.mark.oracle
@pytest.mark.parametrize("ratio", [-0.5, 0.0, 1.0, 1.5])
def test_all_or_nothing(ratio):
    contract.check(grid_mask, [pictures()], {"ratio": ratio, "tile": 4}, layout="HWC")


@pytest.mark.oracle
def test_defaults_and_what_is_no_number():
    odd = np.full((120, 110, 1), -1.5, np.float32)
    odd[::7, ::5] = np.nan
    odd[::11] = np.inf
    contract.check(grid_mask, [[odd]], {}, layout="HWC", compiled_atol=0)


@pytest.mark.oracle
@pytest.mark.parametrize("angle", [0.1, 0.7, np.pi / 2, -4.0])
def test_turned(angle):
    """Like DALI's except for pixels whose position is a border up to the rounding of float32 (of some 20 tiles: 1e-5)."""
    args = {"tile": 7, "ratio": 0.43, "angle": float(angle), "shift_x": 1.3, "shift_y": -2.2}
    whites = [np.full((h, w, 1), 9, np.uint8) for h, w in SIZES]
    ((*expected,),) = oracle.run("grid_mask", [whites], args, layout="HWC")
    for white, want in zip(whites, expected, strict=True):
        got = np.asarray(contract.pure(grid_mask, [white], args, layout="HWC"))
        own = {key: value for key, value in args.items() if key != "ratio"}
        near = np.zeros(white.shape[:2], bool)
        for part in position(*white.shape[:2], **own):
            fraction = part % 1
            for border in (0, args["ratio"], 1):
                near |= np.abs(fraction - border) < 1e-5
        assert near.mean() < 0.05
        np.testing.assert_array_equal(got[~near], want[~near])


@pytest.mark.oracle
@pytest.mark.parametrize("layout", ["CHW", "HW", "FHWC", "FCHW"])
def test_layouts(layout):
    """DALI knows HWC only: the frames and channels of the others are given to it one by one."""
    rng = np.random.default_rng(1)
    extents = {"F": (2, 3), "H": (6, 15), "W": (13, 9), "C": (3, 3)}
    samples = [rng.integers(1, 255, [extents[c][i] for c in layout], np.uint8) for i in (0, 1)]
    args = {"tile": 5, "ratio": 0.6, "shift_x": 1.0}
    (masks,) = oracle.run("grid_mask", [[np.ones((e.shape[layout.index("H")], e.shape[layout.index("W")], 1), np.uint8)
                                         for e in samples]], args, layout="HWC")  # fmt: skip
    expected = []
    for sample, mask in zip(samples, masks, strict=True):
        shape = [n if c in "HW" else 1 for c, n in zip(layout, sample.shape, strict=True)]
        expected.append(sample * mask.reshape(shape))
    contract.check(grid_mask, [samples], args, layout=layout, expected=[expected])


def test_what_is_refused():
    picture = image(4, 4)
    with pytest.raises(ValueError, match="grid_mask: Tile argument must be positive, got 0"):
        pure_call(grid_mask, [picture], {"tile": 0}, layout="HWC")
    with pytest.raises(ValueError, match="grid_mask: images are uint16, they must be one of uint8, int16"):
        pure_call(grid_mask, [picture.astype(np.uint16)], {}, layout="HWC")


def test_in_a_pipeline():
    """A tile of 0 is an error of its sample."""
    with jdali.Pipeline(batch_size=3, num_threads=1, device_id=None) as pipe:
        white = fn.external_source(lambda: [np.ones((6, 6, 1), np.uint8)] * 3, layout="HWC")
        tile = fn.external_source(lambda: [np.int32(2), np.int32(0), np.int32(4)])
        pipe.set_outputs(fn.grid_mask(white, tile=tile))
    with pytest.raises(jdali.OperatorError, match="grid_mask: Tile argument must be positive, got 0"):
        pipe.run()
    pipe.close()
