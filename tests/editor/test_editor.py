"""Type checkers and editors know jdali in a program outside of the repository.

`make editor` runs all of it; a run without basedpyright, an optional package, checks with mypy alone.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import jdali

PROGRAM = Path(__file__).with_name("program.py").read_text()
ROOT = str(Path(jdali.__file__).parents[1])
_needs_pyright = pytest.mark.skipif(
    importlib.util.find_spec("basedpyright") is None,
    reason="basedpyright is not installed; `make editor` does it",
)


def expected(program: str) -> tuple[dict[int, str], set[int]]:
    """The types to reveal and the lines with errors, by number."""
    revealed, errors = {}, set()
    for number, line in enumerate(program.splitlines(), 1):
        if "  # reveals: " in line:
            revealed[number] = line.partition("  # reveals: ")[2]
        elif line.endswith("# error"):
            errors.add(number)
    return revealed, errors


def plain(annotation: str) -> str:
    """A type by its last name: "dict[str, jax._src.basearray.Array]" as "dict[str, Array]"."""
    annotation = re.sub(r"TypedDict\(([\w.]+), \{[^}]*\}\)", r"\1", annotation)
    return re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", annotation)


def checked(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": ROOT}
    done = subprocess.run(
        [sys.executable, "-m", *command, "program.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


@pytest.mark.exhaustive  # `make editor` runs it
@pytest.mark.slow
def test_mypy(folder: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is part of the extra `dev`")
    output = checked(["mypy", "--no-incremental", "--strict-equality", "--hide-error-context"], folder)
    revealed = {
        int(line): plain(text)
        for line, text in re.findall(r'^program.py:(\d+): note: Revealed type is "(.*)"$', output, re.M)
    }
    errors = {int(line) for line in re.findall(r"^program.py:(\d+): error", output, re.M)}
    assert (revealed, errors) == expected(PROGRAM), output


@_needs_pyright
def test_pyright(folder: Path) -> None:
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    found = json.loads(checked(["basedpyright", "--outputjson", "--pythonpath", sys.executable], folder))[
        "generalDiagnostics"
    ]
    revealed, errors = {}, set()
    for one in found:
        line = one["range"]["start"]["line"] + 1
        if one["severity"] == "information":
            revealed[line] = plain(re.search(r'Type of ".*" is "(.*)"', one["message"])[1])
        elif one["severity"] == "error":
            errors.add(line)
    assert (revealed, errors) == expected(PROGRAM), found


class LanguageServer:
    """A language server and its answers, by JSON-RPC over pipes."""

    def __init__(self, folder: Path):
        self._process = subprocess.Popen(
            [str(Path(sys.executable).with_name("basedpyright-langserver")), "--stdio"], cwd=folder,
            env={**os.environ, "PYTHONPATH": ROOT}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._number = 0
        self.uri = (folder / "program.py").as_uri()
        self.ask("initialize", processId=os.getpid(), rootUri=folder.as_uri(), capabilities={})
        self._send({"method": "initialized", "params": {}})
        document = {"uri": self.uri, "languageId": "python", "version": 1, "text": PROGRAM}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def _send(self, message: dict) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
        self._process.stdin.flush()

    def ask(self, method: str, **params: object) -> dict:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            size = 0
            while line := self._process.stdout.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    size = int(line.split(b":")[1])
            assert size, "the language server has ended"
            message = json.loads(self._process.stdout.read(size))
            if message.get("id") == self._number and "method" not in message:
                return message["result"]
            if "id" in message and "method" in message:  # it asks for settings and capabilities
                wanted = message.get("params", {}).get("items", [])
                self._send({"id": message["id"], "result": [{}] * len(wanted) or None})

    def at(self, method: str, text: str, after: str = "") -> dict:
        """Asks about the position behind `after` in the first line that has `text`."""
        line = next(i for i, content in enumerate(PROGRAM.splitlines()) if text in content)
        column = PROGRAM.splitlines()[line].index(text) + text.index(after) + len(after)
        return self.ask(
            f"textDocument/{method}",
            textDocument={"uri": self.uri},
            position={"line": line, "character": column},
        )

    def close(self) -> None:
        self.ask("shutdown")
        self._send({"method": "exit"})
        self._process.communicate(timeout=30)


@pytest.fixture
def server(folder: Path) -> Iterator[LanguageServer]:
    server = LanguageServer(folder)
    yield server
    server.close()


@_needs_pyright
def test_hovering_and_completing(server: LanguageServer) -> None:
    hover = server.at("hover", "fn.resize(images, size", "fn.res")["contents"]["value"]
    assert "Resizes images or volumes" in hover
    assert "interp_type" in hover
    assert "-> DataNode" in hover
    items = server.at("completion", "fn.resize(images, size", "fn.")["items"]
    assert {"resize", "rotate", "readers", "decoders"} <= {item["label"] for item in items}
    items = server.at("completion", "fn.resize(images, sise", "(images, ")["items"]
    assert {"resize_shorter=", "interp_type=", "save_attrs="} <= {item["label"] for item in items}
