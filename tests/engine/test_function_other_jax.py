"""Folders that another JAX of the allowed range wrote, or reads.

The other JAX is in an environment of its own: `.ci/run` and `make lowest` make one beside that of `make test`.
`JDALI_OTHER_PYTHON` names the interpreter of any other.
"""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jax
import numpy as np
import pytest
from engine.function import pipelines
from engine.function.pipelines import ENCODED, first_batch

import jdali

pytest.importorskip("flatbuffers", reason="JAX writes and reads exported programs with flatbuffers")

ROOT = Path(jdali.__file__).parents[1]
TESTS = Path(__file__).parents[1]

# Those that make makes, and `.ci/run`.
ENVIRONMENTS = (".venv", ".venv-oldest", ".venv-lowest")

EXPORTS = """
import sys
from engine.function import pipelines
pipelines.validation().export(sys.argv[1], shapes=[(64, 64)])
"""
LOADS = """
import sys
import numpy as np
import jdali
from engine.function.pipelines import ENCODED
np.save(sys.argv[2], jdali.load(sys.argv[1])(ENCODED))
"""


class ProcessFailed(Exception):
    """What a process that failed wrote."""


def run(python: str, code: str, *args: str) -> str:
    environment = {
        **os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{TESTS}", "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "",
    }  # fmt: skip
    done = subprocess.run(
        [python, "-c", code, *args], env=environment, capture_output=True, text=True, timeout=240
    )
    if done.returncode != 0:
        raise ProcessFailed(done.stderr)
    return done.stdout.strip()


@functools.cache
def other_python() -> tuple[str, str]:
    """The interpreter of an environment with another JAX and that version, or a skip that says why there is none."""
    named = os.environ.get("JDALI_OTHER_PYTHON")
    candidates = [named] if named else [str(ROOT / name / "bin/python") for name in ENVIRONMENTS]
    for python in candidates:
        if python is not None and Path(python).exists() and Path(python).parent.parent != Path(sys.prefix):
            version = run(python, "import jax; print(jax.__version__)")
            if version != jax.__version__:
                return python, version
    pytest.skip("needs an environment with another JAX: make lowest, or JDALI_OTHER_PYTHON")


@pytest.fixture(scope="module")
def want() -> np.ndarray:
    return np.stack(first_batch(pipelines.validation())[0])


@contextlib.contextmanager
def or_refused(reader: str, writer: str) -> Iterator[None]:
    """Allows an older JAX to say that it does not read what a newer one wrote: programs are portable the other way."""
    try:
        yield
    except (ProcessFailed, jdali.FolderError) as error:
        older = [int(part) for part in reader.split(".")] < [int(part) for part in writer.split(".")]
        if not (older and f"JAX {reader} cannot read it; JAX {writer} wrote it" in str(error)):
            raise


def test_another_jax_loads_what_this_one_exported(tmp_path: Path, want: np.ndarray):
    python, version = other_python()
    pipelines.validation().export(tmp_path / "folder", shapes=[(64, 64)])
    with or_refused(version, jax.__version__):
        run(python, LOADS, str(tmp_path / "folder"), str(tmp_path / "out.npy"))
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), want, strict=True)


def test_this_jax_loads_what_another_one_exported(tmp_path: Path, want: np.ndarray):
    python, version = other_python()
    run(python, EXPORTS, str(tmp_path / "folder"))
    with or_refused(jax.__version__, version):
        np.testing.assert_array_equal(jdali.load(tmp_path / "folder")(ENCODED), want, strict=True)
