"""Requests to remote storage through fsspec: time limits, retries, and errors that say what happened."""

from __future__ import annotations

import asyncio
import errno
import io
import time
from collections.abc import Callable
from typing import Any, BinaryIO

from jdali.storage import options

# Answers of HTTP servers that may be another one the next time, besides 5xx.
_PASSING = (408, 425, 429)
# What fsspec's file systems call the facts that change with a file's content.
_VERSIONS = (
    "ETag", "etag", "VersionId", "version_id", "generation", "md5Hash", "content_md5", "Content-MD5",
    "LastModified", "last_modified", "Last-Modified", "mtime", "modified", "created",
)  # fmt: skip


class ShortRead(OSError):
    """A storage answered with another number of bytes than it was asked for."""


def _file_system(url: str) -> tuple[Any, str]:
    """fsspec's file system for a URL, and its name for the file."""
    try:
        import fsspec
    except ImportError as error:
        raise ImportError(f'to read {url}, fsspec is needed: pip install "jdali[remote]"') from error
    # fsspec keeps one object for equal arguments, and makes it anew in a forked process.
    return fsspec.core.url_to_fs(url)


def _request(url: str, name: str, *arguments: Any, check: Callable[[Any], Any] | None = None) -> Any:
    """Calls a method of the file system of `url`, again if it fails for a reason that may pass."""
    settings = options()
    system, path = _file_system(url)
    for attempt in range(settings.retries + 1):
        try:
            answer = _once(system, name, path, *arguments, limit=settings.time_limit)
            return answer if check is None else check(answer)
        except Exception as error:
            if _is_final(error) or attempt == settings.retries:
                raise _as_os_error(url, error, attempt + 1) from error
        time.sleep(min(settings.first_wait * 2**attempt, settings.longest_wait))
    raise AssertionError  # the last attempt returns or raises


def _once(system: Any, name: str, *arguments: Any, limit: float) -> Any:
    if not getattr(system, "async_impl", False):
        return getattr(system, name)(*arguments)
    work = asyncio.wait_for(getattr(system, "_" + name)(*arguments), limit)
    future = asyncio.run_coroutine_threadsafe(work, system.loop)
    try:
        return future.result()
    finally:
        future.cancel()


def _status(error: BaseException) -> int | None:
    """The HTTP status behind an error."""
    for value in (getattr(error, "status", None), getattr(error, "code", None)):
        if isinstance(value, int) and 100 <= value < 600:
            return value
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return status if isinstance(status, int) else None
    return None


def _is_final(error: BaseException) -> bool:
    """Whether to ask again is of no use."""
    chain: list[BaseException] = []
    step: BaseException | None = error
    while step is not None and len(chain) < 8:
        chain.append(step)
        step = step.__cause__
    for one in reversed(chain):  # the first cause knows best
        status = _status(one)
        if status is not None:
            return 400 <= status < 500 and status not in _PASSING
        if isinstance(one, (TimeoutError, ConnectionError)):
            return False
    if isinstance(error, (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)):
        return True
    if type(error).__name__ in ("NoCredentialsError", "PartialCredentialsError", "InvalidURL"):
        return True
    return isinstance(error, (TypeError, LookupError, AttributeError, NotImplementedError, ImportError))


def _as_os_error(url: str, error: Exception, attempts: int) -> Exception:
    if isinstance(error, ImportError):
        return error
    tried = f" ({attempts} attempts)" if attempts > 1 else ""
    if isinstance(error, TimeoutError):
        return TimeoutError(errno.ETIMEDOUT, f"no answer within {options().time_limit:g} s{tried}", url)
    status = _status(error)
    reason = f"HTTP status {status}" if status else str(error) or type(error).__name__
    if (isinstance(error, FileNotFoundError) and not tried) or status == 404:
        return FileNotFoundError(errno.ENOENT, f"there is no such file{tried}", url)
    if isinstance(error, PermissionError) or status in (401, 403):
        return PermissionError(errno.EACCES, f"access is denied ({reason}){tried}", url)
    return OSError(errno.EIO, f"{type(error).__name__}: {reason}{tried}", url)


# --- content --------------------------------------------------------------------------------
def read(url: str) -> bytes:
    data: bytes = _request(url, "cat_file")
    return data


def read_range(url: str, offset: int, size: int) -> bytes:
    def check(data: bytes) -> bytes:
        if len(data) != size:
            raise ShortRead(f"{len(data)} bytes came instead of {size}")
        return data

    if not size:
        return b""
    data: bytes = _request(url, "cat_file", offset, offset + size, check=check)
    return data


class _File(io.RawIOBase):
    """A remote file, as Python's files are."""

    def __init__(self, url: str):
        self._url, self._size, self._at = url, size(url), 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        count = max(0, min(len(buffer), self._size - self._at))
        buffer[:count] = read_range(self._url, self._at, count)
        self._at += count
        return count


def open(url: str) -> BinaryIO:
    return io.BufferedReader(_File(url), buffer_size=options().block_size)


# --- facts ----------------------------------------------------------------------------------
def _info(url: str) -> dict[str, Any]:
    system, path = _file_system(url)
    system.invalidate_cache(path)
    info: dict[str, Any] = _request(url, "info")
    return info


def size(url: str) -> int:
    found = _info(url).get("size")
    if found is None:
        raise OSError(errno.EIO, "the server does not tell the size of the file", url)
    return int(found)


def version(url: str) -> str | None:
    info = _info(url)
    facts = [f"{name}={info[name]}" for name in _VERSIONS if info.get(name) is not None]
    return f"{info.get('size')} {' '.join(facts)} {url}" if facts else None


def is_folder(url: str) -> bool:
    try:
        return bool(_info(url)["type"] == "directory")
    except FileNotFoundError:
        return False


def exists(url: str) -> bool:
    try:
        _info(url)
    except FileNotFoundError:
        return False
    return True


def entries(url: str) -> list[tuple[str, bool]]:
    """(name, whether it is a folder) of all in a folder."""
    system, path = _file_system(url)
    system.invalidate_cache(path)
    own = path.rstrip("/")
    found = [(str(e["name"]).rstrip("/"), e["type"] == "directory") for e in _request(url, "ls", True)]
    return [(name.rpartition("/")[2], is_dir) for name, is_dir in found if name != own]
