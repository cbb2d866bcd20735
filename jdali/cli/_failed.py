"""Prints errors of commands."""

from __future__ import annotations

import sys


def failed(command: str, error: object, code: int = 1) -> int:
    """Prints an error, after the name of the command if it does not begin with it; returns the exit code."""
    print(f"{command}: {str(error).removeprefix(f'{command}: ')}", file=sys.stderr)
    return code
