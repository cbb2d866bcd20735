"""random_bbox_crop: windows obey their limits, boxes follow by hand, and DALI draws alike."""

import numpy as np
import pytest
from support import oracle, refusals

from jdali import dynamic, fn, pipeline_def
from jdali._errors import OperatorError
from jdali._kernels.box_layout import borders_of, boxes_of, checked_layout

BOXES = np.array(
    [[0.1, 0.2, 0.5, 0.6], [0.4, 0.4, 0.9, 0.9], [0.05, 0.7, 0.2, 0.8], [0.6, 0.1, 0.8, 0.3]], np.float32
)
LABELS = np.array([7, 5, 3, 1], np.int32)


def crops(boxes=BOXES, labels=None, *, count=300, batch_size=None, threads=2, seed=3, indices=True, **args):
    """[count] anchors, shapes, lists of boxes, of labels if given and of indices."""

    @pipeline_def(batch_size=batch_size or count, num_threads=threads, seed=seed)
    def pipeline():
        inputs = [
            fn.external_source(lambda info, v=v: v, batch=False)
            for v in ([boxes] if labels is None else [boxes, labels])
        ]
        return tuple(fn.random_bbox_crop(*inputs, output_bbox_indices=indices, **args))

    results = None
    with pipeline() as pipe:
        while results is None or len(results[0]) < count:
            outputs = [[np.asarray(s) for s in out.to_samples()] for out in pipe.run()]
            results = outputs if results is None else [a + b for a, b in zip(results, outputs, strict=True)]
    return [np.stack(r) if i < 2 else r for i, r in enumerate(results)]


def areas(first, last):
    return np.maximum(last.astype(np.float64) - first, 0).prod(axis=-1)


def overlaps(anchor, shape, boxes=BOXES):
    """[windows, boxes] intersections, float64, and the areas of windows and boxes."""
    first, last = anchor[:, None].astype(np.float64), (anchor + shape)[:, None].astype(np.float64)
    both = areas(np.maximum(first, boxes[:, :2]), np.minimum(last, boxes[:, 2:]))
    return both, areas(first, last), areas(boxes[:, :2], boxes[:, 2:])


def is_whole(anchor, shape):
    return (shape == 1).all(axis=1) & (anchor == 0).all(axis=1)


def check_boxes(anchor, shape, kept, labels, indices, boxes=BOXES):
    """Which boxes are kept by their centres, and where they are in the window; float32 as DALI has it."""
    for i in range(len(anchor)):
        last = anchor[i] + shape[i]
        centre = (boxes[:, :2] + boxes[:, 2:]) / 2
        inside = ((centre >= anchor[i]) & (centre < last)).all(axis=1)
        if is_whole(anchor[i : i + 1], shape[i : i + 1]):
            inside[:] = True
        np.testing.assert_array_equal(indices[i], np.flatnonzero(inside))
        np.testing.assert_array_equal(labels[i], LABELS[inside])
        low = np.maximum(boxes[inside, :2], anchor[i])
        high = np.minimum(boxes[inside, 2:], last)
        expected = np.concatenate([low - anchor[i], high - anchor[i]], axis=1) / np.tile(shape[i], 2)
        np.testing.assert_array_equal(kept[i], expected)


def test_boxes_labels_and_indices_follow_the_window():
    anchor, shape, kept, labels, indices = crops(labels=LABELS, scaling=[0.2, 0.9], aspect_ratio=[0.5, 2])
    whole = is_whole(anchor, shape)
    assert 0.3 < whole.mean() < 0.9
    assert all(
        b.dtype == np.float32 and b.shape == (len(i), 4) and len(i)
        for b, i in zip(kept, indices, strict=True)
    )
    assert labels[0].dtype == indices[0].dtype == np.int32
    check_boxes(anchor, shape, kept, labels, indices)


def test_windows_obey_size_and_aspect_ratio():
    anchor, shape, *_ = crops(allow_no_crop=False, scaling=[0.3, 0.8], aspect_ratio=[0.8, 1.6])
    # Rounding of the sum of anchor and size, once.
    assert (anchor >= 0).all()
    assert (anchor + shape <= 1 + 1e-7).all()
    assert shape.min() >= 0.3 - 1e-6
    assert shape.max() <= 0.8 + 1e-6
    ratio = shape[:, 0] / shape[:, 1]
    assert ratio.min() >= 0.8 - 1e-5
    assert ratio.max() <= 1.6 + 1e-5
    assert np.ptp(ratio) > 0.5


def test_aspect_ratio_is_that_of_the_pixels_if_the_size_is_known():
    for size, layout in (((200, 100), "WH"), ((100, 200), "HW")):
        anchor, shape, *_ = crops(
            allow_no_crop=False, scaling=[0.3, 1], aspect_ratio=[2, 2], input_shape=size, shape_layout=layout
        )
        np.testing.assert_allclose(shape[:, 0] * 200 / (shape[:, 1] * 100), 2, rtol=1e-5)
        assert (anchor + shape <= 1 + 1e-6).all()
    # A square window as wide as the picture is high does not leave it.
    anchor, shape, *_ = crops(allow_no_crop=False, scaling=[0.3, 1], input_shape=(100, 200))
    assert shape.max() <= 1
    assert (anchor >= 0).all()
    assert (anchor + shape <= 1 + 1e-6).all()


@pytest.mark.parametrize("iou", [True, False])
@pytest.mark.parametrize("all_boxes", [True, False])
def test_windows_reach_the_threshold(iou, all_boxes):
    boxes, threshold = BOXES[:2], 0.3 if iou and not all_boxes else 0.15 if iou else 0.8
    anchor, shape, *_ = crops(
        boxes, allow_no_crop=False, scaling=[0.3, 1], aspect_ratio=[0.5, 2], thresholds=[threshold],
        all_boxes_above_threshold=all_boxes, threshold_type="iou" if iou else "overlap", num_attempts=4,
    )  # fmt: skip
    both, window, box = overlaps(anchor, shape, boxes)
    metric = both / (window + box - both if iou else box)
    reached = metric.min(axis=1) if all_boxes else metric.max(axis=1)
    assert reached.min() >= threshold - 1e-6
    assert reached.min() < threshold + 0.1  # the limit is not another one


def test_share_of_boxes_that_stay():
    for threshold in (0.0, 0.4, 1.0):
        anchor, shape, _, indices = crops(
            allow_no_crop=False, scaling=[0.5, 0.9], aspect_ratio=[0.5, 2], bbox_prune_threshold=threshold
        )
        both, _, box = overlaps(anchor, shape)
        share = both / box
        assert all(len(i) for i in indices)
        for i, row in zip(indices, share, strict=True):
            clear = np.abs(row - threshold) > 1e-5  # float64 here, float32 there
            stays = (row > 0) & (row >= threshold)
            np.testing.assert_array_equal(np.isin(np.arange(4), i)[clear], stays[clear])


def test_window_of_a_fixed_size():
    anchor, shape, kept, indices = crops(input_shape=(40, 60), crop_shape=(30, 20), shape_layout="HW")
    assert (shape == [20, 30]).all()  # x first
    assert (anchor == np.floor(anchor)).all()
    assert (anchor >= 0).all()
    assert (anchor <= [40, 10]).all()
    assert {*anchor[:, 1]} == set(range(11))
    i = next(i for i in range(len(kept)) if 0 in indices[i])
    first = (BOXES[0, :2] * [60, 40] - anchor[i]) / [20, 30]
    last = (BOXES[0, 2:] * [60, 40] - anchor[i]) / [20, 30]
    np.testing.assert_allclose(kept[i][0], np.clip([*first, *last], 0, 1), atol=1e-6)
    anchor, shape, *_ = crops(input_shape=(10, 10), crop_shape=(14, 10))
    assert {*anchor[:, 0]} == {-4, -3, -2, -1, 0}
    assert (shape == [14, 10]).all()


def test_layouts_of_boxes():
    for layout in ("xyWH", "XYxy", "yxHW"):
        first, last = BOXES[:, :2], BOXES[:, 2:]
        columns = dict(zip("xyXYWH", np.concatenate([first, last, last - first], axis=1).T, strict=True))
        given = np.stack([columns[letter] for letter in layout], axis=1)
        np.testing.assert_array_equal(borders_of(given, layout)[0], first)
        np.testing.assert_allclose(borders_of(given, layout)[1], last, atol=1e-7)  # first + (last - first)
        np.testing.assert_array_equal(boxes_of(first, last, layout), given)
    options = {"scaling": [0.3, 0.9], "count": 50, "labels": LABELS, "allow_no_crop": False}
    a, b = crops(**options), crops(np.roll(BOXES, 2, axis=1), bbox_layout="XYxy", **options)
    for kept, other in zip(a[2], b[2], strict=True):
        np.testing.assert_array_equal(kept, np.roll(other, 2, axis=1))
    sizes = np.concatenate([BOXES[:, :2], BOXES[:, 2:] - BOXES[:, :2]], axis=1)
    c, d = crops(sizes, ltrb=False, **options), crops(sizes, bbox_layout="xyWH", **options)
    np.testing.assert_array_equal(np.concatenate(c[2]), np.concatenate(d[2]))
    with pytest.raises(ValueError, match="`bbox_layout` should be a permutation of `xyXY` or `xyWH`."):
        checked_layout("x", "xyX", 2)


def test_boxes_in_three_dimensions():
    boxes = np.array([[0.1, 0.1, 0.1, 0.6, 0.6, 0.6], [0.4, 0.4, 0.4, 0.5, 0.5, 0.5]], np.float32)
    anchor, shape, kept, indices = crops(
        boxes, allow_no_crop=False, scaling=[0.3, 0.9], aspect_ratio=[0.8, 1.25, 1, 1, 0.5, 2]
    )
    assert anchor.shape == shape.shape == (300, 3)
    np.testing.assert_allclose(shape[:, 0], shape[:, 2], rtol=1e-6)
    assert (np.abs(np.log(shape[:, 0] / shape[:, 1])) <= np.log(1.25) + 1e-5).all()
    expected = (np.clip(boxes[indices[0], :3], anchor[0], None) - anchor[0]) / shape[0]
    np.testing.assert_allclose(kept[0][:, :3], np.clip(expected, 0, 1), atol=1e-6)


def test_picture_without_boxes_gets_any_window():
    anchor, shape, kept, labels, indices = crops(
        np.zeros((0, 4), np.float32), np.zeros((0, 1), np.int32), scaling=[0.3, 0.5], thresholds=[0.5]
    )
    assert 0.4 < is_whole(anchor, shape).mean() < 0.6
    assert kept[0].shape == (0, 4)
    assert labels[0].shape == (0, 1)
    assert indices[0].shape == (0,)


def test_best_window_when_none_is_good():
    small = np.array([[0.45, 0.45, 0.55, 0.55]], np.float32)
    impossible = {"thresholds": [0.9], "scaling": [0.5, 0.6], "allow_no_crop": False}
    with pytest.raises(
        OperatorError, match=r"random_bbox_crop: none of 200000 windows .* total_num_attempts"
    ):
        crops(small, count=1, **impossible)
    overlap = []
    for attempts in (1, 64):
        anchor, shape, *_ = crops(small, total_num_attempts=attempts, quiet=True, **impossible)
        overlap.append(overlaps(anchor, shape, small)[0].mean())
    assert overlap[1] > overlap[0]
    anchor, shape, kept, _ = crops(
        small, count=3, aspect_ratio=[9, 10], total_num_attempts=2, quiet=True, **impossible
    )
    assert is_whole(anchor, shape).all()
    assert (np.stack(kept) == small).all()


def test_warning_when_no_window_is_good():
    # Warnings are errors in these tests.
    with pytest.raises(OperatorError, match="no window satisfies the thresholds in 2 attempts"):
        crops(BOXES, count=1, thresholds=[1.0], scaling=[0.2, 0.3], allow_no_crop=False, total_num_attempts=2)


def test_same_windows_for_any_batch_size_and_number_of_threads():
    options = {"scaling": [0.3, 0.9], "labels": LABELS}
    whole = crops(count=24, threads=1, **options)
    parts = crops(count=24, batch_size=6, threads=4, **options)
    for a, b in zip(whole, parts, strict=True):
        for one, other in zip(a, b, strict=True):
            np.testing.assert_array_equal(one, other)
    assert len(np.unique(whole[0], axis=0)) > 6
    other = crops(count=24, seed=4, **options)
    assert not np.array_equal(other[0], whole[0])


def test_dynamic_mode():
    anchor, shape, boxes, labels = dynamic.random_bbox_crop(BOXES, LABELS, scaling=[0.5, 0.6])
    assert anchor.shape == shape.shape == (2,)
    assert boxes.shape[0] == labels.shape[0] > 0


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({"thresholds": [1.2]}, r"Threshold value must be within the range \[0.0, 1.0\]."),
        ({"bbox_prune_threshold": -0.1}, r"`bbox_prune_threshold` must be within the range \[0.0, 1.0\]."),
        ({"scaling": [0.5, 0.2]}, "`scaling` range must be positive and min <= max, a range"),
        ({"aspect_ratio": [2, 1]}, "`aspect_ratio` range must be positive and min <= max. Got"),
        (
            {"aspect_ratio": [1, 1, 1, 1, 1, 1]},
            "`aspect_ratio` range argument should have 2 elements.* Got 6",
        ),
        ({"num_attempts": 0}, "Minimum number of attempts must be greater than zero,"),
        ({"total_num_attempts": 0}, "Minimum total number of attempts must be greater than zero,"),
        ({"threshold_type": "area"}, 'Not supported ``threshold_type`` value: "area". Supported'),
        ({"crop_shape": (3, 4)}, "``input_shape`` must be provided when providing"),
        (
            {"crop_shape": (3, 4), "input_shape": (5, 5), "scaling": [0.1, 0.2]},
            "`scaling` is incompatible with providing the crop shape",
        ),
        (
            {"crop_shape": (3, 4), "input_shape": (5, 0)},
            "``input_shape`` argument should contain non negative values, and no 0",
        ),
        (
            {"crop_shape": (3, 4), "input_shape": (5, 5, 5)},
            "Argument `input_shape` must be a 2D vector. Got 3 elements",
        ),
        (
            {"input_shape": (5, 5), "shape_layout": "WX"},
            "`shape_layout` should be a permutation of `WH` for the",
        ),
        ({"bbox_layout": "xyXX"}, "`bbox_layout` should be a permutation of `xyXY` or `xyWH`."),
        (
            {"bbox_layout": "xyXY", "ltrb": False},
            "`ltrb` and `bbox_layout` can't be provided at the same time",
        ),
        (
            {"boxes": np.zeros((3, 5), np.float32)},
            "Unexpected number of coordinates for bounding boxes: 5. It",
        ),
        ({"boxes": np.zeros((3, 4), np.float64)}, "boxes must be float32"),
        ({"boxes": np.zeros(4, np.float32)}, "Unexpected number of dimensions for bounding boxes input: 1"),
        ({"labels": np.zeros(3, np.int32)}, r"labels of shape \[3\] for 4 boxes"),
        ({"labels": np.zeros(4, np.int64)}, "labels must be int32"),
    ],
)
def test_wrong_arguments(args, text):
    with pytest.raises(OperatorError, match=f"random_bbox_crop: {text}"):
        crops(count=1, **args)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "args",
    [
        {"thresholds": [0.0, 0.1], "scaling": [0.3, 0.9], "aspect_ratio": [0.5, 2.0], "num_attempts": 5},
        {"thresholds": [0.6], "threshold_type": "overlap", "all_boxes_above_threshold": False,
         "allow_no_crop": False, "scaling": [0.3, 0.5], "input_shape": (300, 200)},
        {"thresholds": [0.7], "scaling": [0.3, 0.5], "num_attempts": 3, "total_num_attempts": 9,
         "bbox_prune_threshold": 0.3, "quiet": True},
        {"input_shape": (300, 200), "crop_shape": (100, 120)},
    ],
)  # fmt: skip
def test_distribution_is_dalis(args):
    count = 1500
    theirs = oracle.run(
        "random_bbox_crop",
        [[BOXES] * count, [LABELS] * count],
        args | {"output_bbox_indices": True},
        outputs=5,
    )
    a, b = (
        np.concatenate(
            [
                np.stack(r[0]), np.stack(r[1]), np.prod(r[1], axis=1)[:, None],
                is_whole(np.stack(r[0]), np.stack(r[1]))[:, None], [[len(i)] for i in r[4]],
            ],
            axis=1, dtype=np.float64,
        )
        for r in (theirs, crops(labels=LABELS, count=count, **args))
    )  # fmt: skip
    # Means and spreads of random samples: within 4.5 of their standard errors (of the spread: about).
    error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / count)
    assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) <= 4.5 * error + 1e-6).all()
    assert (np.abs(a.std(axis=0) - b.std(axis=0)) <= 0.08 * a.std(axis=0) + 0.01).all()


@pytest.mark.oracle
def test_dali_gives_the_boxes_that_follow_by_hand():
    results = oracle.run(
        "random_bbox_crop", [[BOXES] * 100, [LABELS] * 100],
        {"output_bbox_indices": True, "scaling": [0.2, 0.9], "aspect_ratio": [0.5, 2.0]}, outputs=5,
    )  # fmt: skip
    check_boxes(np.stack(results[0]), np.stack(results[1]), *results[2:])


@pytest.mark.oracle
@pytest.mark.parametrize("layout", ["xyXY", "xyWH"])
@pytest.mark.parametrize("box", [(0.1, 0.1, 1.2, 0.5), (-0.1, 0.1, 0.5, 0.5), (0.1, np.nan, 0.5, 0.5)])
def test_boxes_outside_of_the_picture(box, layout):
    boxes = np.float32([(0, 0, 0.5, 0.5), box])
    args = {"bbox_layout": layout}
    refusals.check(RuntimeError, "is out of bounds", oracle.run, "random_bbox_crop", [[boxes]], args)
    with pytest.raises(OperatorError, match=r"random_bbox_crop: box \[.*\] is out of bounds"):
        crops(count=1, boxes=boxes, labels=np.zeros(2, np.int32), **args)
