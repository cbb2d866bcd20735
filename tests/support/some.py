"""Some cases for the normal run of a test; `make exhaustive` runs them all."""

from __future__ import annotations

import itertools
import random
import re
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

Covers = Callable[[Any], Iterable[Hashable]]


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


def repeated_types(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Yields cases of a parameter `dtype` that another type of its kind (unsigned, signed, real) stands for."""
    tests: dict[Hashable, list[Any]] = {}
    for item in items:
        if "dtype" in (params := getattr(getattr(item, "callspec", None), "params", {})):
            others = [str(value) for name, value in params.items() if name != "dtype"]
            tests.setdefault((item.path, item.originalname), []).append(
                (item, _kind(params["dtype"]), *others)
            )
    for cases in tests.values():
        runs = {case[0] for case in kept(cases, lambda case: case[1:])}
        yield from (case[0] for case in cases if case[0] not in runs)


def thinned(items: Iterable[pytest.Item], count: int = 2) -> Iterator[pytest.Item]:
    """Yields all but `count` cases of each parametrized test, by a number that follows from a case's name.

    Cases of what is refused stay: nothing is compiled for them.
    """
    tests: dict[Hashable, list[pytest.Item]] = {}
    for item in items:
        name, refuses = item.name.split("[")[0], re.search("refuse|error|wrong|said|limit", item.name)
        if hasattr(item, "callspec") and not refuses and not item.get_closest_marker("exhaustive"):
            tests.setdefault((item.path, name), []).append(item)
    for cases in tests.values():
        cases.sort(key=lambda case: zlib.crc32(case.name.encode()))
        yield from cases[count:]


def _kind(dtype: Any) -> Hashable:
    try:
        return np.dtype(dtype).kind
    except TypeError:  # a type of DALI's
        return str(dtype)
