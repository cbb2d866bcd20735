"""Opens local files and URLs; readers open files only through this module.

Errors are `OSError`s (`FileNotFoundError`, `PermissionError`, ...) with the reason in `strerror`. For URLs, an error
is raised only after all retries, see `jdali.storage`.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import functools
import io
import os
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

from jdali._storage import remote as _remote
from jdali._storage.blocks import BlockFile
from jdali._storage.name_table import ListedNames as ListedNames
from jdali._storage.names import Below as Below
from jdali._storage.names import all_from_data as all_from_data
from jdali._storage.names import found_by_list as found_by_list
from jdali._storage.names import from_data as from_data
from jdali._storage.names import in_list as in_list
from jdali._storage.names import is_url as is_url
from jdali._storage.names import join as join
from jdali._storage.names import join_all as join_all
from jdali._storage.names import parent as parent
from jdali._storage.names import placed as placed
from jdali._storage.names import plain as plain
from jdali._storage.names import table_from_data as table_from_data
from jdali._storage.names import user_path as user_path
from jdali._storage.names import working_folder as working_folder
from jdali._storage.remote import RemoteFile as RemoteFile
from jdali._storage.scope import Scope
from jdali._system import limits
from jdali._system.progress import progress_bar
from jdali._system.regular_file import check_size, is_of_machine, no_memory, open_regular, read_at
from jdali.storage import options


def missing_advice(path: str, error: OSError) -> str:
    """Returns a hint for a missing file: the working directory, where a broken link points, a similar name.

    Returns "" for other errors and for URLs.
    """
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
    near = [] if name in names else difflib.get_close_matches(name, names, n=1)
    if os.path.islink(broken := os.path.join(folder, name)):
        advice.append(f"{broken} is a link to {os.readlink(broken)}, which does not exist")
    if near:
        advice.append(f"there is {os.path.join(folder, near[0])}")
    return f" ({'; '.join(advice)})" if advice else ""


# Bytes per read call for files that report no size, and for files that are too large for a single call.
_PART_BYTES = 1 << 24


def read(path: str) -> bytes:
    if is_url(path):
        return _remote.read(path)
    # For a small file, this takes half the time of Python's `open` and `read`.
    descriptor, size = open_regular(path)
    try:
        check_size(path, size)
        data = os.read(descriptor, size)
        if len(data) == size > 0:
            return data
        parts, total = [data], len(data)  # too large for one system call, or a file of /proc
        while part := os.read(descriptor, _PART_BYTES):
            parts.append(part)
            total += len(part)
            check_size(path, total)
        return b"".join(parts)
    except MemoryError as error:
        raise no_memory(path, size) from error
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def found(words: str) -> Iterator[None]:
    """Raises FileNotFoundError, with these words and the reason, in place of an `OSError`, unless the machine failed."""
    try:
        yield
    except OSError as error:
        if is_of_machine(error):
            raise
        raise FileNotFoundError(f"{words}: {error.strerror or error}") from error


def text_of_lines(path: str) -> bytes:
    """Reads a text file; raises `OSError` if reading fails or there are too many lines."""
    text = read(path)
    check_items(path, text.count(b"\n"), "lines")
    return text


def lines(path: str) -> list[bytes]:
    """Reads the lines of a text file, without line ends, see `text_of_lines`."""
    return text_of_lines(path).split(b"\n")


def check_items(path: str, count: int, what: str) -> None:
    """Raises `OSError` if a file has more entries than the limit; call it before creating an object for each entry.

    Args:
        count: number of entries, or an upper bound.
        what: name of the entries, for the message.
    """
    if count > limits.most("max_items"):
        reason = f"its {count} {what} are more than the limit of {limits.words('max_items')}"
        raise OSError(errno.EFBIG, reason, path)


def parts_of(path: str) -> tuple[int, Callable[[int, int], bytes]]:
    """Returns a file's size, and a function `read(offset, size)` that reads exactly `size` bytes of it.

    For many pieces of one file see `RecordFiles`.
    """
    if is_url(path):
        file = RemoteFile(path)  # requests the size only here
        return file.size, file.read
    return size(path), functools.partial(_read_part, path)


def _read_part(path: str, offset: int, size: int) -> bytes:
    check_size(path, size)
    descriptor, _ = open_regular(path)
    try:
        data = read_at(descriptor, size, offset)
    except MemoryError as error:
        raise no_memory(path, size) from error
    finally:
        os.close(descriptor)
    if len(data) < size:
        raise OSError(None, f"it ends before the {size} bytes from byte {offset} on do")
    return data


def open(path: str) -> BinaryIO:
    """Opens a seekable and buffered binary file, for one thread."""
    if is_url(path):
        return io.BufferedReader(BlockFile(path), buffer_size=1 << 16)
    return os.fdopen(open_regular(path)[0], "rb", buffering=1 << 16)


def size(path: str) -> int:
    if is_url(path):
        return RemoteFile(path).size
    descriptor, size = open_regular(path)  # raises for files that cannot be read
    os.close(descriptor)
    return size


def remote_files(paths: Sequence[str]) -> dict[int, RemoteFile]:
    """Opens the remote files among `paths` in parallel; returns them by position."""
    scope = Scope(options().requests)
    try:
        futures = {i: scope.submit(RemoteFile, path) for i, path in enumerate(paths) if is_url(path)}
        return {i: future.result() for i, future in futures.items()}
    finally:
        scope.close()


def is_folder(path: str) -> bool:
    return _remote.is_folder(path) if is_url(path) else os.path.isdir(path)


def exists(path: str) -> bool:
    return _remote.exists(path) if is_url(path) else os.path.exists(path)


def version(path: str) -> str | None:
    """Returns a cache key that changes with a file's content and name; None if the storage has no version of the file."""
    if is_url(path):
        return _remote.version(path)
    facts = os.stat(path)
    # The change time is included, because rsync -t, tar and others can set the modification time to an old value.
    stamp = f"{facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns} {facts.st_ino}"
    return f"{stamp} {os.path.realpath(path)}"


def entries(folder: str, *, folders: bool) -> list[str]:
    """Lists the files in a folder, or with `folders` its subfolders, sorted by the bytes of the names."""
    return sorted((name for name, is_dir in _listed(folder) if is_dir == folders), key=os.fsencode)


def walk(folder: str) -> Iterator[str]:
    """Yields the paths of all files below `folder`, relative to it; a folder's files come before its subfolders."""
    with progress_bar(None, "files", f"listing {folder}") as advance:
        for path in _walk(folder):
            advance(1)
            yield path


def _walk(folder: str) -> Iterator[str]:
    listed = sorted(_listed(folder), key=lambda entry: (entry[1], os.fsencode(entry[0])))
    for name, is_dir in listed:
        if is_dir:
            yield from (f"{name}/{inner}" for inner in _walk(join(folder, plain(name))))
        else:
            yield name


def _listed(folder: str) -> list[tuple[str, bool]]:
    """Lists a folder as pairs (name, is folder)."""
    if is_url(folder):
        return _remote.entries(folder)
    try:
        with os.scandir(folder) as found:
            return [(entry.name, entry.is_dir()) for entry in found]
    except FileNotFoundError as error:
        text = f"{error.strerror}{missing_advice(folder, error)}"
        raise FileNotFoundError(error.errno, text, folder) from None
