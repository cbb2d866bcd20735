"""Renders the layout of all pages. Pages load nothing from other hosts, and escape text from data."""

from __future__ import annotations

from pathlib import Path

from jdali._display import STYLE, escape

PAGES = (("batches/0", "Batches"), ("graph", "Graph"), ("data", "Data"), ("time", "Time"))
_STATIC = Path(__file__).parent / "static"

SECURITY = {
    "Content-Security-Policy": (
        "default-src 'none'; img-src 'self' data:; media-src 'self' data:; style-src 'self'; script-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def style() -> str:
    return STYLE + (_STATIC / "viewer.css").read_text()


def script() -> str:
    return (_STATIC / "viewer.js").read_text()


def page(title: str, body: str, *, root: str, here: str, subject: str) -> str:
    """Renders a whole page; escapes `title` and `subject`, but not `body`, which is HTML.

    Args:
        root: path of the viewer; ends with "/".
    """
    links = "".join(
        f'<a href="{root}{path}" data-key="{i}"{" aria-current=page" * (name == here)}>{name}</a>'
        for i, (path, name) in enumerate(PAGES, 1)
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,'
        f'initial-scale=1"><meta name="color-scheme" content="light dark"><title>{escape(title)} · jdali</title>'
        f'<link rel="icon" href="data:,"><link rel="stylesheet" href="{root}style.css"><script src="{root}viewer.js" defer>'
        f'</script></head><body class="jdali"><header><strong>{escape(subject)}</strong><nav>{links}</nav></header>'
        f"<main><h1>{escape(title)}</h1>{body}</main><footer>Keys: 1 to {len(PAGES)} pages, ← → previous and next, / find"
        "</footer></body></html>"
    )


def error_box(error: object) -> str:
    return f'<section class="jd-error" role="alert"><pre>{escape(error)}</pre></section>'


def pager(before: str, after: str, middle: str) -> str:
    """Renders links to the previous and the next page; `before` or `after` is "" for no link."""

    def link(address: str, rel: str, text: str) -> str:
        if not address:
            return f'<span class="jd-off">{text}</span>'
        return f'<a rel="{rel}" href="{escape(address)}">{text}</a>'

    previous, following = link(before, "prev", "← previous"), link(after, "next", "next →")
    return f'<div class="jd-pager">{previous}{middle}{following}</div>'


def table(head: list[str], rows: list[list[str]]) -> str:
    """Renders a table; cells are HTML."""
    top = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="jd-table"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
