"""The command line: `python -m jdali doctor`, `index FILE`, `view PIPELINE` and `bench PIPELINE`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from jdali.cli import _bench, _doctor, _index, _view


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code.

    Args:
        arguments: of the command line; None: those of this process.
    """
    parser = argparse.ArgumentParser(prog="python -m jdali", description="Tools for data sets read by jdali.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _doctor.add_to(commands)
    _index.add_to(commands)
    _view.add_to(commands)
    _bench.add_to(commands)
    options = parser.parse_args(arguments)
    code: int = options.run(options)
    return code
