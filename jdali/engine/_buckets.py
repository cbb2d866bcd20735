"""The one policy of padded shapes: which sizes share a compiled program.

Every distinct padded shape costs a compilation, every padded element costs time and memory. A
stage keeps the shapes it has compiled; a sample goes to the smallest one that holds it, unless
that would waste too much, in which case a new shape from a coarse geometric grid is opened. The more
shapes there are already, the more waste is accepted, so their number stays bounded.
"""

from __future__ import annotations

import dataclasses

import numpy as np

# An axis at most this long is not worth a bucket of its own sizes: channels, boxes, coordinates.
SMALL_AXIS = 4
# Waste (padded elements per needed element) that is accepted before a new shape is opened, by the
# number of shapes already open. Beyond the end of the table any shape that fits is taken.
ACCEPTED_WASTE = (0.0, 1.3, 1.6, 2.0, 2.5, 4.0)
# The same where an operator's time does not grow with the padding: a program more costs seconds, padding
# only address space.
ROOMY_WASTE = (0.0, 32.0, 128.0)
LEAST_ROOM = 256
# Sizes seen to be the same for all samples keep their exact value until this many have been met.
EXACT_SIZES = 2


@dataclasses.dataclass(frozen=True)
class Group:
    """Samples of a batch that share a padded shape; `shape` is over all tracked axes."""

    shape: tuple[int, ...]
    samples: np.ndarray


def round_up(size: int) -> int:
    """Smallest grid size that holds `size`: steps of a factor of about the square root of 2.

    The grid is 8, 12, 16, 24, 32, 48, 64, ...: multiples of 8 from there on, which suits vector
    units.
    """
    if size <= SMALL_AXIS:
        return size
    power = 8
    while power < size:
        if power * 3 // 2 >= size:
            return power * 3 // 2
        power *= 2
    return power


def round_up_finely(size: int) -> int:
    """Smallest size of a grid of four steps to the power of two, 8, 10, 12, 14, 16, 20, ..., that holds `size`.

    A quarter more at most, so that little is lost where no shape may be opened for what is met.
    """
    if size <= SMALL_AXIS:
        return size
    step = max(1 << (size.bit_length() - 1), 8) // 4
    return max(-(-size // step) * step, 8)


class BucketPolicy:
    """Padded shapes of one stage.

    A row has the sizes of all axes of all values of the stage, one row a sample. Waste is
    measured in elements of all values together.
    """

    def __init__(
        self, value_of_axis: np.ndarray, never_padded: np.ndarray, *, roomy: bool = False,
        by_size: bool = False,
    ):  # fmt: skip
        """Opens no shape yet.

        Args:
            value_of_axis: int [axes], which value each axis belongs to.
            never_padded: bool [axes], axes that keep their true size (channels).
            roomy: padding costs no time, so accept much of it.
            by_size: a shape follows from the sample's size alone, not from others that were met before.
        """
        self._roomy, self._by_size = roomy, by_size
        self._waste = ROOMY_WASTE if roomy else ACCEPTED_WASTE
        self._never_padded = never_padded
        self._value_of_axis = np.asarray(value_of_axis)
        self._starts = np.flatnonzero(np.diff(self._value_of_axis, prepend=-1))
        self._shapes: list[np.ndarray] = []
        self._exact: list[set[int]] = [set() for _ in self._value_of_axis]

    @property
    def axes(self) -> int:
        return len(self._value_of_axis)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [tuple(map(int, s)) for s in self._shapes]

    def group(self, rows: np.ndarray) -> list[Group]:
        """Assigns each sample a padded shape.

        Args:
            rows: int [N, axes], true sizes.
        """
        if not len(rows):
            return []
        if not rows.shape[1]:
            return [Group((), np.arange(len(rows)))]
        if len(rows) == 1:  # `unique` takes longer than all else
            distinct, inverse = rows, np.zeros(1, np.int64)
        else:
            distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
            inverse = inverse.reshape(-1)
        uniform = (rows == rows[0]).all(axis=0)
        # Largest first, so that smaller samples find a shape to join.
        order = np.argsort(-self._elements(distinct), kind="stable")
        chosen = np.empty(len(distinct), np.int64)
        for rank, d in enumerate(order):
            chosen[d] = self._choose(distinct[d], distinct[order[rank:]], uniform)
        shape_of_sample = chosen[inverse]
        return [
            Group(tuple(map(int, self._shapes[s])), np.flatnonzero(shape_of_sample == s))
            for s in np.unique(shape_of_sample)
        ]

    def together(self, rows: np.ndarray) -> Group | None:
        """All samples in one padded shape; None if they differ on an axis that is never padded."""
        uniform = (rows == rows[0]).all(axis=0)
        if not uniform[self._never_padded].all():
            return None
        largest = rows.max(axis=0)
        shape = self._shapes[self._choose(largest, largest[None], uniform)]
        return Group(tuple(map(int, shape)), np.arange(len(rows)))

    def _elements(self, rows: np.ndarray) -> np.ndarray:
        """Elements of all values together, [N]."""
        # A value may have no axis left to track or be empty: count it as one element.
        total: np.ndarray = np.multiply.reduceat(np.maximum(rows, 1), self._starts, axis=-1).sum(axis=-1)
        return total

    def _choose(self, row: np.ndarray, pending: np.ndarray, uniform: np.ndarray) -> int:
        """Index of the shape for `row`; `pending` are the rows not placed yet, this one among them."""
        if self._by_size:
            return self._index_of(self._of_size(row))
        needed = float(self._elements(row[None])[0])
        accepted = self._waste[len(self._shapes)] if len(self._shapes) < len(self._waste) else np.inf
        best, best_elements = -1, np.inf
        for i, shape in enumerate(self._shapes):
            if (shape >= row).all() and (shape == row)[self._never_padded].all():
                elements = float(self._elements(shape[None])[0])
                if elements < best_elements:
                    best, best_elements = i, elements
        if best >= 0 and (best_elements <= accepted * needed or best_elements == needed):
            return best
        if self._roomy:  # one shape for all that may share it
            alike = (pending == row)[:, self._never_padded].all(axis=1)
            near = self._elements(pending) * self._waste[1] >= needed
            row = pending[alike & near].max(axis=0)
        self._shapes.append(self._open(row, uniform))
        return len(self._shapes) - 1

    def _index_of(self, shape: np.ndarray) -> int:
        for i, known in enumerate(self._shapes):
            if (known == shape).all():
                return i
        self._shapes.append(shape)
        return len(self._shapes) - 1

    def _of_size(self, row: np.ndarray) -> np.ndarray:
        least = LEAST_ROOM if self._roomy else 0
        padded = [round_up_finely(max(int(n), least) if n > SMALL_AXIS else int(n)) for n in row]
        return np.where(self._never_padded, row, padded)

    def _open(self, row: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        shape = np.empty_like(row)
        for axis, size in enumerate(row):
            exact = self._exact[axis]
            if self._never_padded[axis]:
                shape[axis] = size
            elif uniform[axis] and (int(size) in exact or len(exact) < EXACT_SIZES):
                exact.add(int(size))
                shape[axis] = size
            else:
                shape[axis] = round_up(
                    max(int(size), LEAST_ROOM) if self._roomy and size > SMALL_AXIS else int(size)
                )
        return shape
