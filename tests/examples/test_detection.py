"""The detection example: pictures with different numbers of boxes, and a loss that falls."""

import importlib
import json

import numpy as np
import pytest

pytest.importorskip("flax")
pytest.importorskip("optax")

EXAMPLE = "detection"

# What other packages deprecate is not tested here.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def boxes(example):
    return importlib.import_module("_boxes")


@pytest.mark.exhaustive  # classification trains in a normal run
def test_the_loss_falls(example, tmp_path, capsys):
    shapes = importlib.import_module("_shapes")
    file = shapes.write_shapes(tmp_path, "train", 16, np.random.default_rng(0), sizes=(48, 49))
    history = example.run(
        example.parse(
            ["--data", str(tmp_path / "train"), "--annotations", str(file), "--epochs", "4", "--steps", "8",
             "--batch-size", "8", "--size", "32", "--width", "4", "--depth", "1", "--lr", "0.02", "--threads", "1"]
        )
    )  # fmt: skip
    assert len(history["loss"]) == 8  # 2 an epoch
    assert len(history["precision"]) == 4
    assert np.mean(history["loss"][-3:]) < 0.95 * np.mean(history["loss"][:3])
    out = capsys.readouterr().out
    assert "16 pictures to train, 16 to validate, 3 classes" in out
    assert "of the time waiting for data" in out


def test_shapes_are_where_the_annotations_say(example, tmp_path):
    shapes = importlib.import_module("_shapes")
    written = json.loads(shapes.write_shapes(tmp_path, "val", 3, np.random.default_rng(1)).read_text())
    assert len(written["images"]) == 3
    picture, objects = shapes.draw(np.random.default_rng(2))
    for kind, (x, y, w, h) in objects:
        assert 0 <= x <= x + w <= picture.shape[1]
        assert 0 <= y <= y + h <= picture.shape[0]
        middle = picture[y + h // 2 - 2 : y + h // 2 + 2, x + w // 2 - 2 : x + w // 2 + 2]
        assert middle.std(axis=(0, 1)).max() < 25, shapes.CLASSES[kind]  # one colour, except for the noise


def test_each_box_gets_its_anchor(boxes):
    anchor = boxes.anchors([4], [[0.25]], [1.0])
    np.testing.assert_allclose(anchor[5], [0.25, 0.25, 0.5, 0.5])
    given = np.float32([[0.25, 0.25, 0.5, 0.5], [0.7, 0.7, 0.74, 0.74], [0, 0, 1, 1]])
    found, offsets = boxes.match(given, np.int32([3, 2, 9]), 2, anchor)
    # The second is small, and belongs to the anchor around it; the third is padding.
    assert np.asarray(found).tolist() == [0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0]
    np.testing.assert_allclose(offsets[5], 0, atol=1e-6)
    # Centre 0.72 from 0.625, in sizes of the anchor; a size of 0.04 to one of 0.25.
    expected = [0.38 / boxes.SPREAD[0], np.log(0.16) / boxes.SPREAD[2]]
    np.testing.assert_allclose(offsets[10][::2], expected, rtol=1e-5)
    np.testing.assert_allclose(boxes.moved(anchor, offsets)[10], given[1], atol=1e-6)
    found, _ = boxes.match(given[:0], np.int32([]), 0, anchor)
    assert not np.asarray(found).any()


def test_repeated_boxes_are_dropped(boxes):
    corners = np.float32([[0, 0, 0.5, 0.5], [0.05, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]])
    scores = np.float32([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    score, label, box = map(np.asarray, boxes.best_boxes(scores, corners, 4))
    np.testing.assert_allclose(score, [0.9, 0, 0.7, 0.3])
    assert label.tolist() == [1, 1, 2, 1]
    np.testing.assert_array_equal(box[2], corners[2])


def test_precision_and_recall_by_hand(boxes):
    measure = boxes.Measure(2)
    there = np.float32([[0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]])
    found = np.float32([[0, 0, 0.5, 0.5], [0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]])
    measure.add(np.float32([0.9, 0.8, 0.4]), np.int32([1, 1, 1]), found, np.int32([1, 1]), there)
    # Right, wrong (found before), right: precision 1 up to half of the boxes, then 2/3. Class 2 is not there.
    assert measure.mean_average_precision() == pytest.approx((1 + 2 / 3) / 2)
    assert measure.recall() == 0.5
