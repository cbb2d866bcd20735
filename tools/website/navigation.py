"""Defines the navigation of the site. Guides that it does not name follow the named ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from website import api_pages, operators

# Guides in order of reading; guides that are missing here follow in alphabetical order.
_GUIDES = [
    "installing.md",
    "tasks.md",
    "readers.md",
    "convert.md",
    "resuming.md",
    "scaling.md",
    "accelerators.md",
    "workers.md",
    "reliability.md",
    "custom_operators.md",
    "padded.md",
    "debug.md",
]
_WITH_OTHERS = ["pytorch.md", "tensorflow.md", "ecosystem.md"]
_FROM_OTHERS = ["migration.md", "differences.md", "conformance.md"]
_FIRST = {"index.md", "getting_started.md", "gallery.md", "releasing.md"}


def navigation(pages: Path) -> list[Any]:
    """Returns MkDocs' navigation for the pages in a folder."""
    known = {*_GUIDES, *_WITH_OTHERS, *_FROM_OTHERS, *_FIRST}
    further = sorted(p.name for p in pages.glob("*.md") if p.name not in known)
    project = [*_folder(pages, "project"), *_folder(pages, "internals")]
    return [
        {"Home": "index.md"},
        {"Guides": ["getting_started.md", *_there(pages, _GUIDES), *further, *_there(pages, _WITH_OTHERS)]},
        {"Tutorials": _folder(pages, "tutorials")},
        {"From others": [*_there(pages, _FROM_OTHERS), *_folder(pages, "migration")]},
        {"Operators": ["operators/index.md", {"Gallery": "gallery.md"}, *_operators()]},
        {"API": ["api/index.md", *({m: f"api/{m}.md"} for m in api_pages.MODULES)]},
        {"Project": [*project, "releasing.md", {"Examples": _folder(pages, "examples")}]},
    ]


def _there(pages: Path, names: list[str]) -> list[str]:
    return [name for name in names if (pages / name).exists()]


def _folder(pages: Path, name: str) -> list[str]:
    """Lists the pages of a folder, its index first."""
    found = sorted((pages / name).glob("*.md"), key=lambda p: (p.name != "index.md", p.name))
    return [f"{name}/{path.name}" for path in found]


def _operators() -> list[dict[str, list[dict[str, str]]]]:
    return [
        {operators.FAMILIES[family]: [{op.name: f"operators/{op.name}.md"} for op in members]}
        for family, members in operators.by_family().items()
    ]
