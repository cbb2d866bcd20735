"""The example of the README: trains on a folder of pictures, and the loss falls."""

import importlib
import shutil
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from PIL import Image

pytest.importorskip("flax")
pytest.importorskip("optax")
pytest.importorskip("sklearn")

EXAMPLE = "classification"
FLAX = Path(__file__).resolve().parents[2] / "examples" / "flax"


def write_pictures(folder, count):
    """Two classes of JPEGs of different sizes, told apart by the direction of their stripes."""
    rng = np.random.default_rng(0)
    for name, axis in (("across", 0), ("down", 1)):
        (folder / name).mkdir(parents=True)
        for i in range(count):
            size = rng.integers(20, 40, 2)
            stripes = np.indices(size)[axis] // 4 % 2 * 200 + rng.integers(0, 50)
            Image.fromarray(stripes.astype(np.uint8)).convert("RGB").save(folder / name / f"{i:02d}.jpg")


@pytest.mark.gpu
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


@pytest.mark.exhaustive  # auto_aug/test_pipelines.py has these augmentations in pipelines
def test_pictures_may_be_augmented(example, tmp_path):
    write_pictures(tmp_path, 8)
    train, _, _ = example.find_files(tmp_path)
    arguments = {"batch_size": 8, "num_threads": 1, "seed": 3}
    plain, augmented = (
        example.training_pipeline(train, 16, 1.0, 0.0, augment, **arguments).run()[0].as_cpu().as_array()
        for augment in ("none", "trivial")
    )
    assert plain.shape == augmented.shape == (8, 16, 16, 3)
    changed = (plain != augmented).any(axis=(1, 2, 3))
    assert changed.sum() >= 4  # 13 of 14 augmentations change something


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


def test_hidden_files_and_folders_are_no_pictures(example, tmp_path, capsys):
    """As macOS and notebooks leave them."""
    write_pictures(tmp_path, 3)
    (tmp_path / "across" / "._00.jpg").write_bytes(b"\0\5\x16\7")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "00.jpg").write_bytes(b"")
    train, val, classes = example.find_files(tmp_path)
    assert (len(train), len(val), classes) == (4, 2, ["across", "down"])
    assert capsys.readouterr().out == ""


def test_one_class_is_said(example, tmp_path, capsys):
    write_pictures(tmp_path, 3)
    shutil.rmtree(tmp_path / "across")
    example.find_files(tmp_path)
    assert "all pictures to train are of one class, down" in capsys.readouterr().out


@pytest.mark.filterwarnings("default")
def test_broken_pictures_are_left_out_and_counted(example, tmp_path, capsys):
    write_pictures(tmp_path, 10)
    broken = [tmp_path / "across" / "01.jpg", tmp_path / "down" / "02.jpg"]  # one to train, one to validate
    for file in broken:
        file.write_bytes(b"broken")
    arguments = ["--epochs", "2", "--size", "8", "--threads", "1", "--widths", "4", "--batch-size", "8"]
    history = example.run(example.parse(["--data", str(tmp_path), *arguments]))
    assert len(history["loss"]) == 4
    assert all(accuracy * 3 == pytest.approx(round(accuracy * 3)) for accuracy in history["accuracy"])
    out = capsys.readouterr().out
    assert "left out, for they cannot be decoded: 2 files" in out
    for file in broken:
        assert f"{file}: not an image" in out


def test_digits_are_written_once(example, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = example.digits_folder()
    train, val, classes = example.find_files(folder)
    assert (len(train) + len(val), classes) == (1797, [str(i) for i in range(10)])
    assert 0.19 < len(val) / 1797 < 0.21
    with Image.open(train.paths[0]) as picture:
        assert picture.size == (32, 32)
    before = (folder / "train").stat().st_mtime_ns
    assert example.digits_folder() == folder
    assert (folder / "train").stat().st_mtime_ns == before
    assert [p.name for p in folder.parent.iterdir()] == ["digits"]  # nothing half made is left


# --- small and missing data -------------------------------------------------------------------
@pytest.mark.filterwarnings("default")
def test_fewer_pictures_than_a_batch(example, tmp_path, capsys):
    write_pictures(tmp_path, 6)
    history = example.run(
        example.parse(
            ["--data", str(tmp_path), "--epochs", "2", "--size", "8", "--threads", "1", "--widths", "4"]
        )
    )
    assert len(history["loss"]) == 2
    out = capsys.readouterr().out
    assert "10 files to train, 2 to validate, 2 classes" in out
    devices = jax.device_count()
    assert f"batches of {10 // devices * devices}, for there are only 10 samples to train" in out


@pytest.mark.parametrize(
    ("counts", "train", "val"),
    [
        ((1, 1, 1, 1, 1, 1, 1), 6, 1),  # classes too small for one of them to be held out
        ((2, 2), 3, 1),
        ((1,), 1, 1),  # the same one
        ((1, 1), 2, 2),
        ((3, 1), 3, 1),
    ],
)
def test_tiny_classes(example, tmp_path, counts, train, val):
    for name, count in enumerate(counts):
        (tmp_path / str(name)).mkdir()
        for i in range(count):
            (tmp_path / str(name) / f"{i}.jpg").write_bytes(b"")
    found = example.find_files(tmp_path)
    assert [len(files) for files in found] == [train, val, len(counts)]
    assert set(found[0].paths) | set(found[1].paths) == {str(path) for path in tmp_path.rglob("*.jpg")}
    assert set(found[0].paths).isdisjoint(found[1].paths) == (train + val == sum(counts))


def test_a_class_that_is_only_trained(example, tmp_path):
    write_pictures(tmp_path / "train", 2)
    write_pictures(tmp_path / "val", 1)
    shutil.rmtree(tmp_path / "val" / "down")
    train, val, _ = example.find_files(tmp_path)
    assert (len(train), val.labels) == (4, [0])


PROGRAMS = {
    "classification.py": "--data {}",
    "resume.py": "--data {} --checkpoints checkpoints",
    "distributed.py": "--data {}",
    "detection.py": "--data {} --annotations {}/none.json",
    "speech.py": "--train {}/none.json --val {}/none.json",
    "video.py": "--data {}",
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("folder", ["none", "empty", "file", "flat"])
def test_without_data_there_is_one_line(program, folder, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    (tmp_path / "flat").mkdir()
    for name in ("file", "flat/1.jpg"):
        (tmp_path / name).write_bytes(b"")
    monkeypatch.syspath_prepend(str(FLAX))
    module = importlib.import_module(program.removesuffix(".py"))
    arguments = PROGRAMS[program].replace("{}", str(tmp_path / folder)).split()
    monkeypatch.setattr(sys, "argv", [program, *arguments])
    with pytest.raises(SystemExit) as ended:
        module.main() if program == "distributed.py" else module.run(module.parse())
    (line,) = str(ended.value.code).splitlines()
    assert str(tmp_path / folder) in line
    assert "Error" not in line
