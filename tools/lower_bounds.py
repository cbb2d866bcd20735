"""Prints the lowest versions that pyproject.toml allows, as requirements for pip.

    python tools/lower_bounds.py test > lowest.txt    # of the core and of the extra `test`
    pip install -r lowest.txt

pip chooses the versions of packages that pyproject.toml does not name.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
# Groups: name, extras, version.
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(\[[^]]*\])?(?:>=([0-9.]+))?")


def lower_bounds(project: Mapping[str, object], extras: Sequence[str]) -> list[str]:
    """Returns the requirements in order, each pinned to its lower bound if it has one.

    Args:
        project: the table "project" of pyproject.toml.
        extras: extras whose requirements are added, with those of the extras that they name.

    Raises:
        ValueError: a requirement has another form than name, extras, lower bound and marker, or two requirements give
            different bounds for one package.
    """
    bounds: dict[str, str] = {}
    for requirement in _requirements(project, extras):
        text, _, marker = (part.strip() for part in requirement.partition(";"))
        found = _REQUIREMENT.fullmatch(text)
        if found is None:
            raise ValueError(f"{requirement!r} is no name with a lower bound")
        name, inner, version = found[1], found[2] or "", found[3]
        pin = f"{name}{inner}" + (f"=={version}" if version else "") + (f"; {marker}" if marker else "")
        if bounds.setdefault(name.lower(), pin) != pin:
            raise ValueError(f"two bounds: {bounds[name.lower()]} and {pin}")
    return list(bounds.values())


def _requirements(project: Mapping[str, object], extras: Sequence[str]) -> Iterator[str]:
    """Yields the requirements of the core and of `extras`; replaces "jdali[audio]" by the requirements of `audio`."""
    of_extras = project["optional-dependencies"]
    core = project["dependencies"]
    assert isinstance(of_extras, Mapping)
    assert isinstance(core, list)
    yield from core
    waiting, seen = list(extras), set[str]()
    while waiting:
        extra = waiting.pop(0)
        if extra in seen:
            continue
        seen.add(extra)
        for requirement in of_extras[extra]:
            own = re.fullmatch(rf"{project['name']}\[(.*)\]", requirement)
            if own:
                waiting += [name.strip() for name in own[1].split(",")]
            else:
                yield requirement


if __name__ == "__main__":
    print("\n".join(lower_bounds(tomllib.loads(PROJECT.read_text())["project"], sys.argv[1:])))
