"""Runs the tutorials, which are scripts divided into cells, and writes each as a page and as a notebook."""

from __future__ import annotations

import base64
import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from website.operators import ROOT

FOLDER = ROOT / "docs" / "tutorials"
TUTORIALS = [path.stem for path in sorted(FOLDER.glob("*.py"))]
_SECONDS = 300  # maximum seconds for a cell
_LARGEST = 4000  # maximum characters of an output that a page shows


class Kernel:
    """Runs notebooks in one process. Each notebook starts in an empty folder, without earlier notebooks' variables."""

    def __init__(self) -> None:
        from nbclient import NotebookClient
        from nbformat.v4 import new_notebook

        self._client = NotebookClient(
            new_notebook(),
            kernel_name="python3",
            timeout=_SECONDS,
            extra_arguments=["--IPKernelApp.log_level=40"],
        )

    @contextlib.contextmanager
    def started(self) -> Iterator[Kernel]:
        """Starts the process, and ends it at the end of the context."""
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        environment = {**os.environ, "PYTHONPATH": path}
        with (
            tempfile.TemporaryDirectory() as self._scratch,
            self._client.setup_kernel(env=environment, cwd=self._scratch),
        ):
            yield self

    def execute(self, notebook: Any) -> None:
        """Runs the cells of a notebook, and stores their outputs in the notebook.

        Raises:
            nbclient.exceptions.CellExecutionError: a cell fails.
        """
        from nbformat.v4 import new_code_cell, new_notebook

        folder = tempfile.mkdtemp(dir=self._scratch)
        fresh = new_code_cell(f"%reset -f\nimport os\nos.chdir({folder!r})\ndel os")
        for run in (new_notebook(cells=[fresh]), notebook):
            self._client.nb = run
            for number, cell in enumerate(run.cells):
                self._client.execute_cell(cell, number)


def write_tutorial(name: str, folder: Path, kernel: Kernel | None) -> None:
    """Writes `<name>.ipynb`, `<name>.md` and the pictures of a tutorial.

    Args:
        name: name of the script, without ".py".
        folder: target of the files.
        kernel: kernel that runs the cells, so that the page shows their outputs; None does not run them.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell fails.
    """
    import jupytext
    import nbformat

    notebook = jupytext.read(FOLDER / f"{name}.py", fmt="py:percent")
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    if kernel is not None:
        kernel.execute(notebook)
    nbformat.write(notebook, folder / f"{name}.ipynb")
    (folder / f"{name}.md").write_text(as_markdown(notebook, name, folder))


def as_markdown(notebook: Any, name: str, folder: Path) -> str:
    """Converts the cells of a notebook to Markdown; writes their pictures to files in `folder`."""
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
    """Converts an output of a cell, text or a picture, to Markdown."""
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
