"""Computes long sequences of sample indices on access, in constant memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

# Permutations of up to this size are tables. Tables are faster, and make all permutations equally likely.
TABLE_SIZE = 1 << 16
_ROUNDS = 6
_WORD = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
_FACTORS = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


class Movable:
    """A position in an order, which moves."""

    def cursor(self) -> Self:
        """Returns an independent copy of this position; `copy.copy` takes ten times as long."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin


@dataclasses.dataclass(frozen=True)
class IndexSequence:
    """A sequence of indices.

    Attributes:
        size: number of indices.
        at: takes positions, int64 [n], and returns the indices at these positions, int64 [n].
    """

    size: int
    at: Callable[[np.ndarray], np.ndarray]

    def __len__(self) -> int:
        return self.size

    def part(self, start: int, stop: int) -> IndexSequence:
        return IndexSequence(max(stop - start, 0), lambda positions: self.at(positions + start))

    def among(self, others: IndexSequence) -> IndexSequence:
        """Returns the elements of `others` at the positions that this sequence lists."""
        return IndexSequence(self.size, lambda positions: others.at(self.at(positions)))


def counting(start: int, stop: int) -> IndexSequence:
    """Returns the sequence start, ..., stop - 1."""
    return IndexSequence(stop - start, lambda positions: positions + start)


def joined(parts: Sequence[IndexSequence]) -> IndexSequence:
    ends = np.cumsum([0, *(part.size for part in parts)])

    def at(positions: np.ndarray) -> np.ndarray:
        owners = np.searchsorted(ends, positions, side="right") - 1
        found = np.empty(len(positions), np.int64)
        for owner in np.unique(owners).tolist():
            mine = owners == owner
            found[mine] = parts[owner].at(positions[mine] - ends[owner])
        return found

    return IndexSequence(int(ends[-1]), at)


def permutation(size: int, *key: int) -> IndexSequence:
    """Permutes 0, ..., size - 1 in an order that depends only on `key`, two 64-bit numbers."""
    if size <= TABLE_SIZE:
        table = _table(size, *key)
        return IndexSequence(size, lambda positions: table[positions])
    return IndexSequence(size, _Cipher(size, *key))


def _table(size: int, *key: int) -> np.ndarray:
    """Returns a permutation as a table, int64 [size].

    Sorts random numbers whose low bits are the indices. All numbers differ, so any sort has the same result.
    The result of `Generator.permutation` may change between NumPy versions; the raw stream of a bit generator does not.
    """
    words = np.array([k & _WORD for k in key], np.uint64)
    low = np.uint64((1 << max(size - 1, 0).bit_length()) - 1)
    drawn = np.random.Philox(key=words).random_raw(size) & ~low
    drawn |= np.arange(size, dtype=np.uint64)
    drawn.sort()
    return (drawn & low).astype(np.int64)


class _Cipher:
    """Permutes the numbers below `size` in constant memory, by a Feistel network with cycle walking.

    The network permutes all numbers below a power of 4, which is at most 4 * `size`. A result of `size` or more passes
    through the network again, until it is below `size`. This always ends, and permutes the numbers below `size`.
    """

    def __init__(self, size: int, *key: int):
        self._size = size
        self._half = np.uint64(((size - 1).bit_length() + 1) // 2)
        self._mask = np.uint64((1 << int(self._half)) - 1)
        state = key_state(*key)
        self._keys = [np.uint64(_finalized(state + i * GOLDEN & _WORD)) for i in range(1, _ROUNDS + 1)]

    def __call__(self, positions: np.ndarray) -> np.ndarray:
        numbers = self._once(positions.astype(np.uint64))
        while len(beyond := np.flatnonzero(numbers >= self._size)):
            numbers[beyond] = self._once(numbers[beyond])
        return numbers.astype(np.int64)

    def _once(self, numbers: np.ndarray) -> np.ndarray:
        left, right = numbers >> self._half, numbers & self._mask
        for key in self._keys:
            # Each bit of the round function depends on all bits of `right`.
            left, right = right, left ^ finalized_all(right + key) & self._mask
        return left << self._half | right


def key_state(*key: int) -> int:
    state = 0
    for word in key:
        state = _finalized(state ^ word & _WORD)
    return state


def _finalized(word: int) -> int:
    """Applies the finalizer of SplitMix64: each bit of the result depends on all bits of `word`."""
    word = (word ^ word >> 30) * _FACTORS[0] & _WORD
    word = (word ^ word >> 27) * _FACTORS[1] & _WORD
    return word ^ word >> 31


def finalized_all(words: np.ndarray) -> np.ndarray:
    words = (words ^ words >> np.uint64(30)) * np.uint64(_FACTORS[0])
    words = (words ^ words >> np.uint64(27)) * np.uint64(_FACTORS[1])
    return words ^ words >> np.uint64(31)
