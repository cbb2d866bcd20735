"""Computes padded shapes, so that many sizes share a compiled program.

Every distinct padded shape costs a compilation, and every padded element costs time and memory. At a higher level, the
shapes are fewer and larger. They do not depend on other samples, except where all samples of a batch share one shape
(`together`). This module computes the shapes of level 0; the module `coarse` computes those of the other levels.

* The shapes of a value are on a grid: `TIGHT` where padding costs much time, `CHEAP` where more programs would cost
  more than padding, `ROOM_IN` or `ROOM_OUT` where padding costs next to no time (`cost`).
* The longest side of a picture is on the grid, and each other side is a fraction of the longest. Most photographs have
  one of a few aspect ratios, so this gives far fewer shapes than a grid for each side.
* An output has the shape that the operator's `setup` computes for padded inputs, if the sample fits in it. So the
  output of a resize to 300 × 300 has no padding, and sounds of one padded shape have spectrograms of one padded shape.
  In small batches on a CPU, where programs cost most, outputs of several sizes are padded to one square
  (`ROOM_OUT_FEW`).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from jdali._numerics.grid import COARSE, FINE, FINEST, ROOMY, SMALL_AXIS, Sizes, round_up
from jdali.engine.shapes.coarse import Roomy, coarse_shapes
from jdali.engine.shapes.cost import StageCost, elements


@dataclasses.dataclass(frozen=True, eq=False)
class Grid:
    """Holds the sizes to which axes are padded. Shorter sides of a picture get a fraction of the longest side."""

    sizes: Sizes
    fractions: tuple[float, ...]  # ascending, up to 1, with few binary digits, so that quotients are exact


def _powers(base: float, *factors: float) -> tuple[float, ...]:
    return tuple(sorted(f / base**k for k in range(10) for f in factors))


# Grids where padding costs time: `TIGHT` for samples that take much time, `CHEAP` for samples that take little.
TIGHT = Grid(FINE, _powers(2, 1, 0.75))
CHEAP = Grid(COARSE, _powers(2, 1))
# Grids where padding costs little time. The padding of an input only takes memory; the padding of an output is also written.
ROOM_IN = Grid(ROOMY, _powers(16, 1))
ROOM_OUT = Grid(COARSE, _powers(4, 1))
# In small batches, where programs cost most, outputs of many sizes share squares of up to this many elements. A square
# costs 0.1 to 0.3 ms a sample: to write the padding, and to copy the sample out of the square (benchmarks/RESULTS.md).
ROOM_OUT_FEW, _FEW_ELEMENTS = Grid(COARSE, (1.0,)), 1 << 20
# An output gets the shape `derived` from padded inputs, in place of the shape computed from its `own` size, if
# elements(derived) <= factor * elements(own). From level 1 on, the factor is larger: a derived shape follows from
# the shapes of the inputs, so it needs no further program.
_LOOSE, _LOOSE_COARSE = 1.25, 4.0

# Returns the shapes of an operator's outputs for padded inputs; None if they depend on more than the shapes of the inputs.
# Arguments: number of the node in the stage, shape of each of its inputs.
Derive = Callable[[int, tuple[tuple[int, ...], ...]], "tuple[tuple[int, ...], ...] | None"]


@dataclasses.dataclass(frozen=True)
class Group:
    """Holds the samples of a batch that share a padded shape."""

    shape: tuple[int, ...]  # padded sizes of all axes of all values of the stage
    samples: np.ndarray
    seconds: float = 0.0  # modelled time of the samples with padding
    needed: float = 0.0  # modelled time of the samples without padding
    cheapest: int = 0  # the sample that takes the least time

    def joined(self, other: Group, count: int) -> Group:
        """Returns this group plus the last `count` samples of another group, whose shape must not be larger."""
        samples = np.concatenate([self.samples, other.samples[-count:]])
        share = count / len(other.samples)
        return dataclasses.replace(
            self, samples=samples, seconds=self.seconds * len(samples) / len(self.samples),
            needed=self.needed + other.needed * share,
        )  # fmt: skip

    def without(self, count: int) -> Group:
        samples = self.samples[: len(self.samples) - count]
        share = len(samples) / len(self.samples)
        return dataclasses.replace(
            self, samples=samples, seconds=self.seconds * share, needed=self.needed * share
        )


class ShapeNode(NamedTuple):
    """Describes a node of the stage by the numbers of the values that it reads and makes."""

    reads: tuple[int, ...]
    makes: tuple[int, ...]


class PaddedShapes:
    """Computes the padded shapes of the values of one stage."""

    def __init__(
        self, layouts: Sequence[str], made: Sequence[ShapeNode], cost: StageCost, derive: Derive, *, few: bool = False
    ):  # fmt: skip
        """Describes a stage; `few` is True if batches are small and on a CPU, see `ROOM_OUT_FEW`."""
        self._few = few
        self._layouts, self._made, self._cost, self._derive = layouts, made, cost, derive
        self._inputs = len(layouts) - sum(len(node.makes) for node in made)

    def group(
        self, extents: Sequence[np.ndarray], held: Sequence[np.ndarray | None], level: int = 0, *,
        together: bool = False,
    ) -> list[Group]:  # fmt: skip
        """Groups the samples of a batch by their padded shapes.

        Args:
            held: for each value, the padded shapes, int [N, ndim], that an earlier stage gave the samples; None if they are
                not padded, or this stage makes the value.
            together: if True, pads all samples to one shape, with the largest size of each axis.
        """
        count = len(extents[0]) if extents else 0
        if not count:
            return []
        alike = all((e == e[0]).all() for e in extents)
        if together and not alike:
            shapes = self.shapes([e.max(axis=0, keepdims=True) for e in extents], [None] * len(held), level)
        elif alike and all(h is None or (h == h[0]).all() for h in held):
            shapes = self.shapes(
                [e[:1] for e in extents], [None if h is None else h[:1] for h in held], level
            )
        else:
            shapes = self.shapes(extents, held, level)
        cells, distinct = _distinct(shapes)
        cells = np.broadcast_to(cells, (count,))
        true = elements(extents)
        seconds = self._cost.seconds(true, np.broadcast_to(elements(shapes), true.shape))
        needed = self._cost.seconds(true, true)
        groups = []
        for cell, shape in enumerate(distinct):
            samples = np.flatnonzero(cells == cell)
            each = needed[samples]
            cheapest = int(samples[each.argmin()])
            groups.append(Group(shape, samples, float(seconds[samples].sum()), float(each.sum()), cheapest))
        return groups

    def may_share(self, extents: Sequence[np.ndarray]) -> bool:
        """Returns True if one padded shape can hold all samples: channels and small axes must agree, as they are not padded."""
        for layout, sizes in zip(self._layouts, extents, strict=True):
            channels = np.array([letter == "C" for letter in layout.ljust(sizes.shape[1])], bool)
            fixed = channels | (sizes.max(axis=0) <= SMALL_AXIS)
            if (sizes != sizes[0])[:, fixed].any():
                return False
        return True

    def shapes(
        self, extents: Sequence[np.ndarray], held: Sequence[np.ndarray | None], level: int = 0
    ) -> list[np.ndarray]:
        """Returns the padded shape of each value for each sample, int [N, ndim]; arguments as in `group`."""
        true = elements(extents)
        costly = self._cost.seconds(true, true) >= self._cost.seconds_worth_a_program
        own = [self._own(value, e, costly, level) for value, e in enumerate(extents)]
        loose = _LOOSE_COARSE if level else _LOOSE
        shapes = [
            o if h is None else _held_or_own(h, e, o) for o, h, e in zip(own, held, extents, strict=True)
        ]
        for number, node in enumerate(self._made):
            ranks = tuple(extents[value].shape[1] for value in node.makes)
            derived = self._derived(number, [shapes[v] for v in node.reads], ranks, len(true))
            for value, found in zip(node.makes, derived, strict=False):
                fits = (found >= extents[value]).all(axis=1)
                fits &= _sizes(found) <= loose * _sizes(own[value])
                shapes[value] = np.where(fits[:, None], found, own[value])
            for value in node.makes:
                if self._few and self._cost.free[value]:
                    squares = own_shapes(extents[value], self._layouts[value], ROOM_OUT_FEW)
                    small = (_sizes(squares) <= _FEW_ELEMENTS)[:, None]
                    shapes[value] = np.where(small, squares, shapes[value])
        return shapes

    def _own(self, value: int, extents: np.ndarray, costly: np.ndarray, level: int) -> np.ndarray:
        layout = self._layouts[value]
        if level:
            roomy = Roomy.INPUT if value < self._inputs else Roomy.OUTPUT
            return coarse_shapes(extents, layout, level, roomy if self._cost.free[value] else None)
        if (extents <= SMALL_AXIS).all():
            return extents
        if self._cost.free[value]:
            return own_shapes(extents, layout, ROOM_IN if value < self._inputs else ROOM_OUT)
        tight = own_shapes(extents, layout, TIGHT) if costly.any() else extents
        cheap = own_shapes(extents, layout, CHEAP) if not costly.all() else extents
        return np.where(costly[:, None], tight, cheap)

    def _derived(
        self, number: int, reads: list[np.ndarray], ranks: tuple[int, ...], count: int
    ) -> list[np.ndarray]:
        """Derives the shapes of a node's outputs, int [N, ndim], from the shapes of its inputs; returns [] if this is impossible.

        `ranks` are the outputs' numbers of axes, which may depend on the sizes of the whole batch, as in `one_hot`. A derived
        shape with another number of axes is ignored.
        """
        cells, distinct = _distinct(reads) if reads else (np.zeros(count, np.int64), [()])
        ends = list(itertools.accumulate((shape.shape[1] for shape in reads), initial=0))
        found = [
            self._derive(number, tuple(row[a:b] for a, b in itertools.pairwise(ends))) for row in distinct
        ]
        fitting = [f if f is not None and tuple(map(len, f)) == ranks[: len(f)] else None for f in found]
        known = [f for f in fitting if f is not None]
        if not known:
            return []
        # A size of -1 stands for no shape: no sample fits in it.
        none = tuple((-1,) * rank for rank in ranks)
        each = [none if f is None else f for f in fitting]
        return [
            np.array([f[o] for f in each], np.int64).reshape(len(each), ranks[o])[cells]
            for o in range(len(known[0]))
        ]


def own_shapes(extents: np.ndarray, layout: str, grid: Grid) -> np.ndarray:
    """Computes the padded shapes of a value, int [N, ndim], from its own sizes."""
    space = [a for a, letter in enumerate(layout) if letter in "DHW"]
    video = "F" in layout and grid in (TIGHT, CHEAP)
    proportional = len(space) > 1 and not video
    shapes = extents.copy()
    for axis in range(extents.shape[1]):
        if layout[axis : axis + 1] == "C" or (proportional and axis in space):
            continue
        sizes = FINEST if video and axis in space else grid.sizes
        # Operators always compute the padding of axes such as frames, so these axes get the fine grid, not a roomy one.
        shapes[:, axis] = round_up(
            extents[:, axis], FINE if grid in (ROOM_IN, ROOM_OUT, ROOM_OUT_FEW) else sizes
        )
    if proportional:
        shapes[:, space] = _proportional(extents[:, space], grid)
    return shapes


def _proportional(sides: np.ndarray, grid: Grid) -> np.ndarray:
    """Rounds a sample's longest side up to the grid, and the others to fractions of the longest; int [N, sides]."""
    longest = round_up(sides.max(axis=1, keepdims=True), grid.sizes)
    fractions = np.array(grid.fractions)
    # The fractions have few binary digits. So if a side is exactly fraction · longest, the quotient is this fraction.
    share = np.clip(sides / np.maximum(longest, 1), fractions[0], 1)
    padded = np.ceil(fractions[np.searchsorted(fractions, share)] * longest).astype(np.int64)
    padded = np.where(sides == sides.max(axis=1, keepdims=True), longest, padded)
    return np.where(sides <= SMALL_AXIS, sides, padded)


def _held_or_own(held: np.ndarray, extents: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Returns a sample's shape in memory, `held`, if the sample fits and it has no more elements than `own`; else `own`."""
    good = (held >= extents).all(axis=1) & (_sizes(held) <= _sizes(own))
    return np.where(good[:, None], held, own)


def _sizes(shapes: np.ndarray) -> np.ndarray:
    sizes: np.ndarray = np.maximum(shapes, 1).prod(axis=1)
    return sizes


def _distinct(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """Joins columns [N, ...] into rows; returns the number of each row, int [N], and the distinct rows, by their numbers."""
    rows = np.concatenate(columns, axis=1)
    if len(rows) == 1 or not rows.shape[1] or (rows == rows[0]).all():
        return np.zeros(len(rows), np.int64), [tuple(rows[0].tolist())]
    each = list(map(tuple, rows.tolist()))
    distinct = sorted(set(each))
    numbers = {row: number for number, row in enumerate(distinct)}
    return np.array([numbers[row] for row in each]), distinct  # `np.unique` takes two to ten times as long
