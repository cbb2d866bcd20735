"""segmentation.random_object_bbox: which boxes are drawn, how often, and for whom."""

from collections import Counter

import numpy as np
import pytest
from support import oracle

import jdali
import jdali.dynamic as jd
from jdali import fn
from jdali._kernels import connected_objects as _objects

NAME = "segmentation.random_object_bbox"
MAP = np.int32([[1, 0, 1, 1, 0], [0, 1, 0, 0, 0], [2, 2, 0, 3, 3], [0, 0, 0, 3, 3]])
# Two boxes of a size in two classes, the second class first; two labels that touch.
TIES = np.int32([[2, 2, 0, 1, 1], [2, 0, 0, 0, 0], [1, 1, 0, 2, 2], [1, 0, 1, 2, 0]])
VOLUME = np.zeros((3, 3, 3), np.int32)
VOLUME[0, 0, 0] = VOLUME[1, 1, 1] = VOLUME[1, 1, 2] = 1


def outcomes(outputs):
    return Counter(
        tuple(tuple(np.ravel(value).tolist()) for value in sample) for sample in zip(*outputs, strict=True)
    )


def drawn(labels, count=400, **args):
    """How often each outcome is drawn for `count` samples of a pipeline."""
    pipe = jdali.Pipeline(batch_size=count, num_threads=1, seed=3)
    with pipe:
        data = fn.external_source(lambda: [labels] * count)
        outs = fn.segmentation.random_object_bbox(data, **args)
        pipe.set_outputs(*(outs if isinstance(outs, tuple) else (outs,)))
    made = pipe.run()
    pipe.close()
    assert all(out.layout() == "" and out.spec.dtype == np.int32 for out in made)
    return outcomes([out.to_samples() for out in made])


CASES = {
    "default": (MAP, {}),
    "start and end": (MAP, {"format": "start_end"}),
    "box": (MAP, {"format": "box"}),
    "class": (MAP, {"output_class": True}),
    "box and class": (MAP, {"format": "box", "output_class": True}),
    "any class": (MAP, {"ignore_class": True}),
    "sometimes the whole": (MAP, {"foreground_prob": 0.5, "output_class": True}),
    "always the whole": (MAP, {"foreground_prob": 0.0, "background": 4, "output_class": True}),
    "some classes": (MAP, {"classes": [1, 3], "output_class": True}),
    "class not there": (MAP, {"classes": [7], "output_class": True}),
    "0 as a class": (MAP, {"classes": [0, 3], "output_class": True}),
    "background for 0": (MAP, {"classes": [0, -5, 3], "threshold": [9, 9], "output_class": True}),
    "other background": (MAP, {"background": 1, "output_class": True}),
    "weights": (MAP, {"class_weights": [1.0, 0.0, 2.0], "output_class": True}),
    "weights without background": (MAP, {"class_weights": [1.0, 1.0], "background": 2, "output_class": True}),
    "weights of classes": (MAP, {"classes": [3, 1], "class_weights": [1.0, 3.0], "output_class": True}),
    "weights of 0": (MAP, {"classes": [3, 1], "class_weights": [0.0, 0.0], "output_class": True}),
    "largest": (MAP, {"k_largest": 1, "output_class": True}),
    "largest of all": (MAP, {"k_largest": 2, "ignore_class": True}),
    "ties": (TIES, {"k_largest": 2, "ignore_class": True}),
    "size": (MAP, {"threshold": [2, 2], "output_class": True}),
    "size along one axis": (MAP, {"threshold": [1, 2], "ignore_class": True}),
    "one size for all": (MAP, {"threshold": 2}),
    "too large": (MAP, {"threshold": [3, 3], "output_class": True}),
    "large, then largest": (MAP, {"threshold": [2, 1], "k_largest": 1}),
    "remembered": (MAP, {"cache_objects": True}),
    "touching labels": (TIES, {}),
    "negative labels": (-TIES, {"output_class": True}),
    "unsigned": (TIES.astype(np.uint32) << 30, {"output_class": True}),
    "bool": (TIES > 0, {"output_class": True}),
    "line": (np.uint8([0, 1, 1, 0, 2]), {}),
    "volume, not across corners": (VOLUME, {"format": "box"}),
    "channels": (TIES[..., None], {"format": "box"}),
    "nothing but background": (0 * MAP, {"output_class": True}),
    "no element": (MAP[:0], {"format": "box"}),
}


@pytest.mark.oracle
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_draws_the_boxes_that_dali_draws(case):
    """Of 400 draws, of outcomes that are at least a fifteenth likely: all that can be drawn are, except for 1e-11."""
    labels, args = case
    count = 2 if args.get("format") == "box" else 3
    outputs = count - 1 + bool(args.get("output_class"))
    expected = outcomes(oracle.run(NAME, [[labels] * 400], args, outputs=outputs))
    assert set(drawn(labels, **args)) == set(expected)


def check_shares(counts, shares):
    """Within 5 standard deviations."""
    total = sum(counts.values())
    assert set(counts) == set(shares)
    for outcome, share in shares.items():
        assert abs(counts[outcome] - share * total) < 5 * np.sqrt(total * share * (1 - share)), outcome


def test_a_class_is_drawn_first():
    """Three objects of class 1 share its third."""
    third = {1: 1 / 9, 2: 1 / 3, 3: 1 / 3}
    boxes = {(0, 0, 1, 1): 1, (0, 2, 1, 4): 1, (1, 1, 2, 2): 1, (2, 0, 3, 2): 2, (2, 3, 4, 5): 3}
    check_shares(drawn(MAP, 1500, format="box"), {(box,): third[label] for box, label in boxes.items()})
    check_shares(drawn(MAP, 1500, format="box", ignore_class=True), {(box,): 1 / 5 for box in boxes})


def test_weights():
    counts = Counter(label for _, (label,) in drawn(
        MAP, 1500, format="box", output_class=True, classes=[1, 3, 3], class_weights=[2.0, 1.0, 5.0],
    ).elements())  # fmt: skip
    check_shares(counts, {1: 0.25, 3: 0.75})


def test_arguments_by_sample():
    """Of other numbers of classes, too."""
    classes = [np.int32([1]), np.int32([3, 2]), np.int32([2])]
    pipe = jdali.Pipeline(batch_size=3, num_threads=1)
    with pipe:
        data = fn.external_source(lambda: [MAP] * 3)
        _, label = fn.segmentation.random_object_bbox(
            data, format="box", output_class=True, classes=fn.external_source(lambda: classes),
            class_weights=fn.external_source(lambda: [np.float32([1]), np.float32([0, 1]), np.float32([1])]),
            threshold=fn.external_source(lambda: [np.int32([1, 2]), np.int32([1, 1]), np.int32([3, 3])]),
            foreground_prob=fn.external_source(lambda: [np.float32(1)] * 3),
            background=fn.external_source(lambda: [np.int32(-1)] * 3),
        )  # fmt: skip
        pipe.set_outputs(label)
    assert [int(v) for v in pipe.run()[0].to_samples()] == [1, 2, -1]
    pipe.close()


def test_a_map_is_searched_once(monkeypatch):
    searched = []
    search = _objects.boxes_of_label
    monkeypatch.setattr("jdali.ops.segmentation._random_object_bbox.boxes_of_label",
                        lambda labels, label: searched.append(label) or search(labels, label))  # fmt: skip
    labels = np.random.default_rng(5).integers(0, 2, (9, 9), np.int32)  # of no other test
    for _ in range(4):
        jd.segmentation.random_object_bbox(labels.copy(), cache_objects=True)
    assert searched == [1]
    jd.segmentation.random_object_bbox(labels)
    assert searched == [1, 1]


def test_boxes_of_all_labels_are_found_as_one_by_one():
    labels = np.random.default_rng(0).integers(0, 4, (23, 31))
    every = _objects.boxes_of_all(labels, 0)
    apart = [_objects.boxes_of_label(labels, label) for label in (1, 2, 3)]
    found = {tuple(np.concatenate(box)) for box in zip(every.start, every.end, strict=True)}
    assert found == {tuple(np.concatenate(box)) for boxes in apart for box in zip(*boxes, strict=True)}
    assert len(every.start) == sum(len(boxes.start) for boxes in apart)


@pytest.mark.parametrize(
    ("labels", "args", "text"),
    [
        (MAP.astype(np.float32), {}, "Unsupported input type: float32. Labels are integers"),
        (np.int32(1), {}, "Unsuported number of dimensions 0"),
        (MAP, {"format": "xyxy"}, 'Invalid output format: "xyxy". Possible values: anchor_shape,'),
        (MAP, {"ignore_class": True, "output_class": True}, "cannot be used when ``ignore_class`` is True"),
        (MAP, {"ignore_class": True, "classes": [1]}, "cannot be used when ``ignore_class`` is True"),
        (MAP, {"k_largest": 0}, "``k_largest`` must be at least 1; got 0"),
        (MAP, {"threshold": [1, 2, 3]}, 'Argument "threshold" expected shape 2 but got 3 values'),
        (MAP, {"classes": [1, 2], "background": 2}, "Class label 2 coincides with background label - please"),
        (MAP, {"classes": [1, 2], "class_weights": [1.0]}, "1 class_weights for 2 classes"),
        (MAP, {"class_weights": [1.0, -1.0]}, "must not be negative"),
    ],
)
def test_what_is_refused(labels, args, text):
    with pytest.raises((ValueError, TypeError, jdali.OperatorError), match=f"{NAME}: .*{text}"):
        jd.segmentation.random_object_bbox(labels, **args)
