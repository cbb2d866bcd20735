"""The Python snippets of a page of documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from support.data import image

_BLOCKS = re.compile(r"^##+ (.*?)$|^```py(?:thon)?\n(.*?)^```", re.M | re.S)


class Snippet(NamedTuple):
    """Code of a page: its number, from 0, the heading above it, and its first line in the file."""

    number: int
    title: str
    line: int
    code: str


def text(name: str) -> str:
    """The page docs/`name`."""
    return (Path(__file__).parents[2] / "docs" / name).read_text()


def snippets(name: str) -> list[Snippet]:
    """The snippets of a page, in order."""
    title, found, page = "", [], text(name)
    for match in _BLOCKS.finditer(page):
        heading, code = match.groups()
        title = heading or title
        if code:
            line = page.count("\n", 0, match.start()) + 2
            found.append(Snippet(len(found), title, line, code))
    return found


def write_photos(root: Path, count: int = 8, height: int = 24, width: int = 32) -> None:
    """Writes the folder `photos` that the snippets read: pictures of two classes."""
    import simplejpeg

    for i in range(count):
        target = root / "photos" / ("cat" if i % 2 else "dog")
        target.mkdir(parents=True, exist_ok=True)
        picture = np.ascontiguousarray(image(height, width, seed=i))
        (target / f"{i}.jpg").write_bytes(simplejpeg.encode_jpeg(picture))
