"""Counts of what was drawn against the distribution that it has to have."""

from __future__ import annotations

import collections
from collections.abc import Hashable, Iterable, Mapping

import scipy.stats

# Chance alone exceeds the bound in one of a million tests; under a fixed seed a count never changes.
CHANCE = 1e-6
FEWEST = 5.0  # counts in a cell, below which the distribution of the statistic is another one


def check_frequencies(found: Iterable[Hashable], expected: Mapping[Hashable, float]) -> None:
    """Raises unless values come up as often as their probabilities say, by the chi-square test.

    Args:
        found: what was drawn.
        expected: the probability of every value, which add up to 1.
    """
    counts = collections.Counter(found)
    total = counts.total()
    assert abs(sum(expected.values()) - 1) < 1e-9
    impossible = {value for value in counts if not expected.get(value)}
    assert not impossible, impossible
    pairs = [(counts[value], total * share) for value, share in expected.items() if share]
    rare = [pair for pair in pairs if pair[1] < FEWEST]
    cells = [pair for pair in pairs if pair[1] >= FEWEST]
    if rare:
        together = (sum(count for count, _ in rare), sum(share for _, share in rare))
        if together[1] >= FEWEST:
            cells.append(together)
    statistic = sum((count - share) ** 2 / share for count, share in cells)
    bound = scipy.stats.chi2.isf(CHANCE, max(1, len(cells) - 1))
    assert statistic <= bound, (
        statistic,
        bound,
        sorted(cells, key=lambda c: -abs(c[0] - c[1]) / c[1] ** 0.5)[:5],
    )
