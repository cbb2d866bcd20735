"""Options for reading files, above all in remote storage (s3://, gcs://, https://, ...): limits, retries,
read-ahead.

Wherever a reader takes a path it takes a URL that fsspec knows. Credentials, endpoints and whatever else
a kind of storage needs are set where fsspec looks for them: its configuration files, `fsspec.config.conf`,
and the environment variables of the service. What jdali itself does with requests is set here::

    jdali.storage.configure(retries=8, time_limit=30)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

__all__ = ["Options", "configure", "options"]


@dataclasses.dataclass(frozen=True)
class Options:
    """Options for reading files; those on requests concern remote files.

    Attributes:
        max_file_bytes: the largest file that is read as a whole, and the largest record or window of one, local or
            remote: a larger one is a bad sample, and nothing is allocated for it. None: what the machine (or the
            container) has as memory, of remote files anything; with a limit, their sizes are asked for first.
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
    """

    retries: int = 5
    first_wait: float = 0.25
    longest_wait: float = 10.0
    time_limit: float = 60.0
    requests: int = 64
    samples_ahead: int | None = None
    bytes_ahead: int = 256 << 20
    block_size: int = 4 << 20
    max_file_bytes: int | None = None
    allow_protocols: Sequence[str] = ()
    allow_outside: bool = False

    def __post_init__(self) -> None:
        lowest = {"retries": 0, "first_wait": 0, "longest_wait": 0, "requests": 1, "bytes_ahead": 0}
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
        if self.max_file_bytes is not None and self.max_file_bytes < 1:
            raise ValueError(f"storage: max_file_bytes is {self.max_file_bytes}, it must be at least 1")


_current = Options()


def configure(**changes: Any) -> Options:
    """Changes options, for all readers from now on; gives those that held before.

    Args:
        changes: attributes of `Options`.

    >>> before = configure(retries=2)
    >>> options().retries
    2
    >>> _ = configure(**dataclasses.asdict(before))
    """
    global _current
    before = _current
    _current = dataclasses.replace(before, **changes)
    return before


def options() -> Options:
    """Returns the options in force."""
    return _current
