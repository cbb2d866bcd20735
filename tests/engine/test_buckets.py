"""The policy of padded shapes: everything fits, waste and the number of shapes are bounded."""

import numpy as np
import pytest

from jdali.engine._buckets import ACCEPTED_WASTE, BucketPolicy, round_up, round_up_finely


def image_policy() -> BucketPolicy:
    return BucketPolicy(np.zeros(3, np.int64), np.array([False, False, True]))


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, 0),
        (1, 1),
        (4, 4),
        (5, 8),
        (8, 8),
        (9, 12),
        (13, 16),
        (17, 24),
        (33, 48),
        (1025, 1536),
        (1537, 2048),
    ],
)
def test_the_grid(size, expected):
    assert round_up(size) == expected


def test_every_sample_is_in_one_group_that_holds_it():
    policy = image_policy()
    rng = np.random.default_rng(0)
    for _ in range(30):
        rows = np.concatenate([rng.integers(1, 1500, (16, 2)), np.full((16, 1), 3)], axis=1)
        groups = policy.group(rows)
        placed = np.sort(np.concatenate([g.samples for g in groups]))
        np.testing.assert_array_equal(placed, np.arange(16))
        for group in groups:
            assert (np.array(group.shape) >= rows[group.samples]).all()


def test_the_number_of_shapes_is_bounded_whatever_sizes_come():
    policy = image_policy()
    rng = np.random.default_rng(1)
    for _ in range(500):
        policy.group(np.concatenate([rng.integers(1, 1300, (8, 2)), np.full((8, 1), 3)], axis=1))
    # One for each step of accepted waste, and then only shapes larger than all before.
    assert len(policy.shapes) <= len(ACCEPTED_WASTE) + 4


def test_one_size_for_all_is_kept_exact():
    policy = image_policy()
    (group,) = policy.group(np.array([[224, 100, 3]] * 4))
    assert group.shape == (224, 100, 3)


def test_sizes_that_change_from_batch_to_batch_go_to_the_grid():
    policy = image_policy()
    for size in (100, 200, 300, 401, 502):
        policy.group(np.array([[size, size, 3]] * 2))
    assert policy.shapes[:2] == [(100, 100, 3), (200, 200, 3)]
    assert all(round_up(s) == s for shape in policy.shapes[2:] for s in shape[:2])


def test_a_batch_seen_before_opens_nothing():
    policy = image_policy()
    rows = np.array([[30, 500, 3], [700, 20, 3], [64, 64, 3]])
    policy.group(rows)
    before = policy.shapes
    policy.group(rows[::-1])
    assert policy.shapes == before


def test_channels_are_never_padded():
    policy = image_policy()
    policy.group(np.array([[100, 100, 4]]))
    groups = policy.group(np.array([[90, 90, 3], [90, 90, 1], [90, 90, 4]]))
    assert sorted(g.shape[2] for g in groups) == [1, 3, 4]


def test_empty_batches_and_values_without_axes():
    assert image_policy().group(np.zeros((0, 3), np.int64)) == []
    (group,) = BucketPolicy(np.zeros(0, np.int64), np.zeros(0, bool)).group(np.zeros((5, 0), np.int64))
    assert group.shape == ()
    assert len(group.samples) == 5


def test_roomy_shapes_are_few():
    policy = BucketPolicy(np.zeros(3, np.int64), np.array([False, False, True]), roomy=True)
    rng = np.random.default_rng(2)
    for _ in range(300):
        rows = np.concatenate([rng.integers(50, 1600, (16, 2)), np.full((16, 1), 3)], axis=1)
        for group in policy.group(rows):
            assert (np.array(group.shape) >= rows[group.samples]).all()
    assert len(policy.shapes) <= 4


def test_shapes_by_size_do_not_depend_on_what_was_met_before():
    rows = np.array([[100, 90, 3], [224, 17, 3], [1, 500, 1]])
    for before in ([[1000, 1000, 3]], [[100, 91, 3]], []):
        for roomy in (False, True):
            policy = BucketPolicy(
                np.zeros(3, np.int64), np.array([False, False, True]), roomy=roomy, by_size=True
            )
            for row in before:
                policy.group(np.array([row] * 2))
            shapes = {g.shape for g in policy.group(rows)}
            least = 256 if roomy else 0
            assert shapes == {
                (max(112, least), max(96, least), 3), (max(224, least), max(20, least), 3), (1, 512, 1),
            }  # fmt: skip


def test_the_fine_grid_wastes_a_quarter_at_most():
    sizes = np.arange(8, 5000)
    padded = np.array([round_up_finely(int(n)) for n in sizes])
    assert (padded >= sizes).all()
    assert (padded <= 1.25 * sizes).all()
    assert len(np.unique(padded)) < 50
