"""box_encoder against the real DALI, by hand, and as plain loops."""

import jax
import numpy as np
import pytest
from support import contract

from jdali._errors import SampleError
from jdali._operators.pure import pure_call
from jdali.ops.bbox._box_encoder import box_encoder

# A logarithm and a few products of numbers up to 10: units in the last place of float32.
OFFSETS = 4e-6


def boxes(count, seed=0):
    rng = np.random.default_rng(seed)
    first = rng.random((count, 2)) * 0.7
    return np.concatenate([first, first + 0.05 + rng.random((count, 2)) * (0.95 - first)], 1).astype(
        np.float32
    )


def batch():
    given = [boxes(5), boxes(1, 1), boxes(0), boxes(9, 2)]
    return [given, [np.arange(1, len(b) + 1, dtype=np.int32) for b in given]]


def test_by_hand():
    anchors = [0, 0, 0.5, 0.5, 0.5, 0, 1, 0.5, 0, 0.5, 0.5, 1]
    given = np.float32([[0, 0, 0.5, 0.25]])  # half of the first anchor: not above the limit, but its best
    centred = np.float32([[0.25, 0.125, 0.5, 0.25], [0.75, 0.25, 0.5, 0.5], [0.25, 0.75, 0.5, 0.5]])
    contract.check(
        box_encoder, [[given], [np.int32([7])]], {"anchors": anchors},
        expected=[[centred], [np.int32([7, 0, 0])]], compiled_atol=0.0,
    )  # fmt: skip
    offsets = np.zeros((3, 4), np.float32)
    # The centre is a quarter of the anchor's height higher; logarithm of a half; deviations of 0.5 and 2.
    offsets[0] = [0, (-0.25 - 0.5) / 0.5, 0, np.log(0.5) / 2]
    args = {"anchors": anchors, "offset": True, "scale": 4.0, "means": [0, 0.5, 0, 0], "stds": [1, 0.5, 1, 2]}
    contract.check(
        box_encoder, [[given], [np.int32([[7]])]], args,
        expected=[[offsets], [np.int32([7, 0, 0])]], atol=1e-7,  # a unit in the last place of the logarithm
    )  # fmt: skip


def test_of_equal_overlaps_the_last_counts():
    anchors = [0, 0, 0.5, 0.5] * 3
    given = np.float32([[0, 0, 0.5, 0.5], [0, 0, 0.5, 0.5]])
    labels = contract.pure(box_encoder, [given, np.int32([1, 2])], {"anchors": anchors})[1]
    # Both overlap with all of each anchor; for both the last is the best.
    np.testing.assert_array_equal(labels, [2, 2, 2])
    far = np.float32([[0.8, 0.8, 0.9, 0.9]])
    labels = contract.pure(box_encoder, [far, np.int32([5])], {"anchors": anchors})[1]
    np.testing.assert_array_equal(labels, [0, 0, 5])


def test_as_loops():
    anchors, given, labels = boxes(60, 3), boxes(7, 4), np.arange(1, 8, dtype=np.int32)
    found = np.zeros(60, np.int32)

    def overlap(a, b):
        sides = np.minimum(a[2:], b[2:]).astype(np.float64) - np.maximum(a[:2], b[:2])
        both = max(sides[0], 0) * max(sides[1], 0)
        return both / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - both)

    table = np.array([[overlap(a, b) for a in anchors] for b in given])
    for j in range(60):
        if table[:, j].max() > 0.3:
            found[j] = labels[table[:, j].argmax()]
    for i in range(7):
        found[table[i].argmax()] = labels[i]
    args = {"anchors": anchors.ravel().tolist(), "criteria": 0.3}
    got = contract.pure(box_encoder, [given, labels], args)[1]
    np.testing.assert_array_equal(got, found)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("args", "atol"),
    [
        ({}, 0.0),
        ({"criteria": 0.2}, 0.0),
        (
            {"offset": True, "scale": 300.0, "means": [0.1, 0.0, 0.2, 0.3], "stds": [0.1, 0.1, 0.2, 0.2]},
            OFFSETS,
        ),
    ],
)
def test_equals_dali(args, atol):
    anchors = boxes(200, 5).ravel().tolist()
    contract.check(
        box_encoder, batch(), {"anchors": anchors, **args}, atol=atol, compiled_atol=OFFSETS if atol else 1e-7,
    )  # fmt: skip


@pytest.mark.exhaustive  # test_pure_functions has it of every operator
def test_vmap_and_gradient():
    anchors = boxes(20, 6).ravel().tolist()
    given, labels = np.stack([boxes(3, 7), boxes(3, 8)]), np.int32([[1, 2, 3], [4, 5, 6]])

    @jax.jit
    def run(box, label):
        return pure_call(box_encoder, [box, label], {"anchors": anchors, "offset": True})

    together = jax.jit(jax.vmap(run))(given, labels)
    for i in range(2):
        np.testing.assert_allclose(together[0][i], run(given[i], labels[i])[0], atol=OFFSETS)
        np.testing.assert_array_equal(together[1][i], run(given[i], labels[i])[1])
    gradient = jax.jit(jax.grad(lambda b: run(b, labels[0])[0].sum()))(given[0])
    assert np.isfinite(gradient).all()
    assert (gradient != 0).any()


@pytest.mark.parametrize(
    ("inputs", "args", "error", "text"),
    [
        ([boxes(2), np.zeros(3, np.int32)], {}, SampleError, r"got shapes \[2, 4\] and \[3\]"),
        ([np.zeros((2, 3), np.float32), np.zeros(2, np.int32)], {}, SampleError, r"got shapes \[2, 3\]"),
        ([boxes(2), np.zeros(2, np.int64)], {}, TypeError, "labels must be int32"),
        ([boxes(2).astype(np.int32), np.zeros(2, np.int32)], {}, TypeError, "boxes must be float32"),
        ([boxes(2)[0], np.zeros(2, np.int32)], {}, ValueError, "got 1 and 1 axes"),
        (
            [boxes(2), np.zeros(2, np.int32)],
            {"anchors": [0.0, 1.0]},
            ValueError,
            "Anchors size must be divisible by 4, actual value = 2",
        ),
        (
            [boxes(2), np.zeros(2, np.int32)],
            {"criteria": 1.5},
            ValueError,
            "Expected criteria <= 1, actual value = 1.500000",
        ),
        (
            [boxes(2), np.zeros(2, np.int32)],
            {"means": [0.0]},
            ValueError,
            "means size must be a list of 4 values. Got 1",
        ),
    ],
)
def test_errors(inputs, args, error, text):
    with jax.enable_x64(True), pytest.raises(error, match=f"box_encoder: .*{text}"):
        pure_call(box_encoder, inputs, {"anchors": [0.0, 0.0, 1.0, 1.0], **args})
