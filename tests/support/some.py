"""Some cases for the normal run of a test; `make exhaustive` runs them all."""

from __future__ import annotations

import itertools
import os
import random
import re
import zlib
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

Covers = Callable[[Any], Iterable[Hashable]]
DRAW = os.environ.get("JDALI_TESTS_DRAW", "")
# Parameters that say what a test is about: each of their values runs.
SUBJECTS = ("function", "name", "op", "operator")


def pairs(case: Iterable[Hashable]) -> Iterator[Hashable]:
    """What a case covers where each two of its values belong together."""
    return itertools.combinations(case, 2)


def kept(cases: Iterable[Any], covers: Covers = tuple, seed: int = 0) -> list[Any]:
    """Goes through the cases in an order drawn by the seed, and keeps each that covers something new."""
    every = list(cases)
    numbers, seen = set[int](), set[Hashable]()
    for number in random.Random(seed).sample(range(len(every)), len(every)):
        new = set(enumerate(covers(every[number]))) - seen
        if new:
            numbers.add(number)
            seen |= new
    return [every[number] for number in sorted(numbers)]


def some(
    names: str, cases: Iterable[Any], covers: Covers = tuple, seed: int = 0, **options: Any
) -> pytest.MarkDecorator:
    """As `pytest.mark.parametrize`; cases that `kept` leaves out are `exhaustive`.

    Args:
        names: of the parameters.
        cases: a value each, or a tuple of values.
        covers: what a case covers, by default each of its values.
        seed: of the order.
        options: of `parametrize`.
    """
    every = list(cases)
    chosen = [id(case) for case in kept(every, covers, seed)]
    return pytest.mark.parametrize(
        names,
        [
            pytest.param(
                *(case if "," in names else (case,)),
                marks=() if id(case) in chosen else pytest.mark.exhaustive,
            )
            for case in every
        ],
        **options,
    )


def drawn(cases: Iterable[Any], count: int, name: Callable[[Any], str] = str) -> list[Any]:
    """Takes so many of the cases, by a number that follows from a case's name; all of them for `make exhaustive`.

    The draw is the same on each machine and day. `JDALI_TESTS_DRAW=1`, 2, ... gives others.
    """
    every = list(cases)
    if DRAW == "all":
        return every
    return sorted(every, key=lambda case: zlib.crc32(f"{name(case)}{DRAW}".encode()))[:count]


def times(normal: int, whole: int) -> int:
    """Returns how often a random trial is made: `normal` times, or `whole` times for `make exhaustive`."""
    return whole if DRAW == "all" else normal


def one_of_each(cases: Iterable[Any]) -> list[Any]:
    """Takes a case of each operator (`case.op`), which is drawn; all of them for `make exhaustive`."""
    operators: dict[str, list[Any]] = {}
    for case in cases:
        operators.setdefault(case.op, []).append(case)
    return [case for alike in operators.values() for case in drawn(alike, 1)]


def left_out(items: Iterable[pytest.Item], folders: Collection[Path]) -> Iterator[pytest.Item]:
    """Yields cases of parametrized tests that a normal run leaves out.

    Of a test marked `cases(n)` it runs n cases, which are `drawn`; of other tests in the folders one for each of its
    `SUBJECTS`. Where a call is refused all cases run, for nothing is compiled.
    """
    tests: dict[Hashable, list[pytest.Item]] = {}
    counts: dict[Hashable, int] = {}
    for item in items:
        params = getattr(getattr(item, "callspec", None), "params", {})
        name = item.nodeid.split("[")[0]
        mark = item.get_closest_marker("cases")
        if not params or item.get_closest_marker("exhaustive"):
            continue
        if mark is not None:
            tests.setdefault(name, []).append(item)
            counts[name] = mark.args[0]
        elif item.path.parent in folders and not re.search("refuse|error|wrong|said|limit", name):
            tests.setdefault((name, *(str(params.get(subject)) for subject in SUBJECTS)), []).append(item)
    for name, cases in tests.items():
        runs = drawn(cases, counts.get(name, 1), lambda case: case.name)
        yield from (case for case in cases if case not in runs)
