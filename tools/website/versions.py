"""Lists the versions of the site, each in its own folder, for the selector in the header.

The selector of Material for MkDocs reads a JSON file, which browsers refuse to load for a page on disk. This list is a
script, which also works on disk.
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
    """Writes the list of the versions in a folder, and an index page that redirects to the newest version.

    Returns: the versions, newest first.
    """
    found = sorted((v for v in map(_version, root.iterdir()) if v is not None), reverse=True)
    names = [str(version) for version in found]
    (root / LIST).write_text(f"window.siteVersions = {json.dumps(names)};\n")
    (root / "index.html").write_text(_FIRST_PAGE.format(newest=names[0]))
    return names


def _version(folder: Path) -> Version | None:
    """Returns the version in a folder's name; None if the folder is not a version of the site."""
    if not (folder / "index.html").exists():
        return None
    try:
        return Version(folder.name)
    except InvalidVersion:
        return None
