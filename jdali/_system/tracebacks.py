"""Removes jdali's frames from tracebacks, so that the last line is in the user's code.

Warnings show the user's line, too. The environment variable JDALI_TRACEBACK=full keeps the frames.
"""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
import warnings
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep
# Folders of the libraries that jdali calls, and of the libraries that start its threads.
_STANDARD = sysconfig.get_path("stdlib") + os.sep
_LIBRARIES = (*{sysconfig.get_path(name) + os.sep for name in ("stdlib", "purelib", "platlib")}, "<frozen ")


def folding(function: F) -> F:
    """Decorates a public function: removes jdali's frames from the tracebacks of its errors."""

    @functools.wraps(function)
    def folded(*args: object, **kwargs: object) -> Any:
        try:
            return function(*args, **kwargs)
        except StopIteration:
            raise
        except Exception as error:
            fold(error)
            raise  # a bare `raise` adds no frame

    return cast(F, folded)


def fold(error: BaseException) -> None:
    """Removes frames of jdali, and of libraries it called, from the tracebacks of an error and its causes."""
    if os.environ.get("JDALI_TRACEBACK") == "full":
        return
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        found.__traceback__ = _folded(found.__traceback__)
        found = found.__cause__ or found.__context__


def _folded(trace: TracebackType | None) -> TracebackType | None:
    kept, below = [], False
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        own = path.startswith(_PACKAGE)
        below = below or own
        if not own and not (below and path.startswith(_LIBRARIES)):
            kept.append(trace)
        trace = trace.tb_next
    linked: TracebackType | None = None
    for one in reversed(kept):
        linked = TracebackType(linked, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return linked


def warn_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the innermost line of the user's code: the first outside of jdali and of Python's own library."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_passed_over(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def _is_passed_over(path: str) -> bool:
    # Installed packages, which may be the user's, can lie inside of the folder of Python's own library.
    return path.startswith((_PACKAGE, "<frozen ")) or (
        path.startswith(_STANDARD) and f"-packages{os.sep}" not in path
    )


def user_line() -> str:
    """Returns the "file:line" of the innermost frame outside of jdali."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((_PACKAGE, "<frozen")):
        frame = frame.f_back  # type: ignore[assignment]
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "unknown"
