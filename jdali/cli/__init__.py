"""Implements the command line: `python -m jdali doctor`, `index`, `convert`, `view`, `bench` and `serve`."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Sequence
from typing import NoReturn

from jdali import __version__
from jdali.cli import _bench, _convert, _doctor, _index, _serve, _view


class _Parser(argparse.ArgumentParser):
    """Parses arguments; suggests the closest valid word for an invalid one."""

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        near = difflib.get_close_matches(wrong[1], re.findall(r"[\w-]+", wrong[2]), n=1) if wrong else []
        super().error(f"{message}; did you mean {near[0]}?" if near else message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code.

    Args:
        arguments: arguments of the command line; None: the arguments of this process.
    """
    parser = _Parser(prog="python -m jdali", description="Tools for data sets read by jdali.")
    parser.add_argument("--version", action="version", version=f"jdali {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _doctor.add_to(commands)
    _index.add_to(commands)
    _convert.add_to(commands)
    _serve.add_to(commands)
    _view.add_to(commands)
    _bench.add_to(commands)
    options = parser.parse_args(arguments)
    code: int = options.run(options)
    return code
