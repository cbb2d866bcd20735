"""The examples of docs/workers.md run as one script, and print what they should."""

import os
import subprocess
import sys

import pytest
from support import pages
from support.faults import PATIENCE


@pytest.mark.slow
@pytest.mark.skipif(not pages.text("workers.md"), reason="the documentation is not there")
def test_examples(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("\n".join(value.values[0] for value in pages.examples("workers.md")))
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=PATIENCE, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["(4, 4, 3) 3", "[0. 0. 0. 0. 0. 0. 0. 0.]"]
