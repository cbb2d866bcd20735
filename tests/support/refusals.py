"""Calls that the real DALI refuses, made in a process of their own.

DALI checks little before its native code runs. On wrong input that code may write where it must not, and what it spoils is
found much later, by somebody else. So a test that wants DALI to refuse a call never makes it in its own process.

    python -m support.refusals DESCRIPTOR

is that process: it makes the calls that it receives, one after the other.
"""

from __future__ import annotations

import atexit
import builtins
import importlib
import os
import pickle
import re
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from support import oracle

SUPPORT = Path(__file__).parent
TESTS = SUPPORT.parent
LIMIT = 120.0
"""Seconds that DALI may take for a call: many more than it needs on a busy machine, fewer than a test may take."""

Kinds = type[BaseException] | tuple[type[BaseException], ...]


@dataclass(frozen=True)
class Refusal:
    """An exception of the other process."""

    kind: type[BaseException]
    """Its type, or the builtin type that this is derived from."""
    text: str


@dataclass(frozen=True)
class Answer:
    """Outcome of a call in the other process."""

    refusal: Refusal | None
    """None: the call returned."""
    warned: tuple[str, ...]
    """Messages of its warnings."""


class OracleDiedError(Exception):
    """DALI ended its process, or did not return."""


class _Process:
    """The process with DALI."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "support.refusals", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=_environment(),
                stdin=subprocess.DEVNULL,
            )
        self._connection = Connection(ours.detach())

    def ask(self, call: bytes) -> Answer:
        try:
            self._connection.send_bytes(call)
            if not self._connection.poll(LIMIT):
                raise OracleDiedError(f"DALI has not returned for {LIMIT} s")
            answer = pickle.loads(self._connection.recv_bytes())
        except (EOFError, OSError) as error:
            raise OracleDiedError(f"DALI ended its process with {self._process.wait()}") from error
        assert isinstance(answer, Answer)
        return answer

    def end(self) -> None:
        self._connection.close()
        self._process.kill()
        self._process.wait()


def _environment() -> dict[str, str]:
    return dict(os.environ) | {"PYTHONPATH": os.pathsep.join(p or "." for p in sys.path)}


_running: list[_Process] = []


@atexit.register
def _end() -> None:
    while _running:
        _running.pop().end()


def answer(call: Callable[..., Any], *arguments: Any) -> Answer:
    """Makes a call in the process with DALI and says what became of it.

    Args:
        call: a function; its module is not imported by the other process, which gets what the function uses.
        arguments: its arguments.

    Raises:
        OracleDiedError: the process was ended by the call, also when a fresh process made it.
    """
    oracle.dali()
    sent = _by_value(call, arguments)
    for attempt in range(2):
        if not _running:
            _running.append(_Process())
        try:
            return _running[0].ask(sent)
        except OracleDiedError:
            _running.pop().end()
            if attempt:  # in a fresh process: it is this call, not one before it
                raise
    raise AssertionError


def of(call: Callable[..., Any], *arguments: Any) -> Refusal:
    """Says what a call raises in the process with DALI, which has to refuse it."""
    found = answer(call, *arguments).refusal
    assert found is not None, "DALI takes this"
    return found


def check_both(kinds: Kinds, words: str, call: Callable[[ModuleType], Any]) -> None:
    """Makes a call with jdali here and with DALI elsewhere; both have to raise one of `kinds` that matches `words`."""
    with pytest.raises(kinds, match=words or None):
        call(importlib.import_module("jdali"))
    check(kinds, words, call, oracle.dali())


def check(kinds: Kinds, words: str, call: Callable[..., Any], *arguments: Any) -> None:
    """DALI has to refuse a call by one of `kinds` that matches the pattern `words`."""
    found = of(call, *arguments)
    assert issubclass(found.kind, kinds), found
    assert re.search(words, found.text), found


def _by_value(call: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes:
    """Pickles a call, with the code of tests' modules: pytest gives them names that no other process can import."""
    import cloudpickle

    names = {getattr(one, "__module__", "") for one in (call, *arguments)}
    modules = [m for n in names if (m := sys.modules.get(n)) is not None and _is_of_tests(m)]
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        data = cloudpickle.dumps((call, arguments))
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)
    assert isinstance(data, bytes)
    return data


def _is_of_tests(module: ModuleType) -> bool:
    path = Path(getattr(module, "__file__", None) or "/")
    return TESTS in path.parents and SUPPORT not in path.parents


def _described(error: BaseException) -> Refusal:
    known = next(k for k in type(error).__mro__ if getattr(builtins, k.__name__, None) is k)
    # In dynamic mode, what is wrong is said by the cause of "An error happened during asynchronous execution".
    return Refusal(known, "\n".join(str(one) for one in (error.__cause__, error) if one is not None))


def _serve(descriptor: int) -> None:
    for part in ("fn", "types", "math", "ops", "tensors", "experimental.dynamic", "plugin.base_iterator"):
        importlib.import_module(f"nvidia.dali.{part}")
    with Connection(descriptor) as connection:
        while True:
            try:
                sent = connection.recv_bytes()
            except EOFError:
                return
            refusal = None
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                call, arguments = pickle.loads(sent)
                try:
                    call(*arguments)
                except Exception as error:
                    refusal = _described(error)
            connection.send_bytes(pickle.dumps(Answer(refusal, tuple(str(w.message) for w in caught))))


if __name__ == "__main__":
    from support import refusals  # so that answers are of the class that who asks knows

    refusals._serve(int(sys.argv[1]))
