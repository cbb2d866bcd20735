"""Counts the processors that this process may use."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

# The folder of control groups on Linux, and the list of this process's groups.
_GROUPS = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")


def cpu_count() -> int:
    """Counts the processors that this process may use, by its affinity and the quotas of its control groups.

    `os.cpu_count()` ignores both: it is 64 in a container with a quota of 2 processors on a machine with 64.
    """
    return max(1, math.ceil(min(_affinity(), *_quotas())))


def _affinity() -> int:
    count = getattr(os, "process_cpu_count", None)  # from Python 3.13 on
    if count is not None:
        return count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _quotas() -> Iterator[float]:
    """Yields the number of processors that each control group of this process allows; yields inf first."""
    yield math.inf
    try:
        lines = _OWN.read_text().splitlines()
    except OSError:  # not on Linux
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, files = _GROUPS, ["cpu.max"]
        elif "cpu" in controllers.split(","):
            root, files = _GROUPS / controllers, ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
            if not root.is_dir():
                root = _GROUPS / "cpu"
        else:
            continue
        # Read the root, too: in a container it may be the process's own group, while `path` is the path on the host.
        group = root / path.lstrip("/")
        for directory in (root, *(group, *group.parents)):
            if directory == root or root in directory.parents:
                # Quota and period, in microseconds: version 2 has both in one file, version 1 has two files.
                words = [word for name in files for word in _words(directory / name)]
                if len(words) == 2 and words[0] not in ("max", "-1"):
                    yield float(words[0]) / float(words[1])


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []
