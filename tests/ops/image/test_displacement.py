"""water, sphere and jitter."""

import collections
import itertools

import jax
import numpy as np
import pytest
from support import contract
from support.data import image
from support.frequencies import check_frequencies

from jdali import ops, types
from jdali._operators.pure import pure_call
from jdali.ops.image._displacement import jitter, sphere, water

SIZES = ((23, 31), (1, 5), (8, 20), (40, 37))
LINEAR = {"interp_type": types.INTERP_LINEAR, "fill_value": 100.0}


def pictures(dtype=np.uint8, channels=3):
    return [image(h, w, channels, dtype) for h, w in SIZES]


@pytest.mark.oracle
@pytest.mark.parametrize("op", [water, sphere])
@pytest.mark.parametrize("args", [{"fill_value": 7.0}, LINEAR], ids=["nearest", "linear"])
def test_uint8(op, args):
    """A sample that is left as it is among them. A value within a rounding error of a half may be 1 off."""
    atol = 1 if args is LINEAR else 0
    contract.check(op, [pictures()], args, {"mask": [1, 1, 0, 1]}, layout="HWC", atol=atol)


@pytest.mark.oracle
@pytest.mark.parametrize("op", [water, sphere])
def test_floats(op):
    """Positions of float32 are exact to 1e-5 pixels, by which pixels that differ by 1 change by as much."""
    contract.check(op, [pictures(np.float32, 1)], {**LINEAR, "fill_value": -0.6}, layout="HWC", atol=1e-4)


@pytest.mark.oracle
def test_waves():
    args = {"ampl_x": 2.5, "ampl_y": -1.5, "freq_x": 0.3, "freq_y": 0.2, "phase_x": 0.5, "phase_y": 0.7}
    contract.check(water, [pictures()], args, layout="HWC")


def test_one_pixel():
    """DALI has NaN here, and what it makes of it depends on the interpolation."""
    one = np.full((1, 1, 2), 9, np.uint8)
    for args in ({"fill_value": 4.0}, {"fill_value": 4.0, "interp_type": types.INTERP_LINEAR}):
        np.testing.assert_array_equal(contract.pure(sphere, [one], args, layout="HWC"), np.full((1, 1, 2), 4))


def test_jitter_moves_whole_pixels():
    """What a pixel shows is up to half of nDegree away, in all channels alike; the share of each move is the same."""
    height, width = 60, 70
    y, x = np.mgrid[:height, :width]
    positions = np.stack([y, x], axis=-1).astype(np.int32)
    for degree, low, high in ((2, -1, 1), (5, -2, 3)):
        (found,) = contract.check_random(jitter, [[positions]], {"nDegree": degree}, layout="HWC")
        moves = (found[0] - positions)[5:-5, 5:-5]
        assert (moves.min(), moves.max()) == (low, high)
        for axis in range(2):
            _, counts = np.unique(moves[..., axis], return_counts=True)
            expected = moves[..., axis].size / (degree + 1)
            assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)
        assert abs(np.corrcoef(moves[..., 0].ravel(), moves[..., 1].ravel())[0, 1]) < 0.1
        assert (found[0] >= 0).all()
        assert (found[0] < [height, width]).all()


@pytest.mark.parametrize("degree", [1, 3, 4])
def test_jitter_draws_moves_as_dali(degree):
    """DALI's kernel draws two whole numbers from -(nDegree // 2) on, nDegree + 1 of them, and keeps to the borders."""
    height, width, count = 3, 4, 6000
    picture = np.arange(height * width, dtype=np.int32).reshape(height, width, 1)
    keys = jax.random.split(jax.random.key(degree), count)
    call = jax.jit(jax.vmap(lambda key: ops.jitter(key, picture, nDegree=degree)))
    shown = np.asarray(call(keys))[..., 0]
    moves = range(-(degree // 2), degree - degree // 2 + 1)
    share = 1 / (degree + 1) ** 2
    alone = {}
    for y, x in itertools.product(range(height), range(width)):
        expected = collections.Counter()
        for dy, dx in itertools.product(moves, repeat=2):
            expected[int(picture[np.clip(y + dy, 0, height - 1), np.clip(x + dx, 0, width - 1), 0])] += share
        check_frequencies(shown[:, y, x].tolist(), expected)
        alone[y, x] = expected
    for one, other in (((1, 1), (1, 2)), ((1, 1), (2, 1)), ((0, 0), (2, 3))):  # each pixel draws for itself
        both = {(a, b): p * q for a, p in alone[one].items() for b, q in alone[other].items()}
        check_frequencies(zip(shown[:, *one].tolist(), shown[:, *other].tolist(), strict=True), both)


def test_jitter_of_none():
    picture = image(9, 8)
    key = jax.random.key(0)
    for args in ({"nDegree": 0}, {"mask": 0}):
        np.testing.assert_array_equal(contract.pure(jitter, [picture], args, layout="HWC", key=key), picture)


def test_what_is_refused():
    empty = np.zeros((0, 3, 1), np.uint8)
    for op in (water, sphere):
        with pytest.raises(ValueError, match=f"{op.name}: the image has no pixels"):
            pure_call(op, [empty], {}, layout="HWC")
        with pytest.raises(
            ValueError, match=f"{op.name}: Only nearest and linear interpolation is supported"
        ):
            pure_call(op, [image(2, 2)], {"interp_type": types.INTERP_CUBIC}, layout="HWC")
    with pytest.raises(ValueError, match="jitter: nDegree must be from 0 to 32767, got -1"):
        pure_call(jitter, [image(2, 2)], {"nDegree": -1}, layout="HWC", key=jax.random.key(0))
