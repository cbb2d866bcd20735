"""`make run` hands its data to the script."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("data", "handed"), [("", []), ("a b", ["--data", "a b"]), ("it's", ["--data", "it's"])]
)
def test_a_folder_with_a_space(data, handed, tmp_path):
    if shutil.which("make") is None or not (ROOT / "Makefile").exists():
        pytest.skip("needs make and a checkout")
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\nfor argument; do echo "[$argument]"; done\n')
    python.chmod(0o755)
    (tmp_path / ".run").touch()  # nothing to set up
    said = subprocess.run(
        ["make", "run", f"DATA={data}", f"VENV={tmp_path}"],
        cwd=ROOT,
        env={
            name: value for name, value in os.environ.items() if name != "MAKEFLAGS"
        },  # of the make that runs the tests
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    arguments = [line[1:-1] for line in said.splitlines() if line.startswith("[")]
    assert arguments == ["examples/flax/classification.py", *handed]
