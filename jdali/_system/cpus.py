"""Counts the processors that this process may use."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

# Linux: the folder of control groups, and the file that names those of this process.
_GROUPS = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")


def cpu_count() -> int:
    """Counts the processors that this process may keep busy: by its affinity, and by the quotas of its control groups.

    A container may have the time of 2 processors of 64, and `os.cpu_count()` says 64.
    """
    return max(1, math.ceil(min(_affinity(), *_quotas())))


def _affinity() -> int:
    count = getattr(os, "process_cpu_count", None)  # from Python 3.13 on
    if count is not None:
        return count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _quotas() -> Iterator[float]:
    """Yields the processors that the control groups of this process allow, as far as they limit them."""
    yield math.inf
    try:
        lines = _OWN.read_text().splitlines()
    except OSError:  # not on Linux
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, read = _GROUPS, _quota
        elif "cpu" in controllers.split(","):
            root, read = _GROUPS / controllers, _quota_v1
            if not root.is_dir():
                root = _GROUPS / "cpu"
        else:
            continue
        # A container sees its own group as the root, though its path may be told from outside.
        group = root / path.lstrip("/")
        for directory in (root, *(group, *group.parents)):
            if directory == root or root in directory.parents:
                yield read(directory)


def _quota(group: Path) -> float:
    """Parses version 2: `cpu.max` is "max 100000" or "150000 100000", microseconds in a period."""
    return _ratio(_words(group / "cpu.max"))


def _quota_v1(group: Path) -> float:
    """Parses version 1: the same in two files; -1 is no limit."""
    return _ratio(_words(group / "cpu.cfs_quota_us") + _words(group / "cpu.cfs_period_us"))


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


def _ratio(words: list[str]) -> float:
    if len(words) != 2 or words[0] in ("max", "-1"):
        return math.inf
    return float(words[0]) / float(words[1])
