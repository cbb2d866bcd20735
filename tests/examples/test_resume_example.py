"""The example that saves model, optimizer and data in one checkpoint: killed and resumed, nothing changes."""

import importlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.resuming import write_pictures

pytest.importorskip("flax")
pytest.importorskip("optax")
pytest.importorskip("sklearn")
pytest.importorskip("orbax.checkpoint")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "flax"
STEPS, SAVE_EVERY, DEATH = 14, 3, 9

# Runs the example, and dies while the checkpoint of step 9 is being written.
CHILD = f"""
import os, signal, sys
import resume

def save(self, manager, whole=resume.Training.save):
    whole(self, manager)
    if self.step == {DEATH}:
        os.kill(os.getpid(), signal.SIGKILL)

resume.Training.save = save
resume.run(resume.parse(sys.argv[1:]))
"""


def _arguments(folder, data):
    return [
        "--checkpoints", str(folder), "--data", str(data), "--steps", str(STEPS),
        "--save-every", str(SAVE_EVERY), "--batch-size", "4", "--size", "8", "--widths", "4", "8",
        "--threads", "2",
    ]  # fmt: skip


@pytest.mark.exhaustive  # laws/test_resume.py kills and goes on, test_classification.py trains
@pytest.mark.filterwarnings("default")  # what other packages deprecate is not tested here
def test_losses_of_a_killed_run_are_those_of_a_whole_one(monkeypatch, tmp_path, capsys):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    example = importlib.import_module("resume")
    data = tmp_path / "pictures"
    for name in ("a", "b"):
        (data / name).mkdir(parents=True)
        write_pictures(data / name, 10)
    whole = example.run(example.parse(_arguments(tmp_path / "whole", data)))
    assert sorted(whole) == list(range(1, STEPS + 1))

    killed = _arguments(tmp_path / "killed", data)
    child = subprocess.run(
        [sys.executable, "-c", CHILD, *killed], cwd=EXAMPLES, env=os.environ, timeout=200, check=False,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    assert child.returncode == -signal.SIGKILL
    capsys.readouterr()
    resumed = example.run(example.parse(killed))
    last = min(resumed) - 1
    assert last in (DEATH - SAVE_EVERY, DEATH)  # the one that was being written is whole or not there
    assert f"goes on after step {last}" in capsys.readouterr().out
    # The same programs on the same numbers: no tolerance.
    assert resumed == {step: loss for step, loss in whole.items() if step > last}
