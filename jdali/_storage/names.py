"""Resolves names of files, and decides which files a name found in data may refer to.

Names have three origins:

* A name from the user (an argument) may be any path or URL.
* A name from a folder's listing refers to a file in that folder.
* A name found in data (lists, manifests, annotations) must refer to a file below a folder that the user named;
  `from_data` raises ValueError for any other file, unless `jdali.storage` allows it.

A local name that looks like a URL gets the prefix "./".
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from urllib.parse import unquote

from jdali._storage.name_table import NameTable
from jdali.storage import options

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(?:://|::)")
# Matches a protocol without "://", such as "simplecache" in the fsspec chain "simplecache::s3://...".
_WORD = re.compile(r"[a-z]+")
_HERE = "./"
# Matches names that may refer to a file outside their folder; in a URL, "%" may encode "/" or ".".
_ODD = re.compile(r"[:%]|\.\.|^/")
# Patterns like `_ODD` for the joined text of many names, where "^/" cannot match: `_ODD_WITHIN` if names must stay in
# their folder, `_ODD_ANYWHERE` if names may leave it.
_ODD_WITHIN, _ODD_ANYWHERE = re.compile(rb"[:%]|\.\."), re.compile(rb":")
_POSIX = os.sep == "/"  # on other systems an absolute path has many forms


class Below(str):
    """The URL of a file in a folder. "::" in the file's name belongs to the name, and does not chain another URL.

    Attributes:
        folder: URL of the folder.
        name: name of the file, relative to the folder.
    """

    __slots__ = ("folder", "name")

    folder: str
    name: str

    @classmethod
    def of(cls, folder: str, name: str) -> Below:
        if isinstance(folder, Below):
            name = f"{folder.name}/{name}"
            folder = folder.folder
        path = cls(_appended(folder, name))
        path.folder, path.name = folder, name
        return path

    def __reduce__(self) -> tuple[Callable[[str, str], Below], tuple[str, str]]:
        return Below.of, (self.folder, self.name)


def is_url(path: str) -> bool:
    """Returns True if fsspec reads a path as a URL ("s3://bucket/key", "zip://a::https://host/b.zip")."""
    return ":" in path and _URL.match(path) is not None  # the first test is fast


def join(folder: str, name: str) -> str:
    """Joins a folder and a name; returns only the name if it is a URL or an absolute path."""
    if is_url(name):
        return name
    if not is_url(folder):
        return os.path.join(folder, _bare(name) if folder else name)
    name = _bare(name)
    return Below.of(folder, name) if "::" in name or isinstance(folder, Below) else _appended(folder, name)


def _bare(name: str) -> str:
    """Removes the "./" that `plain` added; keeps the "./" of ".//etc", which would become an absolute path."""
    bare = name.removeprefix(_HERE)
    return bare if is_url(bare) else name


def _appended(folder: str, name: str) -> str:
    own, chain, outer = folder.partition("::")
    if chain and "://" not in own:  # "simplecache::s3://bucket"
        return f"{own}::{_appended(outer, name)}"
    return own + ("" if own.endswith("/") else "/") + name + chain + outer


def join_all(folder: str, names: Sequence[str]) -> list[str]:
    if is_url(folder):
        return [join(folder, name) for name in names]
    prefix = os.path.join(folder, "")
    return [
        prefix + name if _POSIX and name[:1] != "/" and ":" not in name else join(folder, name)
        for name in names
    ]


def parent(path: str) -> str:
    if isinstance(path, Below):
        return join(path.folder, plain(os.path.dirname(path.name))) if "/" in path.name else path.folder
    if not is_url(path):
        return os.path.dirname(path)
    own, chain, outer = path.partition("::")
    if chain and "://" not in own:
        return f"{own}::{parent(outer)}"
    scheme, slashes, rest = own.partition("://")
    return scheme + slashes + rest.rpartition("/")[0] + chain + outer


def working_folder() -> str:
    """Returns the working folder; "" if it was removed."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def placed(path: str) -> str:
    """Makes a local path absolute; returns URLs unchanged."""
    return path if is_url(path) or os.path.isabs(path) else join(working_folder(), path)


def plain(name: str) -> str:
    """Adds "./" to a name from a folder's listing if the name looks like a URL, so that it stays a name in the folder."""
    return _HERE + name if is_url(name) else name


def user_path(path: str | os.PathLike[str], root: str = "") -> str:
    """Resolves a path or URL from the user. If a local file with this name exists, the name is not read as a URL.

    Args:
        path: the user's argument.
        root: folder that relative paths start from.
    """
    path = os.fspath(path)
    return plain(path) if is_url(path) and _is_there(root, path) else path


def from_data(root: str, name: str, *, free: bool = False) -> str:
    """Resolves a name found in data, relative to `root`.

    Args:
        root: folder that the user named.
        free: allow absolute paths and "..", for instance for names in a local list that the user named.

    Raises:
        ValueError: the name refers to a file outside `root`, and the options do not allow that.
    """
    if _POSIX and _ODD.search(name) is None:
        return name
    remote = is_url(root)
    if remote and "::" not in root and name.startswith(below := root.rstrip("/") + "/"):
        name = plain(name[len(below) :])  # the full URL of a file below `root`
    if is_url(name):
        wanted = protocols_of(name)
        if wanted <= set(options().allow_protocols):
            return name
        if "://" in name and (remote or not _is_there(root, name)):
            allowed = ", ".join(map(repr, sorted(wanted)))
            raise ValueError(
                f"{name!r} is a URL, and not below {_shown(root)}: names found in data are not followed to other "
                f"places. jdali.storage.configure(allow_protocols=[{allowed}]) lets them have such URLs"
            )
        name = plain(name)
    may_leave = options().allow_outside or (free and not remote)
    if os.path.isabs(name):
        if remote:
            raise ValueError(f"{name!r} is an absolute path, but names are relative to the URL {root}")
        kind = "is an absolute path"
    elif ".." in re.split(r"[/\\]" if remote or not _POSIX else "/", unquote(name) if remote else name):
        kind = 'has ".." in it'
    else:
        return name
    if not may_leave:
        raise ValueError(
            f"{name!r} {kind}: names found in data must lie below {_shown(root)}. "
            "jdali.storage.configure(allow_outside=True) lets them lie elsewhere"
        )
    return name


def all_from_data(root: str, names: Sequence[str], where: Callable[[int], str], *, free: bool) -> list[str]:
    checked = list(names)
    for index, name in enumerate(names):
        if not _POSIX or _ODD.search(name):  # few of possibly millions of names need the full check
            try:
                checked[index] = from_data(root, name, free=free)
            except ValueError as error:
                raise ValueError(f"{where(index)}: {error}") from None
    return checked


def table_from_data(root: str, names: NameTable, where: Callable[[int], str], *, free: bool) -> NameTable:
    """Applies `all_from_data` to a table; decodes only the names that need a check."""
    odd: Sequence[int] = range(len(names))
    if _POSIX:
        may_leave = not is_url(root) and (free or options().allow_outside)
        found = {*names.holding(_ODD_ANYWHERE if may_leave else _ODD_WITHIN), *names.others}
        if not may_leave:
            found.update(names.starting_with("/"))
        odd = sorted(found)
    checked = all_from_data(root, [names[i] for i in odd], lambda i: where(odd[i]), free=free)
    return names.with_others(dict(zip(odd, checked, strict=True))) if odd else names


def in_list(file: str, name: str) -> str:
    """Resolves a name in a list file: relative to the working folder or, for a remote list, to the list's folder.

    Args:
        file: the list. A remote list may name only files below the list's folder.
    """
    remote = is_url(file)
    return from_data(parent(file) if remote else "", name, free=not remote)


def found_by_list(file: str, name: str, folder: str = "") -> str:
    """Finds a file that a list names: in the working folder, as DALI does, or else in the list's folder.

    The list's folder is searched because lists are moved together with their files.

    Args:
        file, name: see `in_list`.
        folder: the working folder when the list was read; "": the current one.
    """
    beside = join(parent(file), name)
    if is_url(file) or beside == name or os.path.exists(join(folder, name)):
        return beside if is_url(file) else name
    return beside if os.path.exists(join(folder, beside)) else name


def _is_there(root: str, name: str) -> bool:
    return not is_url(root) and "\0" not in name and os.path.lexists(os.path.join(root, name))


def _shown(root: str) -> str:
    return root or "the working folder"


def protocols_of(url: str) -> set[str]:
    """Returns the protocols of a URL: {"zip", "s3"} for "zip://a::s3://bucket/b.zip"."""
    protocols = set()
    for link in url.split("::"):
        protocol, slashes, _ = link.partition("://")
        protocols.add(protocol if slashes or _WORD.fullmatch(link) else "file")
    return protocols
