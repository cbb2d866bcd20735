"""Installs this checkout with pip, and shows its progress on one line in place of pip's output.

    .venv/bin/python tools/install.py '.[examples]'

The line says how many packages pip has found, and which package it fetches. Without a terminal, nothing is shown. If
pip fails, its output is printed. This script runs before anything is installed, so it needs only the standard library.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence

# Lines of pip's output that name a package.
_FOUND = re.compile(r"\s*(?:Collecting|Requirement already satisfied:) ([A-Za-z0-9._-]+)")
_FETCHED = re.compile(r"\s*(?:Downloading|Using cached) ([A-Za-z0-9._]+)-\S* \(([^)]*)\)")
_PIP = (
    "-m", "pip", "install", "--disable-pip-version-check", "--root-user-action", "ignore", "--progress-bar", "off",
)  # fmt: skip


def progress(lines: Iterable[str]) -> Iterator[str]:
    """Describes pip's progress after each line of its output that shows progress."""
    found: set[str] = set()
    for line in lines:
        if match := _FOUND.match(line):
            found.add(match[1].lower())
            yield f"{len(found)} packages found, {match[1]}"
        elif match := _FETCHED.match(line):
            yield f"{len(found)} packages found, fetching {match[1]} ({match[2]})"
        elif line.startswith("Installing collected packages:"):
            yield f"installing {line.count(',') + 1} packages"


def install(wanted: Sequence[str]) -> int:
    """Runs pip.

    Args:
        wanted: arguments of `pip install`.

    Returns: pip's exit status.
    """
    said: list[str] = []
    moving = sys.stderr.isatty()
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, *_PIP, *wanted], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:

        def lines() -> Iterator[str]:
            for line in pip.stdout or ():
                said.append(line)
                yield line

        for state in progress(lines()):
            if moving:
                width = shutil.get_terminal_size().columns - 1
                text = f"setting up, {time.monotonic() - began:.0f} s: {state}"
                print(f"\r{text[:width]:{width}}", end="", file=sys.stderr, flush=True)
    if moving:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    if pip.returncode:
        print("".join(said), file=sys.stderr)
    return pip.returncode


if __name__ == "__main__":
    sys.exit(install(sys.argv[1:]))
