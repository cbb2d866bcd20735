"""Versions of the site beside each other: a folder each, and the list that the selector in the header reads.

Material's own selector, and mike, which writes for it, ask for a JSON file; browsers refuse that to a page from disk. A list that
is a script works there too, and nothing has to be pushed to a branch of Git.
"""

from __future__ import annotations

import json
from pathlib import Path

from packaging.version import InvalidVersion, Version

LIST = "versions.js"
_FIRST_PAGE = """<!doctype html>
<meta charset="utf-8">
<title>jdali</title>
<meta http-equiv="refresh" content="0; url={newest}/index.html">
<a href="{newest}/index.html">jdali {newest}</a>
"""


def write_versions(root: Path) -> list[str]:
    """Writes the list of the versions in a folder, and a first page that leads to the newest.

    Returns: the versions, newest first.
    """
    found = sorted((v for v in map(_version, root.iterdir()) if v is not None), reverse=True)
    names = [str(version) for version in found]
    (root / LIST).write_text(f"window.siteVersions = {json.dumps(names)};\n")
    (root / "index.html").write_text(_FIRST_PAGE.format(newest=names[0]))
    return names


def _version(folder: Path) -> Version | None:
    """The version that a folder has; None if it is no site."""
    if not (folder / "index.html").exists():
        return None
    try:
        return Version(folder.name)
    except InvalidVersion:
        return None
