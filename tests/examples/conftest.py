"""The examples as modules."""

import importlib
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "flax"


@pytest.fixture
def example(request, monkeypatch):
    """The example that a test module names in `EXAMPLE`."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module(request.module.EXAMPLE)
