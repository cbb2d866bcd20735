"""Some cases for the normal run of a test; `make exhaustive` runs them all."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

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
