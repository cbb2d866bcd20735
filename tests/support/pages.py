"""The examples of a page of documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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
