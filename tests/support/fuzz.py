"""Damaged versions of good data, and the law that whatever reads them must keep.

A test makes a small good file and reads its mutations::

    def test_fuzz():
        assert refusals(read, GOOD, count=500) > 100

Whatever is wrong with the data, `read` may only return a value, or raise an error that says what is wrong.
The cases are the same in every run. Set `JDALI_FUZZ=20` to try twenty times as many.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from jdali import OperatorError

# What may be raised about bad data. `SampleError` is a ValueError.
REFUSALS = (ValueError, FileNotFoundError, OperatorError)

_SIZES = (1, 2, 4, 8)
_NUMBER = re.compile(rb"-?\d+")
_NUMBERS = (
    b"0", b"-1", b"1", b"7", b"65536", b"2147483647", b"4294967296", b"9223372036854775807", b"1" * 25,
    b"9" * 5000, b"1e999", b"NaN",
)  # fmt: skip
# Positions in the first bytes are tried as often as all others together: headers are there.
_HEAD = 256


class Mutation(bytes):
    """Damaged data; `how` says what was done to them."""

    how: str


def mutations(data: bytes, seed: int = 0, count: int = 300) -> Iterator[Mutation]:
    """`count` damaged versions of `data` (times the environment's JDALI_FUZZ).

    First those that are always worth a try, then random ones: flipped bits, cuts, insertions, swapped and
    repeated blocks, extreme values in what may be a length, extreme numbers in text.

    Args:
        data: good data, best of less than some 20 KB.
        seed: another one gives other cases.
        count: how many.
    """
    rng = np.random.default_rng([seed, len(data)])
    count *= int(os.environ.get("JDALI_FUZZ", "1"))
    fixed = [(b"", "empty"), (data[:1], "first byte"), (data[:-1], "last byte missing"),
             (bytes(len(data)), "all zeros"), (b"\xff" * len(data), "all ones"),
             (data + data, "twice"), (data + bytes(64), "zeros after it"),
             (rng.bytes(len(data)), "random")]  # fmt: skip
    for number in range(count):
        if number < len(fixed):
            result, how = fixed[number]
        else:
            bad, done = bytearray(data), []
            for _ in range(rng.choice([1, 1, 1, 2, 3])):
                change = _CHANGES[rng.integers(len(_CHANGES))]
                if len(bad):
                    done.append(f"{change.__name__[1:]} {change(bad, rng)}")
            result, how = bytes(bad), ", ".join(done)
        case = Mutation(result)
        case.how = f"case {number} of seed {seed}: {how}"
        yield case


def refusals(
    read: Callable[[bytes], Any], data: bytes, *, seed: int = 0, count: int = 300, **law: Any
) -> int:
    """Reads all mutations; in how many cases an error said that something is wrong; see `survives`.

    The good data must be readable.
    """
    assert survives(read, data, **law), "the good data cannot be read"
    return sum(not survives(read, case, **law) for case in mutations(data, seed, count))


def survives(
    read: Callable[[bytes], Any],
    data: bytes,
    *,
    says: str = "",
    seconds: float = 5,
    memory: int = 256 << 20,
) -> bool:
    """Whether `read(data)` gives a value; False if it refuses the data in a way that is allowed.

    Fails the test if it raises anything but `REFUSALS`, raises without saying why, takes longer than
    `seconds` of processor time or more than `memory`.

    Args:
        read: reads the data.
        data: perhaps damaged.
        says: expression that must be found in the message of an error, e.g. the name of the file.
        seconds: of processor time.
        memory: bytes of address space beyond what the process has when the call begins.
    """
    how = getattr(data, "how", "the good data")
    shown = f"{how}; {len(data)} bytes, {bytes(data[:200])!r}"
    try:
        with _limited(seconds, memory):
            read(data)
    except REFUSALS as error:
        refusal = error
    except _TookTooLong:
        raise AssertionError(f"more than {seconds} s of processor time for {shown}") from None
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}, for {shown}") from error
    else:
        return True
    text = str(refusal)
    assert len(text) > 8, f"an error without a reason, {refusal!r}, for {shown}"
    assert re.search(says, text, re.DOTALL), f"no {says!r} in {text!r}, for {shown}"
    return False


class _TookTooLong(BaseException):
    """No Exception, so that nobody takes it for an error about the data."""


@contextlib.contextmanager
def _limited(seconds: float, memory: int) -> Iterator[None]:
    """Ends what takes too long, and lets allocations beyond the limit fail, where the system can."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    import resource

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TookTooLong

    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = Path("/proc/self/statm")
    earlier = signal.signal(signal.SIGPROF, stop)
    try:
        if pages.exists():
            used = int(pages.read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + memory, hard))
        # Processor time, not time by the clock: a busy machine is no fault of the reader's.
        signal.setitimer(signal.ITIMER_PROF, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, earlier)
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))


def _offset(bad: bytearray, rng: np.random.Generator) -> int:
    return int(rng.integers(len(bad) if rng.random() < 0.5 else min(len(bad), _HEAD)))


def _span(bad: bytearray, rng: np.random.Generator) -> tuple[int, int]:
    """Start and end of a short piece, of some tens of bytes."""
    start = _offset(bad, rng)
    return start, min(len(bad), start + 1 + int(rng.exponential(24)))


def _bits(bad: bytearray, rng: np.random.Generator) -> list[int]:
    offsets = [_offset(bad, rng) for _ in range(rng.integers(1, 5))]
    for offset in offsets:
        bad[offset] ^= 1 << int(rng.integers(8))
    return offsets


def _byte(bad: bytearray, rng: np.random.Generator) -> tuple[int, int]:
    offset, value = _offset(bad, rng), int(rng.integers(256))
    bad[offset] = value
    return offset, value


def _cut(bad: bytearray, rng: np.random.Generator) -> int:
    offset = _offset(bad, rng)
    del bad[offset:]
    return offset


def _removal(bad: bytearray, rng: np.random.Generator) -> tuple[int, int]:
    start, end = _span(bad, rng)
    del bad[start:end]
    return start, end


def _insertion(bad: bytearray, rng: np.random.Generator) -> tuple[int, int]:
    offset, size = _offset(bad, rng), 1 + int(rng.exponential(16))
    bad[offset:offset] = rng.bytes(size) if rng.random() < 0.5 else bytes(size)
    return offset, size


def _repetition(bad: bytearray, rng: np.random.Generator) -> tuple[int, int]:
    start, end = _span(bad, rng)
    offset = _offset(bad, rng)
    bad[offset:offset] = bad[start:end] * int(rng.choice([1, 1, 40]))
    return start, offset


def _swap(bad: bytearray, rng: np.random.Generator) -> tuple[int, int]:
    """Two pieces of the same size are swapped."""
    size = 1 + int(rng.exponential(24))
    one, other = _offset(bad, rng), _offset(bad, rng)
    size = min(size, len(bad) - one, len(bad) - other)
    piece = bad[one : one + size]
    bad[one : one + size] = bad[other : other + size]
    bad[other : other + size] = piece
    return one, other


def _blank(bad: bytearray, rng: np.random.Generator) -> tuple[int, int]:
    start, end = _span(bad, rng)
    bad[start:end] = bytes([int(rng.choice([0, 0x20, 0xFF]))]) * (end - start)
    return start, end


def _length(bad: bytearray, rng: np.random.Generator) -> tuple[int, int, int]:
    """An integer of some size, in some byte order, is set to an extreme value."""
    size = min(int(rng.choice(_SIZES)), len(bad))
    offset = min(_offset(bad, rng), len(bad) - size)
    whole = 1 << 8 * size
    values = (0, 1, whole - 1, whole // 2, whole // 2 - 1, whole - 8, len(bad), len(bad) + 1)
    value = values[rng.integers(len(values))] % whole
    bad[offset : offset + size] = value.to_bytes(size, "little" if rng.random() < 0.6 else "big")
    return offset, size, value


def _number(bad: bytearray, rng: np.random.Generator) -> tuple[int, bytes]:
    """A number written in digits is replaced."""
    found = list(_NUMBER.finditer(bad))
    if not found:
        return -1, b""
    one = found[rng.integers(len(found))]
    new = _NUMBERS[rng.integers(len(_NUMBERS))]
    bad[one.start() : one.end()] = new
    return one.start(), new[:30]


_CHANGES: tuple[Callable[[bytearray, np.random.Generator], Any], ...] = (
    _bits, _bits, _byte, _cut, _removal, _insertion, _repetition, _swap, _blank, _length, _length, _number,
)  # fmt: skip
