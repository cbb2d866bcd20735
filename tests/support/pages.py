"""The examples of a page of documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.data import image

_BLOCKS = re.compile(r"^## (.*?)$|^### (.*?)$|^```python\n(.*?)^```", re.M | re.S)


def text(name: str) -> str:
    """The page docs/`name`; "" where the documentation is not there."""
    page = Path(__file__).parent.parent.parent / "docs" / name
    return page.read_text() if page.exists() else ""


def examples(name: str) -> Iterator[Any]:
    """The Python code of each example of a page, as pytest's parameters named by their headings."""
    title = ""
    for section, subsection, code in _BLOCKS.findall(text(name)):
        title = section or subsection or title
        if code:
            yield pytest.param(code, id=title)


def write_photos(root: Path) -> None:
    """The folder `photos` that the examples read: eight pictures of two classes."""
    import simplejpeg

    for i in range(8):
        target = root / "photos" / ("cat" if i % 2 else "dog")
        target.mkdir(parents=True, exist_ok=True)
        picture = np.ascontiguousarray(image(24, 32, seed=i))
        (target / f"{i}.jpg").write_bytes(simplejpeg.encode_jpeg(picture))
