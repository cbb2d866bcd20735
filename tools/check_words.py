"""Checks the words of the package: `python tools/check_words.py`, part of `make check`.

It refuses, in `jdali/`:

* docstrings whose first word asks instead of saying what the code does ("What decodes" for "Decodes");
* two classes of one name, unless DALI's API names both;
* phrases that a reader has to read twice.

`MOST` is the number of such docstrings that are allowed; it only ever goes down.
"""

from __future__ import annotations

import ast
import collections
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

FIRST_WORDS = {
    "How", "Such", "That", "Those", "What", "When", "Where", "Whether", "Which", "Who", "Whom", "Whose", "Why",
}  # fmt: skip
MOST = 0
# Names that DALI's users import from more than one module.
NAMES_OF_DALI = {
    "Batch", "Compose", "DALIClassificationIterator", "DALIGenericIterator", "ExternalSource", "Input", "Reader",
    "Tensor",
}  # fmt: skip
PHRASES = [
    r"needs it not\b",
    r"as good as",
    r"\bthat who\b",
    r"\bwho asks for\b",
    r"the more, the more",
    r"interpreter's turn",
    r"\bname of the past\b",
    r"\bis told\b",
    r"\bbut for\b",
    r"\blest\b",
]


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, text) of each docstring."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield node.body[0].lineno, text


def questions(tree: ast.Module) -> list[tuple[int, str]]:
    """(line, first line) of the docstrings that begin with a word of `FIRST_WORDS`."""
    found = []
    for line, text in docstrings(tree):
        first = re.match(r"[A-Za-z]+", text)
        if first and first.group() in FIRST_WORDS:
            found.append((line, text.splitlines()[0]))
    return found


def phrases(text: str) -> list[tuple[int, str]]:
    """(line, phrase) of each of `PHRASES` in a source."""
    return [
        (number, match.group())
        for number, line in enumerate(text.splitlines(), 1)
        for match in re.finditer("|".join(PHRASES), line)
    ]


def twice(classes: dict[str, list[str]]) -> list[str]:
    """The names of several classes, with their modules."""
    return [
        f"class {name} is defined {len(places)} times: {', '.join(places)}"
        for name, places in sorted(classes.items())
        if len(places) > 1 and name not in NAMES_OF_DALI
    ]


def main() -> int:
    asked, wrong = [], []
    classes: dict[str, list[str]] = collections.defaultdict(list)
    for path in sorted((ROOT / "jdali").rglob("*.py")):
        text, shown = path.read_text(), path.relative_to(ROOT)
        tree = ast.parse(text)
        asked += [f"{shown}:{line}: {first}" for line, first in questions(tree)]
        wrong += [
            f'{shown}:{line}: "{phrase}"; see "Words" in CONTRIBUTING.md' for line, phrase in phrases(text)
        ]
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(f"{shown}:{node.lineno}")
    wrong += twice(classes)
    if len(asked) > MOST:
        wrong += [
            *asked,
            f"{len(asked)} docstrings begin with a question word, {MOST} at most: begin with a verb",
        ]
    print("\n".join(wrong) or f"words: {len(asked)} docstrings begin with a question word (at most {MOST})")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
