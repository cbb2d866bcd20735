"""The levels of padded shapes: functions of a sample's own size, ever coarser, with few shapes at the end."""

import itertools

import numpy as np
import pytest

from jdali.engine.shapes.coarse import (
    FLOORS,
    GRIDS,
    LAST_LEVEL,
    Roomy,
    coarse_shapes,
    coarser_than,
    grid_and_floor,
    level_of,
    text_of,
)

RNG = np.random.default_rng(5)
LAYOUTS = ["HWC", "CHW", "HW", "FHWC", "DHWC", "t", "ft", ""]
LEVELS = [1, 9, 20, 28, 58, LAST_LEVEL]


def sizes(layout, count=100, most=600):
    axes = len(layout) or 3
    extents = np.exp(RNG.uniform(0, np.log(most), (count, axes))).astype(np.int64)
    extents[:6] = np.arange(6)[:, None]
    extents[:, [a for a, letter in enumerate(layout) if letter == "C"]] = 3
    return extents


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("roomy", [None, *Roomy], ids=str)
@pytest.mark.parametrize("level", LEVELS)
def test_a_shape_holds_its_sample_and_follows_from_it_alone(layout, roomy, level):
    extents = sizes(layout)
    shapes = coarse_shapes(extents, layout, level, roomy)
    assert (shapes >= extents).all()
    alone = [coarse_shapes(extents[i : i + 1], layout, level, roomy)[0] for i in range(len(extents))]
    np.testing.assert_array_equal(shapes, alone)
    if "C" in layout:
        assert (shapes[:, layout.index("C")] == 3).all()


def test_grids_are_parts_of_each_other():
    for finer, coarser in itertools.pairwise(GRIDS):
        for name in ("sizes", "frames"):
            assert set(getattr(coarser, name).tolist()) <= set(getattr(finer, name).tolist())
        if coarser.longest is not None:
            assert set(coarser.longest.tolist()) <= set(coarser.sizes.tolist())


@pytest.mark.parametrize(("layout", "largest", "most"), [("HWC", 4096, 1), ("t", 1 << 24, 1), ("", 256, 6)])
def test_the_last_level_has_few_shapes_whatever_the_sizes(layout, largest, most):
    extents = sizes(layout, 5000, most=largest)
    if not layout:
        extents[:, 1:] = 4  # boxes, of which there may be 0 to 4 as well
    shapes = coarse_shapes(extents, layout, LAST_LEVEL)
    assert len(np.unique(shapes, axis=0)) <= most


def test_a_floor_pads_small_pictures_to_squares_and_long_ones_to_the_same_area():
    level = level_of(1, FLOORS.index(1 << 14))
    small = np.array(
        [[1, 1, 3], [100, 30, 3], [128, 128, 3], [0, 0, 3], [3, 500, 3], [500, 40, 3], [500, 300, 3]]
    )
    assert coarse_shapes(small, "HWC", level).tolist() == [
        *[[128, 128, 3]] * 4, [32, 512, 3], [512, 48, 3], [512, 384, 3],
    ]  # fmt: skip
    assert coarse_shapes(np.array([[5], [20000]]), "t", level).tolist() == [[1 << 14], [24576]]


def test_axes_without_a_name_have_a_floor_of_their_own_and_small_ones_stay():
    level = level_of(3, FLOORS.index(1 << 24))
    boxes = np.array([[0, 4], [1, 4], [4, 4], [5, 4], [300, 4]])
    assert coarse_shapes(boxes, "", level).tolist() == [[0, 4], [1, 4], [4, 4], [256, 4], [512, 4]]


def test_a_floor_of_axes_without_names_is_one_of_all_of_them():
    level = level_of(3, FLOORS.index(1 << 15))
    assert coarse_shapes(np.array([[5, 2]]), "", level).tolist() == [[256, 2]]
    assert coarse_shapes(np.array([[5, 20, 40]]), "", level).tolist() == [[32, 32, 64]]
    assert coarse_shapes(np.array([[5, 5, 5, 5, 5]]), "", level).tolist() == [[8] * 5]


def test_sounds_have_a_floor():
    level = level_of(0, FLOORS.index(1 << 15))
    shapes = coarse_shapes(np.array([[5000], [20000], [90000]]), "", level)
    assert shapes.tolist() == [[1 << 15], [1 << 15], [98304]]


def test_sides_of_an_input_that_only_lies_in_memory_are_equal():
    shapes = coarse_shapes(np.array([[100, 1200, 3], [1200, 700, 3]]), "HWC", 1, Roomy.INPUT)
    assert shapes.tolist() == [[1280, 1280, 3]] * 2


def test_numbers_of_levels():
    assert [grid_and_floor(level_of(g, f)) for g in range(len(GRIDS)) for f in range(len(FLOORS))] == [
        (g, f) for g in range(len(GRIDS)) for f in range(len(FLOORS))
    ]
    assert sorted(itertools.chain.from_iterable(coarser_than(0))) == list(range(1, LAST_LEVEL + 1))
    for level in range(1, LAST_LEVEL + 1):
        for higher in itertools.chain.from_iterable(coarser_than(level)):
            assert higher > level
            was, now = grid_and_floor(level), grid_and_floor(higher)
            assert now[0] >= was[0]
            assert now[1] >= was[1]
    assert len({text_of(level) for level in range(LAST_LEVEL + 1)}) == LAST_LEVEL + 1
