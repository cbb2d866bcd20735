"""The example of a cluster: a node is removed while it trains, and no picture is missing."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("flax")
pytest.importorskip("optax")
pytest.importorskip("sklearn")
pytest.importorskip("ray", reason="Ray is not installed")

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "flax" / "cluster.py"
PICTURES, BATCH = 1438, 64  # of the digits to train on; of a batch


@pytest.mark.exhaustive  # a cluster of two nodes; plugin/test_ray.py removes one as well
def test_a_node_is_removed_while_it_trains():
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "--epochs", "1", "--size", "8", "--widths", "8", "--lr", "0.02"],
        env={**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": ""}, text=True, timeout=250, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    seen = re.findall(r"epoch \d: (\d+) pictures", done.stdout)
    assert seen == [str(PICTURES // BATCH * BATCH)], done.stdout
    assert "2 Ray workers, 2 ready on 2 nodes" in done.stdout
    first, last = map(float, re.findall(r"loss ([\d.]+) at first, ([\d.]+) at last", done.stdout)[0])
    assert last < 0.95 * first
