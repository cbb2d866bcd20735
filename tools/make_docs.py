"""Builds the documentation: guides, a page for each operator, a gallery, executed tutorials, the API reference.

    python tools/make_docs.py [--out build/docs] [--no-examples] [--no-tutorials] [--look] [--strip]

Operators' pages are generated from the operators' records, and their examples are run. A broken link is an error. The
site is written to a folder named after its version; a selector in the header leads to the versions in the folders
beside it.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import shutil
import sys
import tempfile
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")

from website import api_pages, gallery, operator_pages, operators, staging, versions
from website.navigation import navigation
from website.operators import ROOT
from website.sources import write_files
from website.tutorials import TUTORIALS, Kernel, write_tutorial

from jdali import __version__
from jdali._operators.record import REGISTRY


def write_pages(pages: Path, *, with_examples: bool, with_tutorials: bool, progress: bool = True) -> None:
    """Writes all pages as Markdown.

    Args:
        pages: folder for the pages; an existing folder is deleted first.
        with_examples: run the examples of the operators, and draw their results.
        with_tutorials: run the tutorials.
        progress: show a progress bar.
    """
    shutil.rmtree(pages, ignore_errors=True)
    (pages / "operators").mkdir(parents=True)
    (pages / "pictures").mkdir()
    (pages / "api").mkdir()
    staging.stage(pages, staging.example_pages(pages))
    groups = operators.by_family()
    outcomes = run_all(pages, with_examples, with_tutorials, progress)
    for op in operators.public_operators():
        outcome = outcomes.get(op.name, operator_pages.Outcome())
        text = operator_pages.page(op, outcome)
        (pages / "operators" / f"{op.name}.md").write_text(text)
    (pages / "operators" / "index.md").write_text(operator_pages.index(groups))
    (pages / "gallery.md").write_text(gallery.page(groups, outcomes))
    for module, title in api_pages.MODULES.items():
        (pages / "api" / f"{module}.md").write_text(api_pages.page(module, title))
    (pages / "api" / "index.md").write_text(api_pages.index())


def run_all(
    pages: Path, with_examples: bool, with_tutorials: bool, progress: bool
) -> dict[str, operator_pages.Outcome]:
    """Runs examples and tutorials in as many processes as processors; returns the examples' outcomes by operator."""
    from tqdm import tqdm

    names = [op.name for op in operators.public_operators()] if with_examples else []
    (pages / "tutorials").mkdir(exist_ok=True)
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(os.cpu_count(), spawn) as pool:
        tutorials = [pool.submit(run_tutorial, n, pages / "tutorials") for n in TUTORIALS if with_tutorials]
        for name in [] if with_tutorials else TUTORIALS:
            write_tutorial(name, pages / "tutorials", None)
        if names:
            write_files(Path(folder))
        examples = {n: pool.submit(run_examples_of, n, Path(folder), pages / "pictures") for n in names}
        tasks: list[Future[Any]] = [*tutorials, *examples.values()]
        for done in tqdm(as_completed(tasks), "examples, tutorials", len(tasks), disable=not progress):
            done.result()
        return {name: task.result() for name, task in examples.items()}


def run_examples_of(name: str, files: Path, pictures: Path) -> operator_pages.Outcome:
    """Runs the examples of an operator; called in a process of the pool."""
    return operator_pages.run_examples(REGISTRY[name], files, pictures)


def run_tutorial(name: str, folder: Path) -> None:
    """Runs a tutorial in a new process, as a reader would, and writes its page and notebook."""
    with Kernel().started() as kernel:
        write_tutorial(name, folder, kernel)


def build(pages: Path, root: Path) -> tuple[Path, int]:
    """Runs MkDocs, and adds the site to the list of versions.

    Args:
        pages: folder written by `write_pages`.
        root: folder of all versions; the site is written to a folder in it that has the version's name.

    Returns: the folder of the site, and the number of its HTML pages.

    Raises:
        SystemExit: MkDocs warns, or a link is broken.
    """
    from mkdocs.commands.build import build as run_mkdocs
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    out = root / __version__
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    config: Any = load_config(  # the footer says which version this is
        str(ROOT / "mkdocs.yml"),
        docs_dir=str(pages),
        site_dir=str(out),
        nav=navigation(pages),
        copyright=f"jdali {__version__}",
    )
    config.plugins.on_startup(command="build", dirty=False)
    try:
        run_mkdocs(config)
    except Abort as error:
        raise SystemExit(f"MkDocs: {error}") from None
    versions.write_versions(root)
    if broken := staging.broken_links(out):
        raise SystemExit("links that lead nowhere:\n" + "\n".join(broken))
    return out, sum(1 for _ in out.rglob("*.html"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "docs")
    parser.add_argument("--no-examples", action="store_true", help="faster: pages without what comes out")
    parser.add_argument("--no-tutorials", action="store_true", help="faster: tutorials are not run")
    parser.add_argument(
        "--look", action="store_true", help="open all pages in a browser, and report their errors"
    )
    parser.add_argument(
        "--strip", action="store_true", help="write README's pictures anew; those of the viewer need Chromium"
    )
    options = parser.parse_args()
    pages = ROOT / "build" / "docs_pages"
    write_pages(pages, with_examples=not options.no_examples, with_tutorials=not options.no_tutorials)
    if options.strip:
        from viewer_film import write_film
        from website.strip import write_strip

        write_strip(pages / "pictures", ROOT / "docs" / "images" / "augmentations.png")
        write_film(ROOT / "docs" / "images")
    site, count = build(pages, options.out)
    print(f"{count} pages; open {options.out / 'index.html'}")
    if options.look:
        from website.browser import look

        look(site, pictures=ROOT / "build" / "docs_looked")


if __name__ == "__main__":
    main()
