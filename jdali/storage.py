"""Configures how files are read: limits on data, and retries, read-ahead and a disk cache for remote storage.

Every path of a reader may be a URL that fsspec supports (s3://, gcs://, https://, ...). Set credentials, endpoints and other
options of a storage service where fsspec looks for them: its configuration files, `fsspec.config.conf`, and the environment
variables of the service. Workers get `fsspec.config.conf` as it is when the pipeline is built. Set jdali's own handling of
requests here::

    jdali.storage.configure(retries=8, time_limit=30)

Set the limits on data (pixels, frames, entries of a list, bytes) here as well::

    jdali.storage.configure(max_pixels=50_000_000)
"""

from __future__ import annotations

import dataclasses
import difflib
import os
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from jdali._system import limits

__all__ = ["Options", "configure", "options"]


@dataclasses.dataclass(frozen=True)
class Options(limits.Limits):
    """Holds options for reading files, and limits on data (the attributes of `Limits`).

    The options about requests apply to remote files only.

    Attributes:
        retries: maximum retries of a request after a temporary error: no connection, a broken connection, a timeout, too few
            bytes, or a server error (HTTP 408, 425, 429, 5xx). Missing or forbidden files are not retried.
        first_wait: seconds before the first retry; each later wait is twice as long as the one before.
        longest_wait: maximum seconds before a retry.
        time_limit: seconds within which a request must be answered in full.
        requests: maximum concurrent requests of a reader.
        samples_ahead: maximum samples to fetch ahead if each sample is a file, or if records are read in random order.
            None means 1 + `prefetch_queue_depth` batches, but at least `requests` samples.
        bytes_ahead: maximum bytes that a reader fetches ahead and keeps, not counting running requests. A reader that
            mixes records (`random_shuffle` with `initial_fill`) also keeps the range of bytes that it mixes, if this
            range has at most `bytes_ahead` bytes. Otherwise it fetches the records one by one.
        allow_protocols: protocols, such as ("s3",), that URLs in data may have. Data are lists, manifests, annotations,
            and paths for `io.file.read`. A chained URL needs all of its protocols: "zip://a.png::/data/b.zip" needs
            "zip" and "file". Any other URL raises an error, unless it is below the folder to which the names are
            relative.
        allow_outside: whether names in annotations and in remote lists may contain "..", or be absolute paths if the
            folder to which they are relative is local. In local lists and manifests, these names are always allowed.
        block_size: bytes of a request when records are read in sequence.
        cache_bytes: maximum bytes of the disk cache, which keeps remote data for later epochs and runs; 0 disables it. All
            processes of a user on a machine share the cache. The least recently used parts are removed first.
        cache_folder: folder whose subfolder `remote` holds the cache. None means `$JDALI_CACHE_DIR` or, if this is not set,
            `jdali` in the user's cache folder.
    """

    retries: int = 5
    first_wait: float = 0.25
    longest_wait: float = 10.0
    time_limit: float = 60.0
    requests: int = 64
    samples_ahead: int | None = None
    bytes_ahead: int = 256 << 20
    block_size: int = 4 << 20
    allow_protocols: Sequence[str] = ()
    allow_outside: bool = False
    cache_bytes: int = 0
    cache_folder: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        lowest = {"retries": 0, "requests": 1, "bytes_ahead": 0, "cache_bytes": 0, "block_size": 1 << 12}
        for name, least in lowest.items():
            limits.check_option(name, getattr(self, name), least)
        for name in ("first_wait", "longest_wait", "time_limit"):
            limits.check_option(name, getattr(self, name), 0, integer=False)
        if isinstance(self.allow_protocols, str) or any("/" in name for name in self.allow_protocols):
            raise ValueError(
                f"storage: allow_protocols is {self.allow_protocols!r}, it must be a list of names such as ['s3']"
            )
        if not self.time_limit:
            raise ValueError(f"storage: time_limit is {self.time_limit}, it must be above 0 seconds")
        if self.samples_ahead is not None:
            limits.check_option("samples_ahead", self.samples_ahead, 1)
        if not isinstance(self.allow_outside, (bool, np.bool_)):
            raise ValueError(f"storage: allow_outside is {self.allow_outside!r}, it must be True or False")
        if not isinstance(self.cache_folder, (str, os.PathLike, type(None))):
            raise ValueError(f"storage: cache_folder is {self.cache_folder!r}, it must be a path or None")


limits.use(Options(**dataclasses.asdict(limits.current())))


def configure(**changes: Any) -> Options:
    """Changes options for all readers and decoders from now on; returns the previous options.

    Args:
        changes: attributes of `Options`.

    Raises:
        ValueError: an option has a wrong value.
        TypeError: there is no such option.

    >>> before = configure(retries=2)
    >>> options().retries
    2
    >>> _ = configure(**dataclasses.asdict(before))
    """
    names = [field.name for field in dataclasses.fields(Options)]
    for name in changes.keys() - names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise TypeError(f"storage.configure: there is no option {name}{hint}")
    before = options()
    limits.use(dataclasses.replace(before, **changes))
    return before


def options() -> Options:
    """Returns the current options."""
    return cast("Options", limits.current())
