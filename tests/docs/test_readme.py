"""The code of README.md runs, on small data made here; what they say of installing is true."""

import re
import tomllib
from pathlib import Path

import jax
import numpy as np
import pytest
from support import pages
from support.data import image

from jdali._system.extras import install

ROOT = Path(__file__).parents[2]
README = "../README.md"
# So that it takes little time: (what stands there, what is run).
SMALLER = {"[224, 224]": "[16, 16]", "batch_size=32": "batch_size=4", "range(10)": "range(2)"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    import simplejpeg

    for i in range(9):
        picture = simplejpeg.encode_jpeg(np.ascontiguousarray(image(24, 32, seed=i)))
        for root in ("train", "photos"):
            target = tmp_path / root / ("cat" if i % 2 else "dog")
            target.mkdir(parents=True, exist_ok=True)
            (target / f"{i}.jpg").write_bytes(picture)
        (tmp_path / "dog.jpg").write_bytes(picture)
    monkeypatch.chdir(tmp_path)


def test_the_code_of_the_readme(folder):
    """One after another, as a reader goes through them, with what the reader has: a training step."""
    steps = []
    names = {"state": 0, "train_step": lambda state, batch: steps.append(batch) or state + 1}
    blocks = [snippet.code for snippet in pages.snippets(README)]
    assert len(blocks) == 4
    text = "\n".join(blocks)
    assert all(text.count(there) == 1 for there in SMALLER)
    following = None
    for number, block in enumerate(blocks):
        for there, run in SMALLER.items():
            block = block.replace(there, run)
        exec(compile(block, f"README.md, block {number}", "exec"), names)
        if "set_state" in block:
            following = names["batch"]
    assert names["state"] == len(steps) == 2 * 2  # 9 pictures, 2 epochs
    assert all(isinstance(batch["images"], jax.Array) for batch in steps)
    assert steps[0]["images"].shape == (4, 3, 16, 16)
    np.testing.assert_array_equal(following["images"], steps[1]["images"])
    assert names["rotated"].shape != names["image"].shape
    turned = names["rotate"](np.stack([image(8, 8, seed=0)] * 2), np.float32([0, 90]))
    np.testing.assert_array_equal(turned, [image(8, 8, seed=0), np.rot90(image(8, 8, seed=0))])


def test_what_is_said_of_installing():
    """The same everywhere, and of extras that there are."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    command = re.escape(install("x").partition(" in ")[0]).replace("x", "(.*?)")
    for page in (pages.text(README), pages.text("readers.md")):
        said = re.findall(r"pip install ['\"].*?['\"]", page)
        assert said
        for one in said:
            found = re.fullmatch(command, one)
            assert found, one
            assert found[1] in extras


def test_no_message_says_it_in_another_way():
    for file in (ROOT / "jdali").rglob("*.py"):
        if file.name != "extras.py":
            assert "pip install" not in file.read_text(), file
