"""The policy of padded shapes: a function of the sample, which holds it, wastes little and gives few shapes."""

import numpy as np
import pytest

from jdali._numerics.grid import COARSE, FINE, FINEST, ROOMY, SMALL_AXIS, round_up
from jdali.engine.shapes.buckets import CHEAP, ROOM_IN, ROOM_OUT, TIGHT, PaddedShapes, ShapeNode, own_shapes

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("grid", "waste"), [(FINE, 1.25), (COARSE, 1.5), (FINEST, 1.125), (ROOMY, 4)])
def test_a_grid_holds_every_size_and_wastes_little(grid, waste):
    sizes = np.arange(5000)
    padded = round_up(sizes, grid)
    assert (padded >= sizes).all()
    np.testing.assert_array_equal(padded[: SMALL_AXIS + 1], sizes[: SMALL_AXIS + 1])
    assert (padded[20:] <= waste * sizes[20:]).all()
    np.testing.assert_array_equal(round_up(padded, grid), padded)


def test_common_sizes_are_on_the_fine_grid():
    common = [28, 32, 64, 96, 128, 224, 256, 320, 384, 448, 512, 640, 1024, 1280]
    np.testing.assert_array_equal(round_up(common), common)


@pytest.mark.parametrize("grid", [TIGHT, CHEAP, ROOM_IN, ROOM_OUT])
@pytest.mark.parametrize("layout", ["HWC", "CHW", "FHWC", "DHWC", "", "t"])
def test_every_sample_is_held(grid, layout):
    axes = len(layout) or 3
    extents = np.exp(RNG.uniform(0, 7, (200, axes))).astype(np.int64)
    extents[:5] = np.arange(5)[:, None]
    shapes = own_shapes(extents, layout, grid)
    assert (shapes >= extents).all()
    for i in range(len(extents)):  # each by itself
        np.testing.assert_array_equal(own_shapes(extents[i : i + 1], layout, grid)[0], shapes[i])
    if "C" in layout:
        np.testing.assert_array_equal(shapes[:, layout.index("C")], extents[:, layout.index("C")])


def test_sides_of_a_picture_are_in_proportion():
    sizes = np.array([[853, 1280, 3], [1280, 919, 3], [279, 960, 3], [500, 500, 3], [2, 900, 3]])
    tight = own_shapes(sizes, "HWC", TIGHT)
    assert tight.tolist() == [[960, 1280, 3], [1280, 960, 3], [384, 1024, 3], [512, 512, 3], [2, 1024, 3]]


def test_pictures_of_many_sizes_have_few_shapes():
    long = RNG.integers(200, 1281, 2000)
    short = (long * RNG.choice([1, 3 / 4, 2 / 3, 9 / 16], 2000)).astype(np.int64)
    extents = np.stack([short, long, np.full(2000, 3)], axis=1)
    tight, cheap, roomy = (own_shapes(extents, "HWC", grid) for grid in (TIGHT, CHEAP, ROOM_IN))
    assert len(np.unique(tight, axis=0)) <= 3 * len(np.unique(tight.max(axis=1)))
    assert len(np.unique(tight.max(axis=1))) <= 12
    assert len(np.unique(cheap, axis=0)) <= 12
    assert len(np.unique(roomy, axis=0)) <= 4
    assert tight.prod(axis=1).sum() <= 1.35 * extents.prod(axis=1).sum()


def test_frames_of_videos_keep_common_sizes():
    sizes = np.array([[16, 1080, 1920, 3], [16, 480, 640, 3], [10, 720, 1280, 3]])
    shapes = own_shapes(sizes, "FHWC", TIGHT)
    assert shapes.tolist() == [[16, 1152, 1920, 3], [16, 480, 640, 3], [10, 768, 1280, 3]]


class Cost:
    """Every element takes so long; of some values padding costs nothing."""

    seconds_worth_a_program = 100e-6

    def __init__(self, seconds: float, free: list[bool]):
        self._each, self.free = seconds, free

    def seconds(self, true, padded):
        return np.where(self.free, true, padded).sum(axis=1) * self._each


def frames_of(number, shapes):
    """A window every 100 elements, as a spectrogram has; 257 bins."""
    ((length,),) = shapes
    return ((257, length // 100 + 1),)


def policy(seconds=1.0, free=(False, False), derive=lambda number, shapes: None, layouts=("HWC", "HWC")):
    return PaddedShapes(layouts, [ShapeNode((0,), (1,))], Cost(seconds, list(free)), derive)


def shapes_of(groups, count):
    found = [None] * count
    for group in groups:
        for sample in group.samples.tolist():
            assert found[sample] is None
            found[sample] = group.shape
    assert None not in found
    return found


def pictures(count):
    sizes = np.concatenate([RNG.integers(1, 1500, (count, 2)), np.full((count, 1), 3)], axis=1)
    return sizes, sizes + np.array([1, 2, 0])


@pytest.mark.parametrize("free", [(False, False), (True, False), (True, True)])
def test_neither_history_nor_neighbours_change_a_shape(free):
    extents = pictures(32)
    one = policy(free=free)
    want = [one.group([e[i : i + 1] for e in extents], [None, None])[0].shape for i in range(32)]
    for _ in range(5):
        one.group(pictures(16), [None, None])
    assert shapes_of(one.group(extents, [None, None]), 32) == want
    order = RNG.permutation(32)
    assert shapes_of(one.group([e[order] for e in extents], [None, None]), 32) == [want[i] for i in order]


def test_what_setup_gives_for_padded_inputs_is_a_shape_of_its_own():
    lengths = np.arange(16000, 64000, 37)[:, None]
    extents = [lengths, np.concatenate([np.full_like(lengths, 257), lengths // 100 + 1], axis=1)]
    sounds = policy(derive=frames_of, layouts=("t", "ft"))
    shapes = shapes_of(sounds.group(extents, [None, None]), len(lengths))
    assert all(bins == 257 for _, bins, _ in shapes)
    # Frames have no steps of their own, which would divide those of the samples.
    assert len(set(shapes)) == len({length for length, *_ in shapes}) <= 9


@pytest.mark.parametrize(
    ("extents", "padded"),
    [
        ([[300, 200, 3], [301, 384, 3], [400, 300, 3]], [[384, 384, 3], [384, 384, 3], [512, 512, 3]]),
        ([[600, 600, 3]], [[600, 600, 3]]),  # the square would hold more than a million elements
        ([[3, 2, 3]], [[3, 2, 3]]),
    ],
)
def test_of_few_samples_what_is_padded_for_free_lies_in_squares(extents, padded):
    made = np.array(extents)

    def shapes(few, free):
        found = PaddedShapes(
            ("HWC", "HWC"),
            [ShapeNode((0,), (1,))],
            Cost(1.0, [True, free]),
            lambda *_: (tuple(made[0]),),
            few=few,
        ).shapes([np.full_like(made, 500), made], [None, None])
        return found[1].tolist()

    assert shapes(few=True, free=True) == padded
    for few, free in ((False, True), (True, False)):
        assert shapes(few, free)[0] == extents[0]


def test_a_shape_from_setup_that_does_not_hold_the_sample_is_not_taken():
    extents = [np.array([[100, 90, 3], [300, 20, 3]]), np.array([[60, 60, 3], [50, 50, 3]])]
    found = policy(derive=lambda number, shapes: ((55, 55, 3),)).group(extents, [None, None])
    assert [s[3:] for s in shapes_of(found, 2)] == [(64, 64, 3), (55, 55, 3)]


def test_a_sample_stays_as_an_earlier_stage_left_it_unless_that_is_larger():
    extents = [np.array([[300, 300, 3], [200, 300, 3]])] * 2
    held = np.array([[300, 300, 3], [640, 640, 3]])
    found = policy(derive=lambda number, shapes: shapes).group(extents, [held, None])
    assert [s[:3] for s in shapes_of(found, 2)] == [(300, 300, 3), (240, 320, 3)]


def test_samples_that_take_little_time_have_coarser_shapes():
    extents = [np.array([[20, 20, 3]])] * 2
    assert policy(1e-3).group(extents, [None, None])[0].shape[:2] == (20, 20)
    assert policy(1e-9).group(extents, [None, None])[0].shape[:2] == (24, 24)


def test_together_all_samples_are_in_the_largest_shape():
    extents = [np.array([[30, 500, 3], [700, 20, 3]])] * 2
    (group,) = policy().group(extents, [None, None], together=True)
    assert group.shape[:3] == (768, 576, 3)
    assert group.samples.tolist() == [0, 1]


def test_a_group_knows_its_waste_and_its_cheapest_sample():
    extents = [np.array([[250, 250, 3], [256, 256, 3], [240, 240, 3]])] * 2
    (group,) = policy(2.0).group(extents, [None, None])
    assert group.seconds == 2 * 2 * 3 * 256 * 256 * 3
    assert group.needed == 2 * 2 * 3 * (250**2 + 256**2 + 240**2)
    assert group.cheapest == 2


def test_empty_batches_and_values_without_axes():
    assert policy().group([np.zeros((0, 3), np.int64)] * 2, [None, None]) == []
    numbers = PaddedShapes([""], [ShapeNode((), (0,))], Cost(1.0, [False]), lambda number, shapes: ((),))
    (group,) = numbers.group([np.zeros((5, 0), np.int64)], [None])
    assert group.shape == ()
    assert len(group.samples) == 5


def test_no_value_at_all():
    assert PaddedShapes([], [], Cost(1.0, []), None).group([], []) == []
