"""The examples of docs/tensorflow.md run, on small data made here."""

import os

import pytest
from support import pages

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
pytest.importorskip("tensorflow", reason="TensorFlow is not installed")

# What is printed by the example with these words.
EXPECTED = {
    "keras": ["(4, 32, 32, 3) (4,)", "(4, 32, 32, 3) (4,)", "2 epochs"],
    "input_datasets": ["(4, 32, 32, 3) [0 1 2 3]", "(4, 32, 32, 3) [4 5 6 7]"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    pages.write_photos(root)
    return root


@pytest.mark.parametrize("code", list(pages.examples("tensorflow.md")))
def test_example(code, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    exec(compile(code, "docs/tensorflow.md", "exec"), {"__name__": "example"})
    (expected,) = [lines for word, lines in EXPECTED.items() if word in code]
    assert capsys.readouterr().out.splitlines() == expected
