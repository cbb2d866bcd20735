"""The table of limits on what data may ask for, which all readers and decoders ask.

A header may claim anything. Its claims are checked against these limits before they cost memory or time;
`jdali.storage.configure` sets them.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jdali._errors import SampleError

# The limit of a container, of the second and of the first version of control groups.
_GROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
# Memory of an entry of a list: its object and its strings, more or less.
_ITEM_BYTES = 256


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits on what data may ask for; a sample that asks for more is bad, and nothing is allocated for it.

    Attributes:
        max_file_bytes: bytes of a file that is read as a whole, and of a record or window of one, local or remote.
            None: what the machine (or the container) has as memory, of remote files anything; with a limit, their
            sizes are asked for first.
        max_sample_bytes: bytes of a decoded sample (a picture, a sound, a sequence of frames, an array), also of what
            it is resampled or inflated to, or takes while it is decoded. None: half of the memory.
        max_pixels: pixels of a picture, a frame or a mask.
        max_channels: channels of a picture or a sound.
        max_sound_values: values (samples times channels) of a sound, also of a resampled one.
        max_values_per_byte: values of a sound for each byte of its file, also of a resampled one, and bytes of a
            compressed FITS image for each byte of its data; small ones are always taken.
        max_jpeg_scans: scans of a JPEG picture of several: each may go over all of its pixels.
        max_frames: frames of a video.
        max_items: entries of a list, a manifest, an index or a file of annotations. None: one for each 256 bytes of
            the memory.
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
            if not (value is None and field.default is None) and value < 1:
                raise ValueError(f"storage: {field.name} is {value}, it must be at least 1")


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
# Bytes of memory for one item, for limits that are None in the table.
_SHARES = {"max_file_bytes": 1, "max_sample_bytes": 2, "max_items": _ITEM_BYTES}

_current = Limits()


def current() -> Limits:
    """Returns the limits in force; the options of `jdali.storage` where that is loaded."""
    return _current


def use(limits: Limits) -> None:
    """Makes limits hold from now on."""
    global _current
    _current = limits


def most(name: str) -> int:
    """Returns the limit of a name; of one that is not set, what follows from the memory."""
    value = getattr(_current, name)
    return int(memory_limit() // _SHARES[name] if value is None else value)


def check(name: str, asked: int, what: str) -> None:
    """Raises `SampleError` if more is asked for than the limit of a name.

    Args:
        name: of the limit.
        asked: how much.
        what: asks for it, a noun.
    """
    if asked > most(name):
        raise exceeded(name, what)


def exceeded(name: str, what: str) -> SampleError:
    """Makes the error for `what`, a noun, that is larger than the limit of a name."""
    return SampleError(f"{what} is larger than the limit of {words(name)}")


def words(name: str) -> str:
    """Writes a limit with its unit, and how to set it."""
    return f"{most(name)} {_UNITS[name]} ({name} of jdali.storage.configure)"


def older_names(module: str, names: Mapping[str, str]) -> None:
    """Keeps settings that modules had before there was one table: reading and setting them does so with the limit.

    Args:
        module: the name of one that is being imported.
        names: of attributes, with the limit that each is.
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
    """Returns the bytes of memory that this machine has, or that the container lets its processes take."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for path in map(Path, _GROUP_LIMITS):
        try:
            limits.append(int(path.read_text()))
        except (OSError, ValueError):
            continue  # no limit: no file, or "max" in it
    return min(limits)
