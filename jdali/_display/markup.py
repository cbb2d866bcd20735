"""Escapes text for HTML, and wraps figures in the style sheet."""

from __future__ import annotations

import base64
import html


def escape(text: object) -> str:
    """Escapes text for HTML and for attributes in double quotes; control characters become visible."""
    visible = "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in str(text))
    return html.escape(visible, quote=True)


def data_uri(data: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


# Colours follow the browser's light or dark theme. Class names begin with "jd", so they do not change a notebook's style.
STYLE = """
.jdali{--ink:#1b1f24;--dim:#5b6570;--paper:#fff;--card:#f5f6f8;--line:#d8dce1;--mark:#0b63c4;--bad:#b3261e;
--cpu:#2f6fab;--gpu:#4c8a1b;--arg:#8a6d1b;color:var(--ink);font:14px/1.45 system-ui,sans-serif}
@media (prefers-color-scheme:dark){.jdali{--ink:#e7eaee;--dim:#9aa5b1;--paper:#14171b;--card:#1d2126;--line:#343a42;
--mark:#6db3ff;--bad:#ff8a80;--cpu:#6aaee8;--gpu:#8fd14f;--arg:#d9b95b}}
.jdali *{box-sizing:border-box}
.jd-samples{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,var(--cell,190px)),1fr));gap:10px}
.jd-sample{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:8px;min-width:0}
.jd-name{font-size:12px;color:var(--dim);overflow-wrap:anywhere;margin:0 0 6px}
.jd-figure{margin:0 0 8px;position:relative}
.jd-figure figcaption{font-size:12px;color:var(--dim);overflow-wrap:anywhere}
.jd-frame{position:relative;display:inline-block;max-width:100%;line-height:0;
background:repeating-conic-gradient(#8883 0% 25%,#0000 0% 50%) 0/16px 16px}
.jd-frame img{max-width:100%;height:auto}
.jd-frame img.jd-tiny{image-rendering:pixelated}
.jd-frame svg,.jd-frame img.jd-over{position:absolute;left:0;top:0;width:100%;height:100%}
.jd-wave,.jd-histogram,.jd-curve,.jd-axes{width:100%;height:auto;display:block}
.jd-figure audio{width:100%;height:32px;margin-top:4px}
.jd-number{font:600 20px/1.3 ui-monospace,monospace}
.jdali pre{font:12px/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere;margin:0;max-height:16em;
overflow:auto}
.jd-figure pre+svg{margin-top:8px}
.jd-graph{max-width:100%;height:auto}
.jd-bad{color:var(--bad)}
"""


MOST_BYTES = 200_000
"""Limits the bytes of HTML that a notebook shows for one value."""
_ROOM = 4000  # bytes reserved for the style sheet


def fitting(*parts: str) -> str:
    """Joins the first parts of HTML, up to 200 kB in total."""
    shown, size = [], 0
    for part in parts:
        size += len(part.encode())
        if size > MOST_BYTES - _ROOM:
            shown.append(
                '<p class="jd-name">more than a notebook should hold; Pipeline.view() and print() show all</p>'
            )
            break
        shown.append(part)
    return "".join(shown)


def styled(body: str) -> str:
    return f'<style>{STYLE}</style><div class="jdali">{body}</div>'
