"""The example of captions: pictures and texts in one space, from Parquet files."""

import importlib

import numpy as np
import pytest

pytest.importorskip("flax")
pytest.importorskip("optax")
pytest.importorskip("pyarrow")
pytest.importorskip("sklearn")
pytest.importorskip("tokenizers")

EXAMPLE = "captions"

# What other packages deprecate is not tested here.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.exhaustive  # classification trains in a normal run
def test_the_loss_falls(example, tmp_path, capsys):
    captions = importlib.import_module("_captions")
    rng = np.random.default_rng(0)
    captions.write_captions(tmp_path, "train", 48, rng)
    captions.write_captions(tmp_path, "val", 10, rng)
    files = {"train": "train.parquet", "val": "val.parquet", "tokenizer": "tokenizer.json"}
    given = [word for name, file in files.items() for word in (f"--{name}", str(tmp_path / file))]
    history = example.run(
        example.parse([*given, "--epochs", "5", "--batch-size", "16", "--width", "16", "--threads", "1"])
    )
    assert len(history["loss"]) == 15  # 3 an epoch
    assert np.mean(history["loss"][-3:]) < np.mean(history["loss"][:3])
    assert len(history["found"]) == 5
    out = capsys.readouterr().out
    assert "48 captions to train, 10 to validate" in out
    assert "of the time waiting for data" in out


def test_some_files_alone_are_refused(example):
    with pytest.raises(SystemExit, match="all of --train, --val and --tokenizer"):
        example.run(example.parse(["--train", "train.parquet"]))
