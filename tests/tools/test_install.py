"""tools/install.py: one moving line in place of pip's output, which is printed if pip fails."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "install.py"

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="the tools are not there: this is no checkout")

SAID = """\
Obtaining file:///jdali
  Installing build dependencies: started
Collecting jax>=0.6 (from jdali==0.1.0)
  Downloading jax-0.7.1-py3-none-any.whl (2.8 MB)
Requirement already satisfied: numpy in ./lib (from jax)
Collecting jax[cpu] (from jdali==0.1.0)
Installing collected packages: jax, jdali
Successfully installed jax-0.7.1 jdali-0.1.0
"""


def test_the_line_counts_packages_and_names_what_is_fetched() -> None:
    script = runpy.run_path(str(SCRIPT))
    assert list(script["progress"](SAID.splitlines())) == [
        "1 packages found, jax", "1 packages found, fetching jax (2.8 MB)", "2 packages found, numpy",
        "2 packages found, jax", "installing 2 packages",
    ]  # fmt: skip


def test_a_failure_prints_what_pip_said_and_keeps_its_status() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--no-index", "./no-such-folder[x"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "no-such-folder" in done.stderr
    assert "\r" not in done.stderr  # no terminal, no moving line
