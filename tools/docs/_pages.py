"""Pages of the documentation as HTML: what surrounds them, Markdown, docstrings, signatures."""

from __future__ import annotations

import html
import inspect
import re
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

STYLE = """
:root { --ink: #1b1f24; --soft: #59636e; --line: #d8dee4; --back: #ffffff; --panel: #f6f8fa; --link: #0a58ca; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9198a1; --line: #30363d; --back: #0d1117; --panel: #161b22; --link: #6cb0ff; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--back); }
header { border-bottom: 1px solid var(--line); padding: .7rem 1.2rem; display: flex; gap: 1.2rem; flex-wrap: wrap; }
header a { font-weight: 600; }
main { max-width: 62rem; margin: 0 auto; padding: 1rem 1.2rem 4rem; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
h1 { font-size: 1.7rem; margin: 1rem 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .2rem; }
code, pre { font: .88em/1.5 ui-monospace, monospace; background: var(--panel); border-radius: 4px; }
code { padding: .1em .3em; overflow-wrap: anywhere; }
pre { padding: .8rem 1rem; overflow-x: auto; border: 1px solid var(--line); }
pre code { padding: 0; background: none; }
table { border-collapse: collapse; width: 100%; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .35rem .7rem .35rem 0; border-bottom: 1px solid var(--line); }
td:first-child code { white-space: nowrap; }
.soft { color: var(--soft); }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: 1rem; }
.tile { border: 1px solid var(--line); border-radius: 6px; padding: .6rem; display: block; color: inherit; }
figure { margin: 0; }
figure img, .tile img { width: 100%; height: 9rem; object-fit: contain; background: var(--panel); border-radius: 4px; }
figcaption, .tile span { font-size: .85rem; display: block; margin-top: .3rem; overflow-wrap: anywhere; }
"""


def page(title: str, body: str, depth: int = 0) -> str:
    """A whole page.

    Args:
        title: of the window.
        body: HTML of the content.
        depth: how many folders it is below the first page.
    """
    root = "../" * depth
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{html.escape(title)} – jdali</title>\n<link rel="stylesheet" href="{root}style.css">\n</head>\n<body>\n'
        f'<header><a href="{root}index.html">jdali</a><a href="{root}operators/index.html">Operators</a>'
        f'<a href="{root}gallery.html">Gallery</a></header>\n<main>\n{body}\n</main>\n</body>\n</html>\n'
    )


def markdown(text: str, pages: set[str]) -> str:
    """A page of Markdown as HTML; links to other pages go to what is made of them.

    Args:
        text: the Markdown.
        pages: names of all pages, without ".md".
    """
    made: str = MarkdownIt("commonmark").enable("table").render(text)

    def target(match: re.Match[str]) -> str:
        path, _, fragment = match[1].partition("#")
        name = Path(path).stem
        made_of_it = path.endswith(".md") and name in pages
        # What is no page, a folder of examples for one, is named and not linked: it is not beside the pages.
        return f'href="{name}.html{"#" + fragment if fragment else ""}"' if made_of_it else 'class="soft"'

    return re.sub(r'href="(?!https?:)([^"#]+(?:#[^"]*)?)"', target, made)


def signature_text(function: Any, name: str) -> str:
    """A call with an argument a line, as it is written."""
    lines = []
    starred = False
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not starred:
            lines.append("*")
            starred = True
        star = "*" if p.kind is p.VAR_POSITIONAL else ""
        starred = starred or bool(star)
        default = "" if p.default is p.empty else f"={_default(p.default)}"
        lines.append(f"{star}{p.name}{default}")
    inner = "".join(f"    {line},\n" for line in lines)
    return f"{name}(\n{inner})" if lines else f"{name}()"


def _default(value: Any) -> str:
    return str(value) if hasattr(value, "name") and not isinstance(value, str) else repr(value)


def docstring(text: str) -> str:
    """A docstring as HTML: paragraphs, and a table of the arguments."""
    parts = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        head, _, rest = block.partition("\n")
        if head.strip() in ("Args:", "Attributes:"):
            parts.append(_arguments(head.strip().rstrip(":"), rest))
        elif re.match(r"[*-] ", head):
            items = re.split(r"\n(?=[*-] )", block)
            parts.append("<ul>" + "".join(f"<li>{_inline(item[2:])}</li>" for item in items) + "</ul>")
        else:
            parts.append(f"<p>{_inline(block)}</p>")
    return "\n".join(parts)


def _arguments(title: str, text: str) -> str:
    rows = []
    for entry in re.split(r"\n(?=    \S)", "\n" + text)[1:]:
        names, _, description = entry.strip().partition(":")
        rows.append(f"<tr><td><code>{html.escape(names)}</code></td><td>{_inline(description)}</td></tr>")
    heading = "Arguments" if title == "Args" else title
    return f"<h2>{heading}</h2>\n<table>{''.join(rows)}</table>"


def _inline(text: str) -> str:
    escaped = html.escape(" ".join(text.split()), quote=False)
    escaped = re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped)
    return re.sub(r"(https?://[^\s)]+)", r'<a href="\1">\1</a>', escaped)
