"""ssd_random_crop: windows obey their limits, what is in them follows, and DALI draws alike."""

import warnings

import numpy as np
import pytest
from support import oracle

import jdali
from jdali import fn

BOXES = np.array([[0.3, 0.3, 0.6, 0.55], [0.35, 0.4, 0.7, 0.65]], np.float32)
LABELS = np.array([7, 5], np.int32)
# An image that says where each of its pixels is.
PICTURE = np.stack(np.meshgrid(np.arange(100), np.arange(80), indexing="ij"), axis=-1).astype(np.uint8)
COUNT = 400


def crops(seed=3, **args):
    """COUNT windows (left, top, right, bottom) in pixels, with boxes and labels."""
    with jdali.Pipeline(batch_size=COUNT, num_threads=1, device_id=None, seed=seed) as pipe:
        inputs = [fn.external_source(lambda info, v=v: v, batch=False) for v in (PICTURE, BOXES, LABELS)]
        pipe.set_outputs(*fn.ssd_random_crop(*inputs, **args))
    outs = [[np.asarray(out.at(i)) for i in range(COUNT)] for out in pipe.run()]
    pipe.close()
    return [windows(outs[0]), *outs[1:]]


def windows(pictures):
    corners = [(*p[0, 0][::-1], *(p[-1, -1][::-1].astype(int) + 1)) for p in pictures]
    return np.array(corners, int)


def test_what_is_given():
    found, boxes, labels = crops(num_attempts=5)
    sizes = (found[:, 2:] - found[:, :2]) / [80, 100]
    whole = (sizes == 1).all(axis=1)
    assert 0.1 < whole.mean() < 0.9
    ratio = sizes[:, 0] / sizes[:, 1]
    # Borders are rounded: by up to a pixel, of at least 24.
    assert (sizes > 0.29).all()
    assert ((ratio > 0.5 * 0.95) & (ratio < 2 * 1.05)).all()
    for window, own, names in zip(found[~whole], [b for b, w in zip(boxes, whole, strict=True) if not w],
                                  [n for n, w in zip(labels, whole, strict=True) if not w], strict=True):  # fmt: skip
        first, last = window[:2] / [80, 100], window[2:] / [80, 100]
        stay = [int(np.flatnonzero(n == LABELS)[0]) for n in names]
        expected = (np.clip(BOXES[stay].reshape(-1, 2, 2), first, last) - first) / (last - first)
        # By how far a border that is rounded moves a box: a pixel of the 24 or more of a window.
        np.testing.assert_allclose(own.reshape(-1, 2, 2), expected, atol=1 / 24)
        centres = (BOXES[:, :2] + BOXES[:, 2:]) / 2
        clearly = ((centres > first + 0.02) & (centres < last - 0.02)).all(axis=1)
        assert set(np.flatnonzero(clearly)) <= set(stay)
    np.testing.assert_array_equal(boxes[int(whole.argmax())], BOXES)


@pytest.mark.oracle
def test_same_distribution():
    """Shares of whole pictures and means of sizes, of 400 windows each: within 5 standard deviations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is deprecated
        theirs = windows(
            oracle.run("ssd_random_crop", [[PICTURE] * COUNT, [BOXES] * COUNT, [LABELS] * COUNT],
                       {"num_attempts": 5}, outputs=3)[0]
        )  # fmt: skip
    ours = crops(num_attempts=5)[0]
    for values in (
        lambda w: ((w[:, 2:] - w[:, :2]) == [80, 100]).all(axis=1).astype(float),
        lambda w: (w[:, 2] - w[:, 0]) / 80,
        lambda w: (w[:, 3] - w[:, 1]) / 100,
        lambda w: w[:, 0] / 80,
    ):
        a, b = values(ours), values(theirs)
        assert abs(a.mean() - b.mean()) < 5 * np.sqrt((a.var() + b.var()) / COUNT)


def test_seeds():
    np.testing.assert_array_equal(crops()[0], crops()[0])
    assert (crops()[0] != crops(seed=4)[0]).any()


def test_bad_boxes():
    bad = np.float32([[0.1, 0.1, 1.5, 0.5]])
    with jdali.Pipeline(batch_size=1, num_threads=1, device_id=None) as pipe:
        inputs = [fn.external_source(lambda info, v=v: v, batch=False) for v in (PICTURE, bad, LABELS[:1])]
        pipe.set_outputs(*fn.ssd_random_crop(*inputs))
    with pytest.raises(jdali.OperatorError, match="ssd_random_crop: box .* is out of bounds"):
        pipe.run()
    pipe.close()
