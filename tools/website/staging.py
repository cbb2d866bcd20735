"""Copies handwritten pages to the folder that MkDocs reads, and rewrites their links to pages of the site."""

from __future__ import annotations

import functools
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from website.operators import ROOT, public_operators

# Pages outside of docs/, and their places on the site. `README.md` is not copied; links to it lead to the landing page.
OTHERS = {
    "CHANGELOG.md": "project/changelog.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "LICENSE": "project/licence.md",
    "benchmarks/RESULTS.md": "project/benchmarks.md",
    "tests/README.md": "project/tests.md",
}
_LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")


def targets() -> dict[str, str]:
    """Maps files of the repository to pages of the site; both are relative paths."""
    pages = {str(p.relative_to(ROOT)): str(p.relative_to(ROOT / "docs")) for p in _written()}
    tutorials = {
        f"docs/tutorials/{p.name}": f"tutorials/{p.stem}.md"
        for p in (ROOT / "docs" / "tutorials").glob("*.py")
    }
    return pages | OTHERS | tutorials | {"README.md": "index.md"}


def _written() -> list[Path]:
    """Lists the pages below docs/, and the files that they use, such as images."""
    kinds = (".md", ".png", ".svg", ".gif", ".css", ".js")
    return sorted(p for p in (ROOT / "docs").rglob("*") if p.suffix in kinds)


def stage(folder: Path, examples: Mapping[str, str]) -> None:
    """Copies all handwritten pages.

    Args:
        folder: target of the copies.
        examples: result of `example_pages`.

    Raises:
        RuntimeError: a page links to a file that has no page on the site.
    """
    mapping = targets() | dict(examples)
    wrong: list[str] = []
    for source, target in targets().items():
        if source == "README.md" or source.endswith(".py"):
            continue
        path = folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".md":
            shutil.copyfile(ROOT / source, path)
            continue
        text = (ROOT / source).read_text()
        if source == "LICENSE":
            text = f"# Licence\n\n```text\n{text}\n```\n"
        text = turned(text, source, target, mapping, wrong)
        path.write_text(found_late(text) if source in OTHERS else text)
    if wrong:
        raise RuntimeError("links to what is on no page:\n" + "\n".join(wrong))


def found_late(text: str) -> str:
    """Adds a header that makes the site's search rank a page below guides and operators."""
    return f"---\nsearch: {{boost: 0.1}}\n---\n\n{text}"


def turned(text: str, source: str, target: str, mapping: Mapping[str, str], wrong: list[str]) -> str:
    """Rewrites the links of a page, from files of the repository to pages of the site.

    Args:
        text: text of the page.
        source: file of the page in the repository.
        target: place of the page on the site.
        mapping: pages of the site by files of the repository.
        wrong: a list to which links to files without a page are added.
    """

    def link(match: re.Match[str]) -> str:
        before, path, fragment, after = match.groups()
        if re.match(r"[a-z]+:", path):
            return match[0]
        file = os.path.normpath(os.path.join(os.path.dirname(source), path))
        page = mapping.get(file)
        if page is None:
            # The landing page, only used on the site, links to generated pages; MkDocs checks these links.
            if source != "docs/index.md":
                wrong.append(f"{source}: {path}")
            return match[0]
        return before + os.path.relpath(page, os.path.dirname(target) or ".") + (fragment or "") + after

    # Skip code, where brackets followed by parentheses are not a link.
    pieces = re.split(r"(^```.*?^```|`[^`\n]*`)", text, flags=re.M | re.S)
    for i, piece in enumerate(pieces):
        if i % 2 == 0:
            pieces[i] = _LINK.sub(link, piece)
        elif name := _operator(piece, pieces[i - 1]):
            pieces[i] = (
                f"[{piece}]({os.path.relpath(f'operators/{name}.md', os.path.dirname(target) or '.')})"
            )
    return "".join(pieces)


def _operator(code: str, before: str) -> str:
    """Returns the operator that inline code names, such as `fn.resize`; "" if the code should not link to a page."""
    found = re.fullmatch(r"`fn\.([\w.]+?)(\(.*\))?`", code)
    title = before.rpartition("\n")[2].startswith("#")
    return found[1] if found and found[1] in _names() and not title and not before.endswith("[") else ""


@functools.cache
def _names() -> frozenset[str]:
    return frozenset(op.name for op in public_operators())


def example_pages(folder: Path) -> dict[str, str]:
    """Writes pages with the source code of examples/flax; maps files of the repository to these pages."""
    made = {}
    (folder / "examples").mkdir(parents=True, exist_ok=True)
    lines = [
        "# Examples",
        "Training scripts that run as they stand: `python examples/flax/classification.py`.",
        "",
    ]
    for path in sorted((ROOT / "examples" / "flax").glob("[!_]*.py")):
        code = path.read_text()
        summary = re.match(r'"""(.*?)(?:\n\n|""")', code, re.S)
        (folder / "examples" / f"{path.stem}.md").write_text(
            found_late(f"# {path.stem}.py\n\n```python\n{code}```\n")
        )
        lines.append(f"* [`{path.name}`]({path.stem}.md) {' '.join(summary[1].split()) if summary else ''}")
        made[str(path.relative_to(ROOT))] = f"examples/{path.stem}.md"
    (folder / "examples" / "index.md").write_text("\n".join(lines) + "\n")
    return made | {"examples/flax": "examples/index.md", "examples": "examples/index.md"}


def broken_links(folder: Path) -> list[str]:
    """Lists broken links of HTML pages, and files that pages load from another host."""
    broken = []
    # The links of 404.html begin at the site's root.
    for file in sorted(set(folder.rglob("*.html")) - {folder / "404.html"}):
        text = file.read_text()
        for kind, link in re.findall(r'\b(href|src)="?([^"#\s>]+)', text):
            if re.match(r"(https?:)?//", link):
                if kind == "src":
                    broken.append(f"{file.relative_to(folder)}: loads {link}")
            elif (
                not re.match(r"[a-z]+:", link)
                and not (file.parent / link.partition("?")[0]).resolve().exists()
            ):
                broken.append(f"{file.relative_to(folder)}: {link}")
    return broken
