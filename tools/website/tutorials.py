"""Runs the tutorials, which are scripts of cells, and writes each as a page and as a notebook."""

from __future__ import annotations

import base64
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from website.operators import ROOT

FOLDER = ROOT / "docs" / "tutorials"
TUTORIALS = [path.stem for path in sorted(FOLDER.glob("*.py"))]
_SECONDS = 300  # that one cell may take
_LARGEST = 4000  # characters of text that a cell shows


def write_tutorial(name: str, folder: Path, *, run: bool) -> None:
    """Writes `<name>.ipynb`, `<name>.md` and the pictures of a tutorial.

    Args:
        name: of the script, without ".py".
        folder: where to.
        run: run its cells, so that the page has what they print and draw.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell fails.
    """
    import jupytext
    import nbformat

    notebook = jupytext.read(FOLDER / f"{name}.py", fmt="py:percent")
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    if run:
        execute(notebook)
    nbformat.write(notebook, folder / f"{name}.ipynb")
    (folder / f"{name}.md").write_text(as_markdown(notebook, name, folder))


def execute(notebook: Any) -> None:
    """Runs the cells of a notebook in a folder of their own."""
    from nbclient import NotebookClient

    path = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), path]))
    try:
        with tempfile.TemporaryDirectory() as scratch:
            resources = {"metadata": {"path": scratch}}
            quiet = ["--IPKernelApp.log_level=40"]
            client = NotebookClient(notebook, timeout=_SECONDS, resources=resources, extra_arguments=quiet)
            client.execute()
    finally:
        os.environ["PYTHONPATH"] = path


def as_markdown(notebook: Any, name: str, folder: Path) -> str:
    """Writes the cells of a notebook as Markdown, and their pictures as files beside it."""
    blocks: list[str] = []
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            blocks.append(cell.source)
            continue
        blocks.append(f"```python\n{cell.source}\n```")
        blocks += [_output(output, f"{name}-{number}", folder) for output in cell.get("outputs", [])]
    title, *rest = blocks
    link = f"[Download it as a notebook]({name}.ipynb)."
    return "\n\n".join([title, link, *filter(None, rest)]) + "\n"


def _output(output: Any, stem: str, folder: Path) -> str:
    """Writes one output: text, or a picture."""
    if output.output_type == "stream":
        return _text(output.text) if output.name == "stdout" else ""
    made = output.get("data", {})
    if "image/png" in made:
        file = f"{stem}.png"
        (folder / file).write_bytes(base64.b64decode(made["image/png"]))
        return f"![What the cell draws]({file})"
    return _text(made["text/plain"]) if "text/plain" in made else ""


def _text(text: str) -> str:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text).rstrip()
    shown = plain if len(plain) <= _LARGEST else plain[:_LARGEST] + "\n..."
    return f"```text\n{shown}\n```"
