"""Locks of the package: where they are made, and which are taken while others are held."""

from __future__ import annotations

import ast
import functools
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import jdali

PACKAGE = Path(jdali.__file__).parent
_KINDS = {"Lock", "RLock", "Condition", "Changes"}  # `Changes` is a condition of the engine
SIGNALS = {"_threads/worker_threads.py _AwaitedCalls._over"}
"""Locks that one thread acquires and another one releases: they guard nothing."""
_FRAMES = 5  # from the factory, over a condition that makes a lock, to the line of the package

Place = tuple[str, int, int]
"""File, line and column of the call that makes a lock."""


def _makes_lock(node: ast.AST) -> bool:
    if (
        not isinstance(node, ast.Call) or node.args
    ):  # a condition with an argument uses the lock of another one
        return False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr in _KINDS and ast.unparse(node.func.value) == "threading"
    return isinstance(node.func, ast.Name) and node.func.id in _KINDS


def _assigned(tree: ast.AST, owner: str = "") -> Iterator[tuple[ast.expr, ast.expr, str]]:
    """Targets of assignments with their values, and the class that they are in."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from ((t, v, owner) for t, v in zip(target.elts, node.value.elts, strict=False))
            else:
                yield target, node.value, owner
        yield from _assigned(node, node.name if isinstance(node, ast.ClassDef) else owner)


@functools.cache
def locks_made() -> dict[Place, str]:
    """Names of all locks of the package, `Class.attribute` or `name`, with their modules: `x.py Class.attribute`."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text()
        if not any(kind in text for kind in _KINDS):
            continue
        for target, value, owner in _assigned(ast.parse(text)):
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                name = f"{owner}.{target.attr}"
            elif isinstance(target, ast.Name):
                name = target.id
            else:
                continue  # anew, in a forked process
            module = file.relative_to(PACKAGE).as_posix()
            for node in filter(_makes_lock, ast.walk(value)):
                assert isinstance(node, ast.Call)
                found[str(file), node.lineno, node.col_offset] = f"{module} {name}"
    return found


def _place(frame: FrameType) -> Place:
    line, _, column, _ = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    return frame.f_code.co_filename, line or 0, column or 0


class TrackedLock:
    """A lock that notes which others its thread holds when it waits for this one.

    Args:
        name: of the lock.
        lock: does the work.
        tracker: takes the notes.
    """

    def __init__(self, name: str, lock: Any, tracker: LockTracker):
        self.name, self._lock, self._tracker = name, lock, tracker

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if blocking:
            self._tracker.note(self)
        taken = self._lock.acquire(blocking, timeout)
        if taken:
            self._tracker.held().append(self)
        return taken

    def release(self) -> None:
        self._lock.release()
        held = self._tracker.held()
        if self in held:
            held.remove(self)

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *exception: object) -> None:
        self.release()

    def locked(self) -> bool:
        return self._lock.locked()


class TrackedRLock(TrackedLock):
    """A reentrant lock, with what `threading.Condition` asks of one."""

    def _is_owned(self) -> bool:
        return self._lock._is_owned()

    def _release_save(self) -> Any:
        held = self._tracker.held()
        held[:] = [other for other in held if other is not self]
        return self._lock._release_save()

    def _acquire_restore(self, state: Any) -> None:
        self._tracker.note(self)
        self._lock._acquire_restore(state)
        self._tracker.held().append(self)


class LockTracker:
    """Replaces the locks that the package makes by tracked ones.

    Args:
        monkeypatch: ends it.

    Attributes:
        edges: pairs of names: the first lock was held while the second one was waited for.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.edges: set[tuple[str, str]] = set()
        self._threads = threading.local()
        self._names = {place: name for place, name in locks_made().items() if name not in SIGNALS}
        for kind, tracked in (("Lock", TrackedLock), ("RLock", TrackedRLock)):
            monkeypatch.setattr(threading, kind, self._factory(getattr(threading, kind), tracked))

    def _factory(self, real: Any, tracked: type[TrackedLock]) -> Any:
        def make() -> Any:
            frame: FrameType | None = sys._getframe(1)
            for _ in range(_FRAMES):
                if frame is None:
                    break
                if (name := self._names.get(_place(frame))) is not None:
                    return tracked(name, real(), self)
                frame = frame.f_back
            return real()

        return make

    def held(self) -> list[TrackedLock]:
        """The locks that this thread holds."""
        if not hasattr(self._threads, "held"):
            self._threads.held = []
        return self._threads.held

    def note(self, lock: TrackedLock) -> None:
        """Notes that this thread waits for a lock."""
        if lock not in self.held():
            self.edges |= {(other.name, lock.name) for other in self.held()}
