"""Sends requests to remote storage through fsspec, with time limits, retries and clear errors."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import errno
import inspect
import os
import re
import threading
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from typing import Any

from jdali._storage.disk_cache import disk_cache
from jdali._storage.names import Below, protocols_of
from jdali._storage.scope import Ended, current_scope
from jdali._system.extras import install
from jdali._system.regular_file import check_no_device, check_size, is_of_machine
from jdali.storage import Options, options

# HTTP statuses, besides 5xx, after which a retry may succeed.
_PASSING = (408, 425, 429)
# Properties, in fsspec's information about a file, that change with the file's content.
_VERSIONS = (
    "ETag", "etag", "VersionId", "version_id", "generation", "md5Hash", "content_md5", "Content-MD5",
    "LastModified", "last_modified", "Last-Modified", "mtime", "modified", "created", "ino", "crc32c", "checksum",
    "blob_id", "xet_hash",
)  # fmt: skip
# Client errors that no retry can fix, by name, because their packages may not be installed.
_HOPELESS = ("NoCredentialsError", "PartialCredentialsError", "InvalidURL", "InvalidUrlClientError")
_S3 = ("s3", "s3a")
_HTTP = ("http", "https")
# Protocols whose packages are in the extra "remote".
_IN_EXTRA = (*_S3, *_HTTP, "gs", "gcs", "hf")
_NONE: Mapping[str, Any] = {}
# All file systems in use, by `id`. A forked process must not free its parent's file systems: closing their connections
# would also remove these from the epoll set, which both processes share.
_SYSTEMS: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
_OF_PARENTS: list[Any] = []
# Open archives of this machine, by `_local_archive`. fsspec itself would open an archive, and read its table of contents, for
# each request. One request at a time uses them, since not all are thread-safe.
_ARCHIVES: collections.OrderedDict[object, Any] = collections.OrderedDict()
_MOST_ARCHIVES = 4
_archive_turn = threading.Lock()


def _after_fork() -> None:
    global _archive_turn
    _OF_PARENTS.extend(_SYSTEMS.values())
    _archive_turn = threading.Lock()
    _ARCHIVES.clear()


os.register_at_fork(after_in_child=_after_fork)


class WrongLength(OSError):
    """A storage returned a different number of bytes than requested."""


class NoParts(WrongLength):
    """A server returned the whole file instead of a part."""


class UnknownProtocol(OSError):
    """fsspec has no file system for a URL."""


def _protocol(url: str) -> str:
    """Returns the protocol of the storage itself, without fsspec's caches: "s3" for "simplecache::s3://bucket/name"."""
    return url.partition("://")[0].rpartition("::")[2]


def _file_system(url: str) -> tuple[Any, str]:
    """Returns fsspec's file system for a URL, and the file's path in it."""
    folder = url.folder if isinstance(url, Below) else url
    archive = _local_archive(folder)
    system = _ARCHIVES.get(archive)
    if system is None:
        system, path = _found(folder)
    else:
        path = system._strip_protocol(folder.partition("::")[0])
    if archive is not None:
        _ARCHIVES[archive] = system
        _ARCHIVES.move_to_end(archive)
        if len(_ARCHIVES) > _MOST_ARCHIVES:
            _ARCHIVES.popitem(last=False)
    if isinstance(url, Below):
        path = f"{path.rstrip('/')}/{url.name}" if path else url.name
    # A caching file system, and the file system that it caches.
    for one in (system, getattr(system, "fs", None)):
        if one is not None:
            _SYSTEMS[id(one)] = one
    return system, path


def _local_path(url: str) -> str | None:
    """Returns the local file behind a URL such as "file:///a" or "zip://a::/b.zip"; None if it is remote."""
    url = url.folder if isinstance(url, Below) else url
    protocol, slashes, path = url.rpartition("::")[2].partition("://")
    if not slashes:
        return protocol
    return path if protocol in ("file", "local") else None


def _local_archive(url: str) -> tuple[object, ...] | None:
    """Returns a key of the local archive in a URL such as "zip://a::/b.zip", which changes with the archive; None without one."""
    own, chain, outer = url.partition("::")
    protocol, slashes, _ = own.partition("://")
    local = _local_path(url)
    if not chain or not slashes or local is None:
        return None
    try:
        facts = os.stat(local)
    except (OSError, ValueError):
        return None  # opening it raises the error
    return protocol, outer, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino


def _found(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise ImportError(f"to read {url}, fsspec is needed: {install('remote')}") from error
    protocol = _protocol(url)
    # No cache is needed here: fsspec caches file systems by their arguments, and makes new ones in a forked process.
    try:
        if url.partition("://")[0] not in _S3:
            system, path = fsspec.core.url_to_fs(url)
            return system, path
        # By default, s3fs and botocore would both retry silently, and use at most 10 connections.
        configured = fsspec.config.conf.get("s3", {}).get("config_kwargs", {})
        own = {"max_pool_connections": max(options().requests, 10), "retries": {"total_max_attempts": 1}}
        system, path = fsspec.core.url_to_fs(url, config_kwargs={**own, **configured})
        system.retries = 1
        return system, path
    except ImportError as error:  # fsspec's error names the missing package
        advice = f": {install('remote')}" if protocol in _IN_EXTRA else ""
        raise ImportError(f"to read {url}: {error}{advice}") from error
    except ValueError as error:
        unknown = sorted(protocols_of(url).difference(fsspec.available_protocols()))
        if not unknown:
            raise
        text = f"fsspec knows no protocol {unknown[0]!r}"
        raise UnknownProtocol(errno.EPROTONOSUPPORT, text, url) from error


def _check_configured(url: str) -> None:
    """Raises what the constructor of the storage's file system raises, unless a server or the system causes it.

    Such errors are of the configuration, and no retry can fix them.
    """
    try:
        _found((url.folder if isinstance(url, Below) else url).rpartition("::")[2])
    except Exception as error:
        if not any(isinstance(one, OSError) or _status(one) is not None for one in _chain(error)):
            raise


def _request(
    url: str,
    name: str,
    arguments: Mapping[str, object] = _NONE,
    *,
    check: Callable[[Any, str], Any] | None = None,
    fresh: bool = False,
) -> Any:
    """Calls a method of the file system of `url` with the path and keyword arguments; retries after temporary errors.

    Args:
        check: converts the method's return value to the result, or raises an exception; also takes the path.
        fresh: bypass fsspec's cache.
    """
    settings = options()
    scope = current_scope()
    local = _local_path(url)
    if local is None:
        _check_configured(url)
    else:
        check_no_device(local)
    retries = settings.retries if local is None else 0
    for attempt in range(retries + 1):
        try:
            with _archive_turn if local is not None and "::" in url else contextlib.nullcontext():
                system, path = _file_system(url)
                if fresh:
                    system.invalidate_cache(path)
                answer = _once(system, name, path, arguments, settings.time_limit)
            return answer if check is None else check(answer, path)
        except (Ended, CancelledError) as error:
            raise Ended(url) from error
        except UnknownProtocol:
            raise
        except Exception as error:
            if _is_final(error) or attempt == retries:
                raise _as_os_error(url, error, attempt + 1, settings) from error
        # The exponent is bounded, because a float cannot be 2.0**1024.
        scope.wait(url, min(settings.first_wait * 2 ** min(attempt, 64), settings.longest_wait))
    raise AssertionError  # not reached, since the last attempt returns or raises


def _once(system: Any, name: str, path: str, arguments: Mapping[str, Any], limit: float) -> Any:
    if not getattr(system, "async_impl", False):
        return getattr(system, name)(path, **arguments)
    method = getattr(system, "_" + name)
    if "max_concurrency" in inspect.signature(method).parameters:
        arguments = {"max_concurrency": 1, **arguments}  # otherwise a request for the file's size comes first

    # Returns an exception instead of raising it, because asyncio would log an exception raised after a cancellation.
    async def limited() -> tuple[Any, Exception | None]:
        try:
            return await asyncio.wait_for(method(path, **arguments), limit), None
        except Exception as error:
            return None, error

    with current_scope().running(path, asyncio.run_coroutine_threadsafe(limited(), system.loop)) as future:
        answer, error = future.result()
    try:
        if error is not None:
            raise error
        return answer
    finally:
        del error  # breaks the reference cycle between the error's traceback and this frame


def _status(error: BaseException) -> int | None:
    """Returns the HTTP status in an error of aiohttp, gcsfs, botocore or huggingface_hub, or None."""
    if type(error.__cause__).__module__ == "aiohttp.http_exceptions":
        return None  # aiohttp sets the status 400 if it cannot parse the answer
    # Only gcsfs has the status in `code`; aiohttp sets `code` to 400 for a broken connection.
    value = getattr(error, "code" if type(error).__module__.startswith("gcsfs") else "status", None)
    if isinstance(value, int) and 100 <= value < 600:
        return value
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    else:
        status = getattr(response, "status_code", None)
    return status if isinstance(status, int) else None


def _names_no_bucket(error: BaseException) -> bool:
    return re.search(r"nosuchbucket|bucket (does not exist|not found)", str(error).lower()) is not None


def _chain(error: BaseException) -> list[BaseException]:
    """Lists an error and its causes, the original cause first."""
    chain: list[BaseException] = []
    step: BaseException | None = error
    # Stops at CancelledError, which is not the cause of a timeout: asyncio itself cancels the task.
    while not (step is None or step in chain or isinstance(step, asyncio.CancelledError)):
        chain.insert(0, step)
        step = step.__cause__
    return chain


def _is_final(error: BaseException) -> bool:
    chain = _chain(error)
    for one in chain:
        status = _status(one)
        if status is not None:
            return status < 500 and status not in _PASSING
        if isinstance(one, (TimeoutError, ConnectionError)):
            return False
    hopeless = (NoParts, FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)
    mistakes = (TypeError, LookupError, AttributeError, NotImplementedError, ImportError, MemoryError)
    # Only the original cause counts, because fsspec may raise FileNotFoundError after a broken connection.
    return isinstance(chain[0], hopeless + mistakes) or type(chain[0]).__name__ in _HOPELESS


def _as_os_error(url: str, error: Exception, attempts: int, settings: Options) -> Exception:
    if isinstance(error, ImportError):
        return error
    tried = f" ({attempts} attempts)" if attempts > 1 else ""
    chain = _chain(error)
    status = next((s for s in map(_status, chain) if s is not None), None)
    lacking = next((one for one in chain if is_of_machine(one)), None)
    if lacking is not None:
        return OSError(getattr(lacking, "errno", None) or errno.ENOMEM, _described(lacking) + tried, url)
    if isinstance(chain[0], TimeoutError):
        text = f"there was no answer within {settings.time_limit:g} s{tried}"
        return TimeoutError(errno.ETIMEDOUT, text, url)
    if status == 404 or (status is None and isinstance(error, FileNotFoundError) and attempts == 1):
        where = "there is no such file"
        if _protocol(url) == "memory":
            where += " in the memory of this process; a worker has its own"
        elif any(map(_names_no_bucket, chain)):
            bucket = url.partition("://")[2].partition("/")[0]
            where = f"there is no bucket {bucket!r}"
        return FileNotFoundError(errno.ENOENT, where, url)
    reason = f"the server answered with HTTP status {status}" if status else _described(chain[0])
    if status in (401, 403) or isinstance(error, PermissionError) or type(chain[0]).__name__ in _HOPELESS[:2]:
        return PermissionError(errno.EACCES, f"access is denied: {reason}{tried}", url)
    return OSError(errno.EIO, reason + tried, url)


def _described(error: BaseException) -> str:
    text = " ".join(str(getattr(error, "strerror", None) or error).split())
    return text if isinstance(error, WrongLength) else f"{type(error).__name__}: {text}"


def read(url: str) -> bytes:
    is_local = _local_path(url) is not None
    cached = disk_cache() is not None and not is_local
    limited = is_local or options().max_file_bytes is not None
    info = _info(url) if cached or limited else {}  # the request is skipped if nothing needs the information
    if limited:
        check_size(url, info.get("size") or 0)
    version = _version(url, info) if cached else None
    return _kept(url, version, "all", lambda: _request(url, "cat_file"))[0]


class RemoteFile:
    """Reads parts of a remote file.

    Parts come from the disk cache if it has them for the file's last known version: the version at opening,
    or a newer version that a later request found.

    Attributes:
        url: URL of the file.
        size: size of the file when it was opened, bytes.
        version: the last known version; None if parts of the file are not cached.
    """

    def __init__(self, url: str):
        self.url = url
        info = _info(url)
        if info.get("type") == "directory":
            raise IsADirectoryError(errno.EISDIR, "it is a folder", url)
        if info.get("size") is None:
            raise OSError(errno.EIO, "the server does not tell the size of the file", url)
        self.size = int(info["size"])
        self.version = None if _local_path(url) is not None else _version(url, info)

    def read(self, offset: int, size: int) -> bytes:
        part = f"{offset}+{size}"
        version = self.version
        data, now = _kept(self.url, version, part, lambda: read_range(self.url, offset, size))
        if now != version:
            self.version = now
        return data


def _kept(url: str, version: str | None, part: str, fetch: Callable[[], bytes]) -> tuple[bytes, str | None]:
    """Returns a part of a file, from the cache if possible, and the file's version.

    `version` is the last known version; None: the file's parts are not cached.
    """
    cache = None if version is None else disk_cache()
    if cache is None:
        return fetch(), version
    key = f"{part} {version}"
    data = cache.get(key)
    if data is None:
        data = fetch()
        with contextlib.suppress(OSError):  # the part is complete, even if the request for its version fails
            now = _version(url, _info(url))
            if now == version:  # if the versions differ, the data may be of either version
                cache.put(key, data)
            return data, now
    return data, version


def read_range(url: str, offset: int, size: int) -> bytes:
    """Reads exactly `size` bytes from `offset` on."""
    if not size:
        return b""

    def check(data: bytes, _: str) -> bytes:
        if len(data) < size:
            raise WrongLength(f"{len(data)} bytes came instead of the {size} from byte {offset} on")
        if len(data) > size:
            raise NoParts(
                f"{len(data)} bytes came instead of the {size} from byte {offset} on: the server does not give "
                "parts of files; use one that does, or copy the file"
            )
        return data

    data: bytes = _request(url, "cat_file", {"start": offset, "end": offset + size}, check=check)
    return data


def _info(url: str) -> dict[str, Any]:
    info: dict[str, Any] = _request(url, "info", fresh=True)
    return info


def version(url: str) -> str | None:
    """Returns a value that changes with the file's content; None if the storage has no such value."""
    return _version(url, _info(url))


def _version(url: str, info: Mapping[str, Any]) -> str | None:
    facts = [f"{name}={info[name]}" for name in _VERSIONS if info.get(name) is not None]
    return f"{info.get('size')} {' '.join(facts)} {url}" if facts else None


def is_folder(url: str) -> bool:
    """Returns True if a folder exists. A URL of an HTTP server is a folder if it ends with "/"."""
    if _protocol(url) in _HTTP:
        return url.endswith("/")
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
    """Lists a folder as pairs (name, is folder)."""
    is_page = _protocol(url) in _HTTP  # a web page, whose links may lead to other sites
    url = url.rstrip("/") + "/" if is_page else url
    listed, path = _request(url, "ls", {"detail": True}, check=lambda *answer: answer, fresh=True)
    own = path.rstrip("/")
    found = [(str(entry["name"]).rstrip("/"), entry["type"] == "directory") for entry in listed]
    return [
        (name.rpartition("/")[2], is_dir)
        for name, is_dir in found
        if name != own
        and name.rpartition("/")[2] not in ("", ".", "..")
        and (not is_page or name.startswith(own + "/"))
    ]
