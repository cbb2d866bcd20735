"""tools/lower_bounds.py: pins of the oldest versions that pyproject.toml allows."""

import importlib.util
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def lower_bounds():
    spec = importlib.util.spec_from_file_location("lower_bounds", ROOT / "tools" / "lower_bounds.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.lower_bounds


def project(*core, **extras):
    return {"name": "own", "dependencies": list(core), "optional-dependencies": extras}


def test_bounds_extras_and_markers(lower_bounds):
    given = project(
        "a>=1.2", "b", all=["own[one, two]", "c[x]>=3"], one=["d>=4; sys_platform == 'linux'"], two=["a>=1.2"]
    )
    assert lower_bounds(given, []) == ["a==1.2", "b"]
    assert lower_bounds(given, ["all"]) == ["a==1.2", "b", "c[x]==3", "d==4; sys_platform == 'linux'"]


@pytest.mark.parametrize("requirement", ["a<2", "a>=1,<2", "a~=1.0", "a @ https://host/a.whl"])
def test_other_bounds_are_refused(lower_bounds, requirement):
    with pytest.raises(ValueError, match="is no name with a lower bound"):
        lower_bounds(project(requirement), [])


def test_two_bounds_of_a_package(lower_bounds):
    with pytest.raises(ValueError, match="two bounds: a==1 and a==2"):
        lower_bounds(project("a>=1", x=["a>=2"]), ["x"])


def test_those_of_this_project(lower_bounds):
    """Each requirement of what `make lowest` installs has a bound."""
    pins = lower_bounds(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"], ["test"])
    assert len(pins) > 20
    assert all("==" in pin for pin in pins)
