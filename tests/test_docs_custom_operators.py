"""The examples of docs/custom_operators.md run, and print what they should."""

import sys

import pytest
from support import pages

from jdali import dynamic, fn, ops
from jdali._operators.record import REGISTRY


@pytest.fixture
def clean():
    yield
    REGISTRY.pop("acme.tint", None)
    sys.modules.pop("acme_tint", None)
    for surface in (fn, ops, dynamic):
        vars(surface).pop("acme", None)
        sys.modules.pop(f"{surface.__name__}.acme", None)


@pytest.mark.skipif(not pages.text("custom_operators.md"), reason="the documentation is not there")
def test_examples(tmp_path, monkeypatch, capsys, clean):
    operator, use = (example.values[0] for example in pages.examples("custom_operators.md"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "acme_tint.py").write_text(operator)
    exec(compile(use, "custom_operators.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == ["[100  50   0]", "[[[1. 2. 3.]]]"]
