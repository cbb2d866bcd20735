"""The examples of docs/migration.md run one after the other, and print what they should."""

import importlib.util

import numpy as np
import pytest
from PIL import Image
from support import pages

PRINTED = {
    "DALIGenericIterator": "(8, 3, 32, 32) float32",
    "nvidia.dali": "True",
    "get_state": "True",
    "make_mesh": "True",
    "brightest": "[1. 1. 1.]",
}


@pytest.mark.oracle
@pytest.mark.skipif(not pages.text("migration.md"), reason="the documentation is not there")
def test_examples(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    for i in range(16):
        folder = tmp_path / "photos" / "ab"[i % 2]
        folder.mkdir(parents=True, exist_ok=True)
        coarse = Image.fromarray(rng.integers(0, 256, (6, 8, 3), np.uint8))
        coarse.resize((64, 48), Image.Resampling.BILINEAR).save(folder / f"{i}.jpg")
    monkeypatch.chdir(tmp_path)
    names, found = {}, {}
    for example in pages.examples("migration.md"):
        (code,) = example.values
        if "nvidia.dali" in code and importlib.util.find_spec("nvidia.dali") is None:
            continue
        (word,) = (word for word in PRINTED if word in code)
        exec(compile(code, "docs/migration.md", "exec"), names)
        found[word] = capsys.readouterr().out.strip()
    assert found == {word: PRINTED[word] for word in found}
    assert len(found) >= len(PRINTED) - 1
