"""Selects the samples of a pass: a subset, folds, and draws by weight."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jdali.readers.order.indices import GOLDEN, finalized_all, key_state, permutation

# Weights are scaled so that the largest weight is this number, and are then rounded to integers.
_LARGEST = 1 << 32
# Key of the permutation that is divided into folds, the same on all shards and for all seeds.
_FOLD_KEY = 0x666F6C6473, 0
_HALF = np.uint64(32)
_LOW = np.uint64((1 << 32) - 1)


@dataclasses.dataclass(frozen=True, eq=False)
class SampleSelection:
    """Maps (seed, epoch, place in the pass) to a sample.

    Attributes:
        count: number of samples of the data set.
        indices: int64 [m], the samples that a pass takes or draws from; None: all samples.
        ends: int64 [m], cumulative sums of the weights of these samples; None: a pass takes each sample once.
    """

    count: int
    indices: np.ndarray | None
    ends: np.ndarray | None = None

    @property
    def size(self) -> int:
        return self.count if self.indices is None else len(self.indices)

    @property
    def taken(self) -> np.ndarray:
        """The samples that a pass may take, int64."""
        taken = np.arange(self.count) if self.indices is None else self.indices
        return taken if self.ends is None else taken[np.diff(self.ends, prepend=0) > 0]

    def at(self, seed: int, epochs: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Returns the sample at each place of a pass (epoch), int64 [n]."""
        if self.ends is not None:
            drawn = np.empty(len(places), np.int64)
            for epoch in np.unique(epochs).tolist():
                mine = epochs == epoch
                drawn[mine] = np.searchsorted(
                    self.ends, self._targets(seed, epoch, places[mine]), side="right"
                )
            places = drawn
        return places if self.indices is None else self.indices[places]

    def _targets(self, seed: int, epoch: int, places: np.ndarray) -> np.ndarray:
        """Draws an integer below `ends[-1]` for each place: (64 random bits * ends[-1]) >> 64."""
        assert self.ends is not None
        state = np.uint64(key_state(seed, epoch))
        bits = finalized_all((places.astype(np.uint64) + np.uint64(1)) * np.uint64(GOLDEN) + state)
        total = np.uint64(self.ends[-1])
        high, low, top, bottom = bits >> _HALF, bits & _LOW, total >> _HALF, total & _LOW
        middle = high * bottom + (low * bottom >> _HALF)
        other = low * top + (middle & _LOW)
        return (high * top + (middle >> _HALF) + (other >> _HALF)).astype(np.int64)

    def identities(self, places: np.ndarray) -> np.ndarray | None:
        """Returns seeds for random operators if samples are drawn by weights, else None: then indices are the seeds.

        A sample that is drawn twice in a pass gets two different seeds. No seed equals an index.
        """
        return None if self.ends is None else places + self.count

    def reach(self, window: int) -> int:
        """Returns the maximum size of the range of indices that `window` consecutive places span."""
        if self.ends is not None or self.indices is None or (np.diff(self.indices) < 0).any():
            return self.count
        last = np.minimum(np.arange(len(self.indices)) + window, len(self.indices)) - 1
        return int((self.indices[last] - self.indices).max()) + 1


def select(
    count: int,
    *,
    subset: Any = None,
    fold: Any = None,
    weights: Any = None,
    classes: np.ndarray | None = None,
    names: Sequence[str] = (),
) -> SampleSelection | None:
    """Builds the selection of a reader from its arguments; None if a pass takes each sample once."""
    if subset is None and fold is None and weights is None:
        return None
    indices = None if subset is None else _subset(subset, count)
    if fold is not None:
        indices = _fold(fold, np.arange(count) if indices is None else indices, classes)
    if indices is not None and not len(indices):
        raise ValueError("subset and fold leave no sample")
    taken = classes if classes is None or indices is None else classes[indices]
    ends = None if weights is None else _ends(weights, count, indices, taken, names)
    return SampleSelection(count, indices, ends)


def _subset(subset: Any, count: int) -> np.ndarray:
    values = np.asarray(subset)
    if values.dtype == bool:
        if values.shape != (count,):
            raise ValueError(f"subset has {values.size} truth values, the data set {count} samples")
        return np.flatnonzero(values)
    if values.ndim != 1 or (values.size and values.dtype.kind not in "iu"):
        raise ValueError("subset must be a list of indices of samples, or a truth value for each")
    indices = values.astype(np.int64)
    wrong = indices[(indices < 0) | (indices >= count)]
    if len(wrong):
        raise ValueError(f"subset names sample {wrong[0]}, the data set has {count}")
    if len(np.unique(indices)) < len(indices):
        raise ValueError("subset names a sample twice; weights= draws samples more often")
    return indices


def _fold(fold: Any, indices: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    """Returns the samples of the selected folds, in order; each class is divided evenly."""
    if not hasattr(fold, "__len__") or len(fold) != 2:
        raise ValueError(f"fold is {fold!r}; it must be (k, n): the fold or folds to read, of n")
    wanted, number = np.atleast_1d(np.asarray(fold[0])), fold[1]
    if wanted.dtype.kind not in "iu" or not isinstance(number, (int, np.integer)) or number < 2:
        raise ValueError(f"fold is {fold!r}; k and n must be integers, n at least 2")
    if ((wanted < 0) | (wanted >= number)).any():
        raise ValueError(f"fold is {fold!r}; folds are numbered from 0 to n - 1 = {number - 1}")
    mixed = permutation(len(indices), *_FOLD_KEY).at(np.arange(len(indices)))
    if classes is not None:
        mixed = mixed[np.argsort(classes[indices[mixed]], kind="stable")]
    folds = np.empty(len(indices), np.int64)
    folds[mixed] = np.arange(len(indices)) % number
    return indices[np.isin(folds, wanted)]


def _ends(
    weights: Any, count: int, indices: np.ndarray | None, classes: np.ndarray | None, names: Sequence[str]
) -> np.ndarray:
    """Returns cumulative sums of weights as integers, the same on every machine."""
    if isinstance(weights, (str, Mapping)):
        values = _by_class(weights, classes, names)
    else:
        values = np.asarray(weights, np.float64)
        if values.shape != (count,):
            raise ValueError(
                f"weights has {values.size} numbers, the data set {count} samples: one for each is needed"
            )
        values = values if indices is None else values[indices]
    if not (np.isfinite(values) & (values >= 0)).all() or not values.any():
        raise ValueError("weights must be finite, at least 0, and one of them above 0")
    # Rounds before summing: IEEE 754 defines division and rounding exactly, but sums of floats may differ between machines.
    whole = np.rint(values / values.max() * _LARGEST).astype(np.int64)
    return np.cumsum(np.maximum(whole, values > 0))


def _by_class(
    weights: str | Mapping[Any, float], classes: np.ndarray | None, names: Sequence[str]
) -> np.ndarray:
    if isinstance(weights, str) and weights != "balanced":
        raise ValueError(
            f'weights is {weights!r}; it must be "balanced", numbers by class, or a number for each sample'
        )
    if classes is None:
        raise ValueError("this reader does not know the classes of samples before it reads them: give weights a number "
                         "for each sample")  # fmt: skip
    found, own, counts = np.unique(classes, return_inverse=True, return_counts=True)
    if isinstance(weights, str):
        return 1 / counts[own]
    numbers = {name: number for number, name in enumerate(names)}
    by_class = {numbers.get(key, key): value for key, value in weights.items()}
    unknown = [key for key in by_class if key not in set(found.tolist())]
    if unknown:
        raise ValueError(f"weights names class {unknown[0]!r}, of which there is no sample")
    missing = [number for number in found.tolist() if number not in by_class]
    if missing:
        label = names[missing[0]] if names else missing[0]
        raise ValueError(f"weights has no number for class {label!r}; 0 leaves its samples out")
    return np.array([by_class[number] for number in found.tolist()], np.float64)[own]
