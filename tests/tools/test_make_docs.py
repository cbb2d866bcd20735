"""The HTML documentation: a page for each operator, links that lead somewhere, and pictures of what images become."""

import functools
import importlib.util
from pathlib import Path

import pytest

from jdali._operators.record import REGISTRY, CompiledOp

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "make_docs.py"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="the tools are not there: this is no checkout")

# Operators on pictures that none is drawn of.
WITHOUT = {
    "crop_mirror_normalize": "gives numbers of which no picture is made",
    "debayer": "takes what a sensor saw, of one channel",
    "fast_resize_crop_mirror": "see resize_crop_mirror",
    "filter": "takes a kernel as a second input",
    "multi_paste": "takes several pictures",
    "random_crop_generator": "gives the corners of a window",
    "roi_random_crop": "gives the corners of a window",
    "slice": "see crop",
    "ssd_random_crop": "takes boxes",
}


@functools.cache
def tool():
    spec = importlib.util.spec_from_file_location("make_docs", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pictures():
    tool()  # puts the folder of the tools on the path
    return importlib.import_module("docs._pictures")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("docs")
    tool().make(made, with_pictures=False)  # which fails if a link leads nowhere
    return made


def test_every_operator_has_a_page_that_the_index_leads_to(folder):
    index = (folder / "operators" / "index.html").read_text()
    for name in (n for n in REGISTRY if not n.startswith(("_", "math."))):
        text = (folder / "operators" / f"{name}.html").read_text()
        assert f"<h1>{name}</h1>" in text
        assert f"jdali.fn.{name}</code>" in text
        for argument in REGISTRY[name].public_args:
            assert argument in text, (name, argument)
        assert f'href="{name}.html"' in index


def test_pages_of_random_operators_say_that_a_key_comes_first(folder):
    for op in REGISTRY.values():
        if op.name.startswith(("_", "math.")) or not isinstance(op, CompiledOp):
            continue
        text = (folder / "operators" / f"{op.name}.html").read_text()
        assert (f"<code>ops.{op.name}(key" in text) == op.random, op.name


def test_every_guide_has_a_page_that_the_first_leads_to(folder):
    first = (folder / "index.html").read_text()
    for guide in (ROOT / "docs").glob("*.md"):
        assert f'href="{guide.stem}.html"' in first
        assert (folder / f"{guide.stem}.html").stat().st_size > 1000


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html">b</a><a href="a.html#there">a</a><img src="c.png">')
    assert tool().broken_links(tmp_path) == ["a.html: b.html", "a.html: c.png"]


def test_every_operator_on_pictures_is_drawn_or_there_is_a_reason():
    drawn = set(pictures().SETTINGS)
    on_pictures = {op.name for op in tool().public_operators() if tool().family(op) in ("image", "noise")}
    assert on_pictures - drawn == set(WITHOUT)
    assert drawn <= set(REGISTRY)


def test_pictures_are_drawn(tmp_path):
    count = []
    made = pictures().draw("flip", tmp_path, lambda: count.append(1))
    assert [text for _, text in made] == ["no arguments", "horizontal=0, vertical=1"]
    assert all((tmp_path / file).stat().st_size > 1000 for file, _ in made)
    assert len(count) == 2
    page = tool().operator_page(REGISTRY["flip"], made)
    assert 'src="../pictures/flip-1.png"' in page
