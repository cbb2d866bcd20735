"""The table of formats and libraries: complete, true, and honest about what is missing."""

import importlib.util
import tomllib
from pathlib import Path

import pytest

import jdali
from jdali.codecs import image, libraries


def test_every_format_has_its_libraries():
    image_formats = {f.name for f in image.FORMATS}
    assert set(libraries.LIBRARIES) == image_formats | {"wav", "flac", "ogg", "mp3", "m4a", "webm"}
    pages = [p.read_text() for p in Path(jdali.__file__).parent.joinpath("codecs").glob("*.py")]
    for name, choices in libraries.LIBRARIES.items():
        always = any(library.extra == "" for library in choices)
        assert always is (name not in ("heic", "jpegxl", "m4a", "webm")), (
            f"{name} has no library that is always there"
        )
        for library in choices:
            assert any(library.module in page for page in pages)


def test_every_extra_is_one_of_the_project():
    project = Path(jdali.__file__).parents[1] / "pyproject.toml"
    if not project.exists():
        pytest.skip("not run from the sources")
    extras = tomllib.loads(project.read_text())["project"]["optional-dependencies"]
    for row in libraries.report():
        if row.by.extra:
            assert any(wanted.startswith(f"{row.by.package}>=") for wanted in extras[row.by.extra])


def test_what_is_installed_and_what_is_missing(monkeypatch):
    rows = {(row.format, row.by.package): row.version for row in libraries.report()}
    assert rows["jpeg", "simplejpeg"]
    assert rows["bmp", "numpy"] == rows["pnm", "numpy"]
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda n: None if n == "imagecodecs" else find(n))
    assert {r.version for r in libraries.report() if r.by.package == "imagecodecs"} == {None}
    assert libraries.installed_version("no-such-package", "no_such.module") is None
