"""The site: a page for each operator with examples that run, tiles in the gallery, links that lead somewhere."""

import functools
import importlib
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import jdali
from jdali._operators.record import REGISTRY, CompiledOp

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "make_docs.py"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="the tools are not there: this is no checkout")

OPERATORS = sorted(name for name in REGISTRY if not name.startswith(("_", "math.")))
# The readers, which compile nothing, and a few of each kind of input and result; `make exhaustive` and `make docs` run all
# examples.
QUICK = [
    *(name for name in OPERATORS if name.startswith("readers.")),
    "bb_flip", "brightness", "cast", "copy", "crop_mirror_normalize", "decoders.audio", "decoders.image", "mixup", "one_hot",
    "python_function", "random.coin_flip", "reductions.sum", "transforms.rotation",
]  # fmt: skip


def part(name):
    """A module of the tool."""
    if str(SCRIPT.parent) not in sys.path:
        sys.path.insert(0, str(SCRIPT.parent))
    return importlib.import_module(name)


def record(name):
    return REGISTRY[name]


@functools.cache
def page(name):
    return part("website.operator_pages").page(record(name), part("website.operator_pages").Outcome())


def examples(name):
    return part("website.examples").examples(record(name))


def test_every_operator_has_an_example_in_its_docstring():
    for name in OPERATORS:
        for example in examples(name):
            assert f"fn.{name}(" in part("website.examples").pipeline_program(example)
    # `per_frame` marks an argument of another call, which is no call of its own.
    called = {name for name in OPERATORS if f"ops.{name}(" in page(name)}
    assert called == {name for name in OPERATORS if isinstance(record(name), CompiledOp)} - {"per_frame"}


def test_each_call_is_an_example_with_the_statements_before_it():
    first, second = examples("rotate")
    assert (first.inputs, first.outputs, first.arguments) == (
        ("images",),
        ("images",),
        "angle=20.0, fill_value=0",
    )
    assert "keep_size=True" in second.arguments
    (combined,) = examples("transforms.combine")
    assert (len(combined.statements), combined.inputs, combined.outputs) == (3, (), ("matrix",))
    (record,) = examples("readers.tfrecord")
    assert record.outputs == ("jpegs", "labels")


@pytest.mark.parametrize("name", OPERATORS)
def test_page_of_an_operator(name):
    text = page(name)
    assert text.startswith(f"# {name}\n")
    assert f"`jdali.fn.{name}`" in text
    for argument in record(name).public_args:
        assert f"    {argument}" in text, argument
    random = isinstance(record(name), CompiledOp) and record(name).random
    assert (f"`ops.{name}(key" in text) == random


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    for module in ("sklearn", "av", "astropy", "lmdb", "lz4"):
        pytest.importorskip(module)
    folder = tmp_path_factory.mktemp("examples")
    part("website.sources").write_files(folder)
    return folder


@pytest.mark.cases(5)
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.exhaustive) for n in OPERATORS]
)
def test_examples_run_and_pure_functions_agree_with_pipelines(name, files, tmp_path):
    pytest.importorskip("matplotlib")
    outcome = part("website.operator_pages").run_examples(record(name), files, tmp_path)
    assert outcome.pipeline
    assert outcome.drawings  # each operator has a picture in the gallery
    for drawing in outcome.drawings:
        assert (tmp_path / drawing.picture).stat().st_size > 100
    if getattr(record(name), "random", False):
        return
    for got, want in zip(outcome.pure, outcome.pipeline, strict=bool(outcome.pure)):
        if name.startswith("sequence") or name == "optical_flow":  # of frames as files, not as a video
            break
        got, want = got.samples[0].astype(np.float64), want.samples[0].astype(np.float64)
        # Decoders of files differ in single bits: Pillow's in the program, jdali's in the pipeline.
        assert got.shape == want.shape
        assert np.median(np.abs(got - want)) <= 2


def test_what_comes_out_is_shown_as_it_is():
    result = part("website.examples").Result("total", [np.float32([3, 6])])
    assert str(result) == "total: float32 [2]\n    [3., 6.]"
    assert str(part("website.examples").Result("image", [np.zeros((4, 5, 3), np.uint8)], "HWC")) == (
        "image: uint8 [4, 5, 3], layout HWC"
    )


def test_numbers_are_cells_as_dark_as_they_are_large(tmp_path):
    pytest.importorskip("matplotlib")
    result = part("website.examples").Result("values", [np.float32([[0, 1, 2, 3]])])
    caption = part("website.number_drawing").draw_numbers([result], tmp_path / "n.png")
    assert caption == "values, first sample"
    with Image.open(tmp_path / "n.png") as picture:
        pixels = np.asarray(picture.convert("L")).astype(int)
    row = pixels[pixels.shape[0] * 3 // 4]
    cells = [row[round(row.size * (0.25 * i + 0.06))] for i in range(4)]  # beside the text in the middle
    assert cells == sorted(cells, reverse=True)
    assert cells[0] - cells[-1] > 50


def test_a_matrix_moves_a_letter(tmp_path):
    """Moved to the right by its own width and more, the blue letter lies right of the grey one."""
    pytest.importorskip("matplotlib")
    result = part("website.examples").Result("matrix", [np.float32([[1, 0, 1], [0, 1, 0]])])
    part("website.number_drawing").draw_numbers([result], tmp_path / "m.png")
    with Image.open(tmp_path / "m.png") as picture:
        paper = Image.new("RGBA", picture.size, "white")
        pixels = np.asarray(Image.alpha_composite(paper, picture.convert("RGBA")).convert("RGB")).astype(int)
    blue = np.argwhere(pixels[..., 2] - pixels[..., 0] > 80)
    grey = np.argwhere((np.ptp(pixels, axis=-1) < 15) & (pixels[..., 0] > 180) & (pixels[..., 0] < 225))
    assert blue[:, 1].mean() > grey[:, 1].mean()
    assert abs(blue[:, 0].mean() - grey[:, 0].mean()) < 10


def test_an_example_that_fails_is_named(files, tmp_path, monkeypatch):
    monkeypatch.setattr(
        record("flip").run, "__doc__", "Flips.\n\nExample: images = fn.flip(images, sideways=1)"
    )
    with pytest.raises(RuntimeError, match="the docstring of flip fails"):
        part("website.operator_pages").run_examples(record("flip"), files, tmp_path)


def test_the_gallery_has_a_tile_for_every_operator():
    text = part("website.gallery").page(part("website.operators").by_family(), {})
    assert [name for name in OPERATORS if f'href="operators/{name}.html"' not in text] == []


def test_differences_of_operators_are_on_their_pages():
    assert "points differ by up to 0.002 pixel" in page("rotate")
    assert "## Differences from DALI" not in page("one_hot")


def test_links_between_files_become_links_between_pages():
    turned = part("website.staging").turned
    mapping = part("website.staging").targets()
    wrong = []
    text = "[a](docs/readers.md#urls) [b](CHANGELOG.md) `x[0](docs/readers.md)` [c](https://x.y) [d](nowhere.txt)"
    made = turned(text, "ARCHITECTURE.md", "project/architecture.md", mapping, wrong)
    assert (
        made
        == "[a](../readers.md#urls) [b](changelog.md) `x[0](docs/readers.md)` [c](https://x.y) [d](nowhere.txt)"
    )
    assert wrong == ["ARCHITECTURE.md: nowhere.txt"]


def test_code_that_names_an_operator_leads_to_its_page():
    text = "`fn.resize` and `fn.flip(x, horizontal=1)`, `fn.nothing`, [`fn.crop`](https://x.y)\n## `fn.pad`"
    assert part("website.staging").turned(text, "docs/migration/a.md", "migration/a.md", {}, []) == (
        "[`fn.resize`](../operators/resize.md) and [`fn.flip(x, horizontal=1)`](../operators/flip.md), `fn.nothing`, "
        "[`fn.crop`](https://x.y)\n## `fn.pad`"
    )


def test_links_that_lead_nowhere_and_other_hosts_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html">b</a><a href="a.html#there">a</a><img src="c.png"><script src="https://x.y/z.js"></script>'
    )
    assert part("website.staging").broken_links(tmp_path) == [
        "a.html: b.html", "a.html: c.png", "a.html: loads https://x.y/z.js",
    ]  # fmt: skip


def test_public_modules_are_in_the_reference():
    named = set(part("website.api_pages").MODULES)
    # What else users import, and where it is described.
    elsewhere = {
        "jdali.fn", "jdali.ops", "jdali.data_node", "jdali.external_source", "jdali.pickling", "jdali.experimental",
        "jdali.plugin", "jdali.auto_aug",
    }  # fmt: skip
    private = {"jdali.engine", "jdali.graph", "jdali.codecs", "jdali.readers", "jdali.cli"}
    found = {
        f"jdali.{p.stem}"
        for p in (ROOT / "jdali").iterdir()
        if p.suffix == ".py" or (p / "__init__.py").exists()
    }
    public = {name for name in found if not name.startswith("jdali._")}
    assert public - named - elsewhere - private == set()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Folder and number of pages of the site, without examples and tutorials."""
    for module in ("mkdocs", "material", "mkdocstrings", "jupytext"):
        pytest.importorskip(module)
    make_docs, folder = part("make_docs"), tmp_path_factory.mktemp("site")
    make_docs.write_pages(folder / "pages", with_examples=False, with_tutorials=False, progress=False)
    older = folder / "site" / "0.0.9"
    older.mkdir(parents=True)
    (older / "index.html").write_text("<h1>An older one</h1>")
    return make_docs.build(folder / "pages", folder / "site")


@pytest.mark.exhaustive  # `make docs` builds the site and looks at it
def test_the_whole_site_builds_without_a_warning(site):
    out, count = site
    assert count > len(OPERATORS)
    index = (out / "search" / "search_index.js").read_text()
    assert "operators/resize.html" in index
    for guide in (ROOT / "docs").glob("*.md"):
        assert (out / f"{guide.stem}.html").stat().st_size > 1000
    for page, names in {  # members of private bases too, and what `jdali` itself has
        "jdali.iterator": ["DataIterator", "DataIterator.take", "DataIterator.reset", "DataIterator.report"],
        "jdali.pipeline": [
            f"Pipeline.{name}"
            for name in ("run", "plan", "view", "warmup", "export", "errors", "reader_meta", "get_state")
        ],
        "jdali": ["statistics", "show", "load", "OperatorError"],
    }.items():  # fmt: skip
        text = (out / "api" / f"{page}.html").read_text()
        assert [name for name in names if f'id="{page}.{name}"' not in text] == []


@pytest.mark.exhaustive  # `make docs` builds the site and looks at it
def test_pages_open_from_disk_with_their_search(site):
    """No page asks a host or is too wide, and the search finds."""
    browser = part("website.browser")
    if browser.chromium() is None:
        pytest.skip("chromium is not installed; `make browser` does it")
    browser.look(site[0], ["index", "gallery", "operators/resize"])
    # `look` itself compares what the selector says with the list of versions.
    listed = (site[0].parent / "versions.js").read_text()
    assert listed == f'window.siteVersions = ["{jdali.__version__}", "0.0.9"];\n'


@pytest.fixture(scope="module")
def kernel():
    """One process for all tutorials: starting one and importing JAX takes longer than most of them."""
    for module in ("jupytext", "nbclient", "ipykernel", "matplotlib", "sklearn"):
        pytest.importorskip(module)
    with part("website.tutorials").Kernel().started() as kernel:
        yield kernel


def test_versions_are_listed_newest_first(tmp_path):
    for name in ("0.9.0", "0.10.0", "0.10.0.dev0", "pictures", "0.11.0"):
        (tmp_path / name).mkdir()
        if name != "0.11.0":  # not built
            (tmp_path / name / "index.html").touch()
    assert part("website.versions").write_versions(tmp_path) == ["0.10.0", "0.10.0.dev0", "0.9.0"]
    assert "url=0.10.0/index.html" in (tmp_path / "index.html").read_text()


# Tutorials that compile little; `make exhaustive` and `make docs` run all.
SHORT = {"images", "many_hosts", "resuming", "video"}


@pytest.mark.cases(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(path.stem, marks=[] if path.stem in SHORT else pytest.mark.exhaustive)
        for path in sorted((ROOT / "docs" / "tutorials").glob("*.py"))
    ],
)
def test_tutorials_run(name, kernel, tmp_path):
    for module in {"from_tf_data_and_grain": ("grain",), "video": ("av",)}.get(name, ()):
        pytest.importorskip(module)
    part("website.tutorials").write_tutorial(name, tmp_path, kernel)
    cells = json.loads((tmp_path / f"{name}.ipynb").read_text())["cells"]
    assert any(cell.get("outputs") for cell in cells)
    assert "```text" in (tmp_path / f"{name}.md").read_text()


def test_notebooks_of_one_process_share_no_names_and_no_folder(kernel):
    from nbclient.exceptions import CellExecutionError
    from nbformat.v4 import new_code_cell, new_notebook

    def run(code):
        kernel.execute(new_notebook(cells=[new_code_cell(code)]))

    run("name = 1\nopen('file', 'w').close()")
    with pytest.raises(CellExecutionError, match="NameError"):
        run("name")
    run("import os\nassert os.listdir() == []")
