"""Options for reading files, above all in remote storage (s3://, gcs://, https://, ...): limits, retries,
read-ahead, the cache on disk.

Wherever a reader takes a path it takes a URL that fsspec knows. Credentials, endpoints and whatever else
a kind of storage needs are set where fsspec looks for them: its configuration files, `fsspec.config.conf`,
and the environment variables of the service. What jdali itself does with requests is set here::

    jdali.storage.configure(retries=8, time_limit=30)

What data may ask for at most (pixels, frames, entries of a list, bytes) is set here as well::

    jdali.storage.configure(max_pixels=50_000_000)
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any, cast

from jdali._system import limits

__all__ = ["Options", "configure", "options"]


@dataclasses.dataclass(frozen=True)
class Options(limits.Limits):
    """Options for reading files, and the attributes of `Limits`: what data may ask for at most. Those on
    requests concern remote files.

    Attributes:
        retries: how often a request is made again that failed for a reason that may pass: no connection,
            a connection that broke, no answer in time, too few bytes, a server in trouble (HTTP 408, 425,
            429, 5xx). What is missing or forbidden is not asked for again.
        first_wait: seconds before the first retry; each further wait is twice as long.
        longest_wait: seconds, the most that is waited before a retry.
        time_limit: seconds in which a request must be answered in full.
        requests: how many a reader makes at once, at most.
        samples_ahead: of a reader of single files, or of records here and there: how many samples are fetched before
            they are asked for, at most; None: a batch and `prefetch_queue_depth` more, at least `requests`.
        bytes_ahead: how many bytes a reader keeps that were fetched before they are asked for, at most, but
            for what is under way already. Where records are mixed (`random_shuffle` with `initial_fill`), it keeps
            up to as many again, of what the next records may come from; if these lie further apart, they are
            fetched one by one.
        allow_protocols: of the URLs that names in data may be, such as ("s3",): in lists, manifests, annotations, and
            paths for `io.file.read`. Of a chained URL all must be among them ("file" for a path in it). Other URLs are
            errors, unless they lie below the URL of the folder that such names are relative to.
        allow_outside: whether names in annotations, and in lists that are remote, may be absolute paths or hold
            "..". Names in local lists and manifests may anyway.
        block_size: bytes of a request, where records are read one after another.
        cache_bytes: bytes of the local disk that all processes of a user may take on a machine to keep remote data for the
            next epoch, or run; 0: nothing is kept. Parts that were used least recently go first.
        cache_folder: where they are kept, in `remote` in it; None: `$JDALI_CACHE_DIR`, else `jdali` in the user's cache
            folder.
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
        lowest = {
            "retries": 0,
            "first_wait": 0,
            "longest_wait": 0,
            "requests": 1,
            "bytes_ahead": 0,
            "cache_bytes": 0,
        }
        for name, least in (*lowest.items(), ("block_size", 1 << 12)):
            if getattr(self, name) < least:
                raise ValueError(f"storage: {name} is {getattr(self, name)}, it must be at least {least}")
        if isinstance(self.allow_protocols, str) or any("/" in name for name in self.allow_protocols):
            raise ValueError(
                f"storage: allow_protocols is {self.allow_protocols!r}, it must be a list of names such as ['s3']"
            )
        if not self.time_limit > 0:
            raise ValueError(f"storage: time_limit is {self.time_limit}, it must be above 0 seconds")
        if self.samples_ahead is not None and self.samples_ahead < 1:
            raise ValueError(f"storage: samples_ahead is {self.samples_ahead}, it must be at least 1")


limits.use(Options(**dataclasses.asdict(limits.current())))


def configure(**changes: Any) -> Options:
    """Changes options, for all readers and decoders from now on; gives those that held before.

    Args:
        changes: attributes of `Options`.

    >>> before = configure(retries=2)
    >>> options().retries
    2
    >>> _ = configure(**dataclasses.asdict(before))
    """
    before = options()
    limits.use(dataclasses.replace(before, **changes))
    return before


def options() -> Options:
    """Returns the options in force."""
    return cast("Options", limits.current())
