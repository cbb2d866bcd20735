"""Limits the sizes that data may claim; all readers and decoders check them.

A header may claim any size. Claims are checked against these limits before memory or time is spent.
`jdali.storage.configure` sets the limits.
"""

from __future__ import annotations

import dataclasses
import functools
import numbers
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jdali._errors import SampleError

# Files with a container's memory limit, for control groups of version 2 and 1.
_GROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
# Approximate memory of an entry of a list (its object and its strings), bytes.
_ITEM_BYTES = 256


def check_option(name: str, value: Any, least: int, *, integer: bool = True) -> None:
    """Raises ValueError unless an option is a number of at least `least`; with `integer`, it must be an integer."""
    is_kind = isinstance(value, numbers.Integral if integer else numbers.Real)
    if not (is_kind and value >= least):
        what = ", and an integer" if integer and not is_kind else ""
        raise ValueError(f"storage: {name} is {value!r}, it must be at least {least}{what}")


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits on the sizes of data. A sample that exceeds a limit is bad, and no memory is allocated for it.

    Attributes:
        max_file_bytes: bytes that are read at once: a whole local or remote file, or one record or window of a file.
            None: the memory of the machine (or the container) is the limit, but whole remote files have no limit. If a
            limit is set, the size of a remote file is requested before the file is read as a whole.
        max_sample_bytes: bytes of a decoded sample (an image, audio, a sequence of frames, an array), before and
            after resampling; also the memory that decoding takes. None: half of the machine's memory.
        max_pixels: pixels of an image, a frame or a mask.
        max_channels: channels of an image or audio.
        max_sound_values: values (samples times channels) of audio, before and after resampling.
        max_values_per_byte: values of audio, before and after resampling, per byte of the file; and bytes of a FITS image
            per byte of its compressed data. Small samples may exceed this limit.
        max_jpeg_scans: scans of a progressive JPEG; each may cover all pixels.
        max_frames: frames of a video.
        max_items: entries of a list, a manifest, an index or a file of annotations. None: one per 256 bytes of
            memory.
    """

    max_file_bytes: int | None = None
    max_sample_bytes: int | None = None
    max_pixels: int = 500_000_000
    max_channels: int = 1024
    max_sound_values: int = 1 << 30
    max_values_per_byte: int = 1 << 14
    max_jpeg_scans: int = 100
    max_frames: int = 1 << 24
    max_items: int | None = None

    def __post_init__(self) -> None:
        for field in dataclasses.fields(Limits):
            value = getattr(self, field.name)
            if not (value is None and field.default is None):
                check_option(field.name, value, 1)


_UNITS = {
    "max_file_bytes": "bytes",
    "max_sample_bytes": "bytes",
    "max_pixels": "pixels",
    "max_channels": "channels",
    "max_sound_values": "values",
    "max_values_per_byte": "values for each byte of the file",
    "max_jpeg_scans": "scans",
    "max_frames": "frames",
    "max_items": "entries",
}
# A limit of None is the machine's memory divided by this number.
_SHARES = {"max_file_bytes": 1, "max_sample_bytes": 2, "max_items": _ITEM_BYTES}

_current = Limits()


def current() -> Limits:
    """Returns the current limits: the options of `jdali.storage` if it is loaded, otherwise the defaults."""
    return _current


def use(limits: Limits) -> None:
    global _current
    _current = limits


def most(name: str) -> int:
    """Returns a limit. If it is None, computes it from the machine's memory."""
    value = getattr(_current, name)
    return int(memory_limit() // _SHARES[name] if value is None else value)


def check(name: str, asked: int, what: str) -> None:
    """Raises `SampleError` if the size `asked` exceeds a limit. `what` is the name of the object for the message."""
    if asked > most(name):
        raise exceeded(name, what)


def exceeded(name: str, what: str) -> SampleError:
    return SampleError(f"{what} is larger than the limit of {words(name)}")


def words(name: str) -> str:
    """Formats a limit with its unit and the option that sets it."""
    return f"{most(name)} {_UNITS[name]} ({name} of jdali.storage.configure)"


def older_names(module: str, names: Mapping[str, str]) -> None:
    """Makes limits readable and settable as attributes of a module, for programs written before `Limits` existed.

    Args:
        names: {attribute: name of its limit}.
    """
    own = sys.modules[module]

    def setting(limit: str) -> property:
        return property(
            lambda _: most(limit), lambda _, value: use(dataclasses.replace(_current, **{limit: value}))
        )

    members: dict[str, Any] = {attribute: setting(limit) for attribute, limit in names.items()}
    own.__class__ = type(own.__class__.__name__, (own.__class__,), members)


@functools.cache
def memory_limit() -> int:
    """Returns the memory of this machine, or the memory limit of the container, in bytes."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for path in map(Path, _GROUP_LIMITS):
        try:
            limits.append(int(path.read_text()))
        except (OSError, ValueError):
            continue  # the file is missing or contains "max", so it sets no limit
    return min(limits)
