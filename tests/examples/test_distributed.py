"""The example of several processes: they end, all pictures are counted once, the loss falls."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("flax")
pytest.importorskip("optax")
pytest.importorskip("sklearn")

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "flax" / "distributed.py"

# What other packages deprecate is not tested here.
pytestmark = pytest.mark.filterwarnings("default")


def run(*arguments, seconds=200):
    return subprocess.run(
        [sys.executable, str(EXAMPLE), *arguments],
        env={**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": ""}, text=True, timeout=seconds,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip


@pytest.mark.exhaustive  # iterator/test_processes.py has several processes, test_classification.py trains
def test_two_processes(tmp_path):
    """26 pictures for two processes, 8 in a batch: 4 steps an epoch, and the last has two real ones."""
    for name, value in (("dark", 60), ("light", 190)):
        (tmp_path / name).mkdir()
        for i in range(16):
            pixels = np.random.default_rng(i).integers(value - 30, value + 30, (16, 16, 3), np.uint8)
            Image.fromarray(pixels).save(tmp_path / name / f"{i:02d}.jpg")
    done = run("--data", str(tmp_path), "--processes", "2", "--batch-size", "8", "--epochs", "3", "--size",
               "8", "--widths", "8", "--lr", "0.02")  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert re.findall(r"epoch \d: (\d+) pictures", done.stdout) == ["26"] * 3, done.stdout
    first, last = map(float, re.findall(r"loss ([\d.]+) at first, ([\d.]+) at last", done.stdout)[0])
    assert last < 0.7 * first


@pytest.mark.slow  # two processes more, for an error
def test_a_process_that_fails_ends_the_others(tmp_path):
    done = run("--data", str(tmp_path / "nowhere"), "--processes", "2")
    assert done.returncode != 0
    assert "nowhere" in done.stdout


def test_a_batch_that_cannot_be_shared(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(EXAMPLE.parent))
    example = importlib.import_module("distributed")
    with pytest.raises(SystemExit):
        example.parse(["--processes", "3", "--batch-size", "16"])
    assert "--batch-size 16 cannot be shared by 3 processes" in capsys.readouterr().err
