"""The video example: sequences of frames, and a loss that falls."""

import importlib

import numpy as np
import pytest

pytest.importorskip("flax")
pytest.importorskip("optax")
pytest.importorskip("av")

EXAMPLE = "video"

# What other packages deprecate is not tested here.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def balls(example):
    return importlib.import_module("_balls")


@pytest.mark.exhaustive  # classification trains in a normal run
def test_the_loss_falls(example, balls, tmp_path, capsys):
    rng = np.random.default_rng(0)
    balls.write_clips(tmp_path / "train", 8, rng, frames=8)
    balls.write_clips(tmp_path / "val", 4, rng, frames=5)
    history = example.run(
        example.parse(
            ["--data", str(tmp_path), "--epochs", "6", "--steps", "12", "--batch-size", "8", "--frames", "4",
             "--size", "24", "--widths", "8", "16", "--lr", "0.01", "--threads", "1"]
        )
    )  # fmt: skip
    assert len(history["loss"]) == 12  # 8 clips, 2 sequences each
    assert len(history["accuracy"]) == 6
    assert np.mean(history["loss"][-3:]) < 0.9 * np.mean(history["loss"][:3])
    out = capsys.readouterr().out
    assert "16 sequences to train, 4 to validate, classes down, left, right, up" in out
    assert "of the time waiting for data" in out


def test_balls_move_as_they_should(balls):
    for name, (right, down) in balls.DIRECTIONS.items():
        pictures = balls.clip((right, down), 4, np.random.default_rng(3)).astype(np.float64)
        positions = []
        for picture in pictures:
            rows, columns = np.nonzero(np.abs(picture.mean(axis=2) - 128) > 55)
            # Means on a circle, since what leaves on one side comes back on the other.
            circle = [np.exp(2j * np.pi * p / balls.SIZE).mean() for p in (columns, rows)]
            positions.append(np.angle(circle) * balls.SIZE / (2 * np.pi))
        moved = (positions[-1] - positions[0] + balls.SIZE / 2) % balls.SIZE - balls.SIZE / 2
        # 1 to 3 pixels a frame, of which there are 3; the noise moves the mean by less than one pixel.
        np.testing.assert_array_equal(np.sign(np.round(moved / 2)), [right, down], name)
