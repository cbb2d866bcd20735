"""A pixel that is NaN or infinite reaches the pixels whose filter reaches it, and no others, as in DALI."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support import oracle
from support.some import some

import jdali.ops
from jdali import types
from jdali._numerics.platform import forced

FILTERS = [
    types.INTERP_NN,
    types.INTERP_LINEAR,
    types.INTERP_CUBIC,
    types.INTERP_LANCZOS3,
    types.INTERP_GAUSSIAN,
]
SIZES = [(48, 48), (80, 80), (20, 64), (64, 100)]


def picture(value: float, *shape: int) -> np.ndarray:
    """Random except for one pixel; large enough for the loops over tiles."""
    image = np.random.default_rng(5).normal(size=(*shape, 1)).astype(np.float32)
    image[tuple(size // 2 - 1 for size in shape)] = value
    return image


@pytest.mark.exhaustive  # laws/test_non_finite has it of every operator
@pytest.mark.oracle
@some("kind, value", itertools.product(FILTERS, [np.nan, np.inf, -np.inf]))
def test_resize(kind, value):
    image = picture(value, 64, 64)
    (want,) = oracle.run(
        "resize", [[image] * len(SIZES)], {"interp_type": kind}, {"size": np.float32(SIZES)}, layout="HWC"
    )
    for size, expected in zip(SIZES, want, strict=True):
        got = np.asarray(jdali.ops.resize(image, size=size, interp_type=kind, layout="HWC"))
        assert (0 if kind == types.INTERP_NN else 1) <= (~np.isfinite(expected)).sum() < 100
        # An infinite pixel may become NaN: what is too much of a block of taps is 0 times the last of them.
        np.testing.assert_array_equal(np.isfinite(got), np.isfinite(expected))
        good = np.isfinite(expected)
        np.testing.assert_allclose(got[good], expected[good], rtol=0, atol=2e-6)


@pytest.mark.exhaustive  # laws/test_non_finite has it of every operator
@pytest.mark.oracle
@pytest.mark.parametrize("kind", FILTERS, ids=lambda kind: kind.name)
def test_small_pictures_volumes_and_windows(kind):
    small, volume = picture(np.nan, 12, 9), picture(np.nan, 6, 9, 11)
    args = {"interp_type": kind}
    calls = [
        ("resize", small, {"size": (17, 6)}, "HWC"),
        ("resize", volume, {"size": (9, 7, 20)}, "DHWC"),
        ("resize_crop_mirror", small, {"size": (19, 24), "crop": (15, 17), "mirror": 1}, "HWC"),
        ("tensor_resize", small[..., 0], {"sizes": (17, 6)}, ""),
    ]
    for name, image, more, layout in calls:
        ((want,),) = oracle.run(name, [[image]], args | more, layout=layout)
        got = getattr(jdali.ops, name)(image, **args, **more, layout=layout)
        np.testing.assert_array_equal(np.isfinite(np.asarray(got)), np.isfinite(want), err_msg=name)


@pytest.mark.exhaustive  # laws/test_non_finite has it of every operator
@some("kind, platform", itertools.product(FILTERS[1:], ["gpu", "tpu"]))
def test_accelerators(kind, platform):
    """They give what the loops of a CPU give, which are compared with DALI above."""
    image, arguments = picture(np.nan, 12, 9), {"size": (17, 6), "interp_type": kind, "layout": "HWC"}
    with forced(platform):
        got = np.asarray(jdali.ops.resize(image, **arguments))
    want = np.asarray(jdali.ops.resize(image, **arguments))
    assert 0 < np.isnan(want).sum() < want.size
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-5)
