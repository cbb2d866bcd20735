"""The example of the README: trains on a folder of pictures, and the loss falls."""

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("flax")
pytest.importorskip("optax")
pytest.importorskip("sklearn")

EXAMPLE = "classification"


def write_pictures(folder, count):
    """Two classes of JPEGs of different sizes, told apart by the direction of their stripes."""
    rng = np.random.default_rng(0)
    for name, axis in (("across", 0), ("down", 1)):
        (folder / name).mkdir(parents=True)
        for i in range(count):
            size = rng.integers(20, 40, 2)
            stripes = np.indices(size)[axis] // 4 % 2 * 200 + rng.integers(0, 50)
            Image.fromarray(stripes.astype(np.uint8)).convert("RGB").save(folder / name / f"{i:02d}.jpg")


@pytest.mark.filterwarnings("default")  # what other packages deprecate is not tested here
def test_the_loss_falls(example, tmp_path, capsys):
    write_pictures(tmp_path, 40)
    history = example.run(
        example.parse(
            ["--data", str(tmp_path), "--epochs", "20", "--steps", "24", "--batch-size", "16", "--size", "16",
             "--threads", "1", "--widths", "8", "16", "--lr", "0.01", "--min-area", "0.5"]
        )
    )  # fmt: skip
    losses = history["loss"]
    assert len(losses) == 24
    assert np.mean(losses[-4:]) < 0.7 * np.mean(losses[:4])
    assert len(history["accuracy"]) == 6  # 64 pictures to train: 4 steps an epoch
    out = capsys.readouterr().out
    assert "64 files to train, 16 to validate, 2 classes" in out
    assert "epoch 6/20: train loss" in out
    assert "of the time waiting for data" in out


def test_folders_that_are_split_already(example, tmp_path):
    for part, count in (("train", 3), ("val", 2)):
        write_pictures(tmp_path / part, count)
    train, val, classes = example.find_files(tmp_path)
    assert (len(train), len(val), classes) == (6, 4, ["across", "down"])
    assert train.labels == [0, 0, 0, 1, 1, 1]
    assert not set(train.paths) & set(val.paths)


def test_a_folder_without_pictures(example, tmp_path):
    (tmp_path / "cats").mkdir()
    with pytest.raises(SystemExit, match="no pictures found"):
        example.find_files(tmp_path)


def test_digits_are_written_once(example, tmp_path, monkeypatch):
    monkeypatch.setenv("JDALI_CACHE_DIR", str(tmp_path / "cache"))
    folder = example.digits_folder()
    train, val, classes = example.find_files(folder)
    assert (len(train) + len(val), classes) == (1797, [str(i) for i in range(10)])
    assert 0.19 < len(val) / 1797 < 0.21
    with Image.open(train.paths[0]) as picture:
        assert picture.size == (32, 32)
    before = (folder / "train").stat().st_mtime_ns
    assert example.digits_folder() == folder
    assert (folder / "train").stat().st_mtime_ns == before
    assert [p.name for p in (tmp_path / "cache").iterdir()] == ["digits"]  # nothing half made is left
