"""Converts signatures and docstrings to Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

# Splits the entries of "Args:", which are indented by four spaces.
_ARGUMENT = re.compile(r"\n(?=    \S)")


def signature(function: Callable[..., Any], name: str) -> str:
    """Writes the signature with one argument on each line."""
    lines: list[str] = []
    starred = False
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not starred:
            lines.append("*")
            starred = True
        star = "*" if p.kind is p.VAR_POSITIONAL else ""
        starred = starred or bool(star)
        default = "" if p.default is p.empty else f"={_default(p.default)}"
        lines.append(f"{star}{p.name}{default}")
    return f"{name}(\n" + "".join(f"    {line},\n" for line in lines) + ")" if lines else f"{name}()"


def _default(value: Any) -> str:
    return str(value) if hasattr(value, "name") and not isinstance(value, str) else repr(value)


def parts(text: str) -> dict[str, list[str]]:
    """Sorts the paragraphs of a docstring.

    Returns: Markdown under "text", "args", "returns" and "parity".
    """
    found: dict[str, list[str]] = {"text": [], "args": [], "returns": [], "parity": []}
    target = "text"
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        head, _, rest = block.partition("\n")
        if head.strip() in ("Args:", "Attributes:"):
            found["args"].append(_arguments(rest))
            target = "text"
            continue
        if block.startswith("Example:"):  # the page shows it as a program
            continue
        label = re.match(r"(Returns|Parity|Raises):\s*", block)
        if label:
            target = {"Returns": "returns", "Parity": "parity", "Raises": "text"}[label[1]]
            block = block[label.end() :] if label[1] != "Raises" else block
        found[target].append(_paragraph(block))
    return found


def _paragraph(block: str) -> str:
    """Converts a paragraph to Markdown; lists and indented formulas keep their lines."""
    if re.match(r"[*-] ", block):
        return "\n".join("* " + escaped(item[2:]) for item in re.split(r"\n(?=[*-] )", block))
    if block.startswith("    ") or ">>>" in block:
        return f"```text\n{inspect.cleandoc(block)}\n```"
    # A line that ends with a colon, followed by indented lines, introduces a formula.
    lead, _, rest = block.partition("\n    ")
    if rest and lead.rstrip().endswith(":") and "\n" not in lead:
        return f"{escaped(lead)}\n\n```text\n{inspect.cleandoc('    ' + rest)}\n```"
    return escaped(block)


def _arguments(text: str) -> str:
    rows = ["| argument | |", "|---|---|"]
    for entry in _ARGUMENT.split("\n" + text)[1:]:
        name, _, description = entry.strip().partition(":")
        rows.append(f"| `{name}` | {cell(escaped(description))} |")
    return "\n".join(rows)


def cell(text: str) -> str:
    """Escapes text for a cell of a Markdown table."""
    return text.replace("|", "\\|")


def escaped(text: str) -> str:
    """Converts text to one line of Markdown: escapes special characters outside of `code`, and links addresses."""
    pieces = re.split(r"(`[^`]+`|https?://[^\s)]+)", " ".join(text.split()))
    for i, piece in enumerate(pieces):
        if i % 2 == 0:
            pieces[i] = re.sub(r"([*_<>\[\]])", r"\\\1", piece)
        elif piece.startswith("http"):
            pieces[i] = f"<{piece}>"
    return "".join(pieces)
