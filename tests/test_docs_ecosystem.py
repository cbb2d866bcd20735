"""The examples of docs/ecosystem.md run, on small data made here."""

import pytest
from support import pages

# What the output of the example with these words must hold.
EXPECTED = {
    "as_numpy_iterator": "(4, 32, 32, 3)",
    "iterator.report()": "python_function (host) takes",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    pages.write_photos(root)
    return root


@pytest.mark.parametrize("code", list(pages.examples("ecosystem.md")))
def test_example(code, folder, monkeypatch, capsys):
    if "grain" in code:
        pytest.importorskip("grain")
    monkeypatch.chdir(folder)
    exec(compile(code, "docs/ecosystem.md", "exec"), {})
    out = capsys.readouterr().out
    assert out
    if "Grain's place" in code:
        first, again = out.splitlines()
        assert first == again
    for word, text in EXPECTED.items():
        assert word not in code or text in out
