"""Advice about files and folders that are not there."""

from __future__ import annotations

import difflib
import os


def missing_advice(path: str, error: OSError) -> str:
    """Says where a relative path was searched, and which names are close to it; "" for other errors and URLs."""
    if not isinstance(error, FileNotFoundError) or "://" in path:
        return ""
    advice = [] if os.path.isabs(path) else [f"the working directory is {os.getcwd()}"]
    folder, name = os.path.split(path.rstrip("/"))
    while folder and not os.path.isdir(folder):
        folder, name = os.path.split(folder)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        names = []
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        advice.append(f"there is {os.path.join(folder, near[0])}")
    return f" ({'; '.join(advice)})" if advice else ""
