"""Processes that a signal has stopped: they neither answer nor end by themselves."""

from __future__ import annotations

from pathlib import Path

# A worker that is waited for and was found stopped at each look for so long is given up. Looks are counted, and not the
# time, which goes on while this process is stopped as well.
STOPPED_SECONDS = 60.0


def is_stopped(pid: int) -> bool:
    """True if a process was stopped by a signal; False where the system does not show it."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] == ["T"]
