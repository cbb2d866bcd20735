"""Makes the documentation as HTML that opens from disk: the guides, a page for each operator, a gallery.

    python tools/make_docs.py [--out build/docs] [--no-pictures]

Pages of operators are made from their records. All links between pages are checked.
"""

from __future__ import annotations

import argparse
import functools
import html
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from docs._pages import STYLE, docstring, markdown, page, signature_text

import jdali
from jdali._operators.names import class_name
from jdali._operators.random_key import call_with_key
from jdali._operators.record import REGISTRY, CompiledOp, Operator
from jdali._operators.surface import ALIASES

ROOT = Path(__file__).resolve().parents[1]
GUIDES = sorted(path for path in (ROOT / "docs").glob("*.md"))


def public_operators() -> list[Operator]:
    """Those that users call, by name."""
    return [op for name, op in sorted(REGISTRY.items()) if not name.startswith(("_", "math."))]


def family(op: Operator) -> str:
    """What the operator's page is listed under."""
    head, dot, _ = op.name.rpartition(".")
    if dot:
        return head
    package = op.run.__module__.split(".")
    return package[2] if package[:2] == ["jdali", "ops"] and len(package) > 3 else "others"


def operator_page(op: Operator, pictures: Iterable[tuple[str, str]]) -> str:
    """The page of an operator; pictures are file names with the settings that they show."""
    function: Any = functools.reduce(getattr, op.name.split("."), jdali.fn)
    parts = [
        f"<h1>{html.escape(op.name)}</h1>",
        f"<pre>{html.escape(signature_text(function, f'fn.{op.name}'))}</pre>",
    ]
    parts.append(docstring(function.__doc__))
    shown = "".join(
        f'<figure><img src="../pictures/{file}" alt="{html.escape(text)}"><figcaption><code>{html.escape(text)}</code>'
        "</figcaption></figure>"
        for file, text in pictures
    )
    if shown:
        before = '<figure><img src="../pictures/photograph.png" alt="the input"><figcaption>the input</figcaption></figure>'
        parts.append(f'<h2>Pictures</h2><div class="tiles">{before}{shown}</div>')
    parts.append(f"<h2>Names</h2>{names_of(op)}")
    return page(op.name, "\n".join(parts), depth=1)


def names_of(op: Operator) -> str:
    """Where else the operator is, and what it was checked against."""
    rows = [("in a pipeline", f"jdali.fn.{op.name}"), ("as a class", f"jdali.ops.{class_name(op.name)}")]
    if hasattr_path(jdali.dynamic, op.name):
        rows.append(("eagerly", f"jdali.dynamic.{op.name}"))
    elif hasattr_path(jdali.dynamic, class_name(op.name)):
        rows.append(("eagerly", f"jdali.dynamic.{class_name(op.name)}"))
    if isinstance(op, CompiledOp):
        rows.append(("as a pure function of arrays", f"jdali.ops.{op.name}"))
    rows += [("deprecated name", f"jdali.fn.{old}") for old, new in sorted(ALIASES.items()) if new == op.name]
    rows.append(("DALI's devices", ", ".join(op.devices)))
    if op.source:
        rows.append(("DALI's source", op.source))
    table = "".join(f"<tr><td>{a}</td><td><code>{html.escape(b)}</code></td></tr>" for a, b in rows)
    note = ""
    if isinstance(op, CompiledOp) and op.random:
        note = (
            "<p>The pure function draws random values from a JAX key, which comes first, "
            f"<code>{html.escape(call_with_key(op))}</code>, or by name, <code>key=key</code>.</p>"
        )
    return f"<table>{table}</table>{note}"


def hasattr_path(module: Any, name: str) -> bool:
    for part in name.split("."):
        if not hasattr(module, part):
            return False
        module = getattr(module, part)
    return True


def operators_index(operators: list[Operator]) -> str:
    families: dict[str, list[Operator]] = {}
    for op in operators:
        families.setdefault(family(op), []).append(op)
    parts = [f"<h1>Operators</h1><p>{len(operators)} operators, by family.</p>"]
    for name, members in sorted(families.items()):
        rows = "".join(
            f'<tr><td><a href="{op.name}.html"><code>{op.name}</code></a></td><td>{html.escape(summary(op))}</td></tr>'
            for op in members
        )
        parts.append(f"<h2>{name}</h2><table>{rows}</table>")
    return page("Operators", "\n".join(parts), depth=1)


def summary(op: Operator) -> str:
    """The first paragraph of the docs."""
    return " ".join(op.doc.partition("\n\n")[0].split())


def gallery(pictures: dict[str, list[tuple[str, str]]]) -> str:
    tiles = "".join(
        f'<a class="tile" href="operators/{name}.html"><img src="pictures/{made[0][0]}" alt="{name}" loading="lazy">'
        f"<span><code>{name}</code></span></a>"
        for name, made in sorted(pictures.items())
    )
    text = "What the operators on pictures do. Each leads to its page, with more settings."
    if not tiles:
        text = "It was made without pictures."
    return page("Gallery", f'<h1>Gallery</h1><p>{text}</p><div class="tiles">{tiles}</div>')


def broken_links(folder: Path) -> list[str]:
    """Links and pictures of pages that lead nowhere."""
    broken = []
    for file in sorted(folder.rglob("*.html")):
        for link in re.findall(r'(?:href|src)="([^"#]+)', file.read_text()):
            if not link.startswith(("http:", "https:")) and not (file.parent / link).resolve().exists():
                broken.append(f"{file.relative_to(folder)}: {link}")
    return broken


def make(folder: Path, *, with_pictures: bool, progress: bool = True) -> int:
    """Writes all pages; returns their number.

    Raises:
        RuntimeError: links that lead nowhere.
    """
    (folder / "operators").mkdir(parents=True, exist_ok=True)
    (folder / "style.css").write_text(STYLE)
    operators = public_operators()
    pictures = draw_all(folder, {op.name for op in operators}, progress) if with_pictures else {}
    shutil.copytree(ROOT / "docs" / "images", folder / "images", dirs_exist_ok=True)
    names = {path.stem for path in GUIDES}
    pages = {
        "index": page("jdali", markdown((ROOT / "README.md").read_text(), names) + guides()),
        "gallery": gallery(pictures),
    }
    pages |= {path.stem: page(path.stem, markdown(path.read_text(), names)) for path in GUIDES}
    pages["operators/index"] = operators_index(operators)
    pages |= {f"operators/{op.name}": operator_page(op, pictures.get(op.name, ())) for op in operators}
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text)
    if broken := broken_links(folder):
        raise RuntimeError("links that lead nowhere:\n" + "\n".join(broken))
    return len(pages)


def guides() -> str:
    items = "".join(f'<li><a href="{path.stem}.html">{title(path)}</a></li>' for path in GUIDES)
    return f"<h2>Guides</h2><ul>{items}</ul>"


def title(path: Path) -> str:
    return html.escape(path.read_text().partition("\n")[0].lstrip("# "))


def draw_all(folder: Path, names: set[str], progress: bool) -> dict[str, list[tuple[str, str]]]:
    from docs._pictures import SETTINGS, draw, photograph
    from PIL import Image
    from tqdm import tqdm

    (folder / "pictures").mkdir(exist_ok=True)
    Image.fromarray(photograph()).save(folder / "pictures" / "photograph.png")
    wanted = sorted(names & SETTINGS.keys())
    with tqdm(
        total=sum(len(SETTINGS[name]) for name in wanted), desc="pictures", disable=not progress
    ) as bar:
        return {name: draw(name, folder / "pictures", bar.update) for name in wanted}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "docs")
    parser.add_argument("--no-pictures", action="store_true", help="much faster")
    options = parser.parse_args()
    count = make(options.out, with_pictures=not options.no_pictures)
    print(f"{count} pages; open {options.out / 'index.html'}")


if __name__ == "__main__":
    main()
