"""The examples of docs/ecosystem.md run, on small data made here."""

import numpy as np
import pytest
from support import pages
from support.data import image

# What the output of the example with these words must hold.
EXPECTED = {
    "as_numpy_iterator": "(4, 32, 32, 3)",
    "iterator.report()": "python_function (host) takes",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import simplejpeg

    root = tmp_path_factory.mktemp("data")
    for i in range(8):
        target = root / "photos" / ("cat" if i % 2 else "dog")
        target.mkdir(parents=True, exist_ok=True)
        picture = np.ascontiguousarray(image(24, 32, seed=i))
        (target / f"{i}.jpg").write_bytes(simplejpeg.encode_jpeg(picture))
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
