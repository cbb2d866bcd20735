"""Processes that a signal has stopped: they neither answer nor end by themselves."""

from __future__ import annotations

import ctypes
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>

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


def end_with_starter() -> None:
    """Has the system end this process with the thread that started it, also while it is stopped or holds the GIL; on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
