"""Groups the samples of a stage by padded shape: chooses the level, and derives the shapes of operators' outputs."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches import BatchSpec, PaddedBlock
from jdali._operators.call import plan_call
from jdali.engine.shapes.buckets import Group, PaddedShapes, ShapeNode
from jdali.engine.shapes.coarse import coarser_than
from jdali.engine.shapes.cost import SHORTEST_CALL, StageCost, elements, values_of
from jdali.graph import Node, Stage, request_of
from jdali.tensors import TensorList

Shape = tuple[int, ...]
Kind = tuple[np.dtype[Any], str]  # element type and layout of a value

# Maximum number of shapes of a stage at one level. A stage with more shapes rises to a coarser level.
MOST_SHAPES = 16
# A coarser level needs new programs, so it must have at most this share of the present number of shapes.
_WORTH_IT = 2 / 3
# If a search finds no suitable level, the number of shapes that starts the next search is multiplied by this.
_PATIENCE = 1.5
# A coarser level may always take this many times as long as the present level; it may take longer if it saves enough
# programs, see `pays`.
_MOST_TIMES = 4.0
# The spec used for arguments that come from outside the stage and are passed by value.
_SCALAR = BatchSpec(np.zeros((1, 0), np.int64), np.dtype(np.float32))


class StageShapes:
    """Groups the samples of a stage by the padded shapes of its values; used by one thread at a time.

    A sample's padded shape depends on its own size and on the level of the stage. But on a CPU, small samples of a batch
    share a shape; on an accelerator, unused rows of calls are filled with samples of smaller shapes. The level rises when
    too many shapes have occurred in the process. The choice of a program never changes the bits of a result, so it is not
    saved in states or sent in tasks.
    """

    def __init__(
        self, stage: Stage, platform: str, args: Mapping[Node, Mapping[str, Any]], *,
        most: int | None = MOST_SHAPES, few: bool = False,
    ):  # fmt: skip
        """Starts at level 0; no shapes are counted yet.

        Args:
            args: constant arguments of each node, prepared for `plan_call`.
            most: maximum number of shapes at a level; None if the stage stays at level 0.
            few: True if batches are small and on a CPU, so that outputs whose padding costs no time share shapes.
        """
        self._most, self._few = math.inf if most is None else most, few
        self.level = 0  # see `coarse`
        self._seen: dict[Shape, int] = {}  # number of samples of each padded shape at this level
        self._patience = 1.0  # a search for a level starts at more than `_patience * most` shapes
        self.cost = StageCost(stage, platform)
        self._nodes, self._args = stage.nodes, args
        number = {id(v): i for i, v in enumerate(values_of(stage))}
        self._reads = [[v for v in n.operands if id(v) in number] for n in stage.nodes]
        self._made = [
            ShapeNode(tuple(number[id(v)] for v in reads), tuple(number[id(v)] for v in node.outputs))
            for node, reads in zip(stage.nodes, self._reads, strict=True)
        ]
        self._follows = [_sizes_follow(node) for node in stage.nodes]
        self._known: dict[Any, tuple[Shape, ...] | None] = {}
        self._padded: dict[tuple[Kind, ...], PaddedShapes] = {}

    def group(
        self, values: Sequence[BatchSpec], held: Sequence[np.ndarray | None], *, together: bool = False,
        rows: Callable[[Group], int] | None = None,
    ) -> list[Group]:  # fmt: skip
        """Groups the samples of a batch by padded shape; counts them, and raises the level if there are too many shapes.

        `rows` returns the number of rows of a call for a group. Unused rows are filled with samples of smaller shapes, see
        `_filled`. If `rows` is None, every sample keeps the padded shape of its own size.
        """
        shapes = self._padded_shapes(tuple((v.dtype, v.layout) for v in values))
        extents = [v.extents for v in values]
        all_held = [*held, *[None] * (len(values) - len(held))]
        while True:
            groups = shapes.group(extents, all_held, self.level, together=together)
            if len(groups) > 1:
                groups = _filled(groups, rows) if rows else self._joined(shapes, extents, groups)
            if self.count(groups):
                return groups
            search = _Search(shapes, self.cost, [v.ndim for v in values], [h is not None for h in all_held])
            before, self._seen = self._seen, _counted(self._seen, groups)
            coarser = self._coarser(search)
            if coarser is None:
                self._patience *= _PATIENCE
                return groups
            # The next grouping counts the samples of this batch. Perhaps the new level still has too many shapes.
            self.level, crowded = coarser.number, len(coarser.seen) / self._most
            self._patience = _PATIENCE * crowded if crowded > 1 else 1.0
            self._seen = dict(search.at(coarser.number, before).seen)

    def _joined(
        self, shapes: PaddedShapes, extents: Sequence[np.ndarray], groups: list[Group]
    ) -> list[Group]:
        """Pads all samples of a batch to one shape if this takes less time than the calls that it saves."""
        if self._most == math.inf or not shapes.may_share(extents):
            return groups
        one = shapes.group(extents, [None] * len(extents), self.level, together=True)
        apart = sum(group.seconds for group in groups) + SHORTEST_CALL * (len(groups) - 1)
        return one if one[0].seconds <= apart else groups

    @property
    def count_seen(self) -> int:
        """Number of padded shapes that have occurred at this level."""
        return len(self._seen)

    def count(self, groups: Sequence[Group]) -> bool:
        """Counts the samples of a batch by shape. If this level would have too many shapes, counts none and returns False."""
        if self._most == math.inf:
            return True
        counted = _counted(self._seen, groups)
        if len(counted) > self._most * self._patience:
            return False
        self._seen = counted
        return True

    def _coarser(self, search: _Search) -> _Candidate | None:
        """Returns the fastest level with few enough shapes, or else the fastest with at least a third fewer shapes.

        Returns None if there is no such level, or padding would take too much time.
        """
        worth = int(_WORTH_IT * len(self._seen))
        levels = [numbers for numbers in coarser_than(self.level) if numbers]
        for goal in (min(self._most, worth), worth):
            found = [search.lowest(numbers, self._seen, goal) for numbers in levels]
            fitting = [c for c in found if len(c.seen) <= goal and search.pays(c, self._seen)]
            if fitting:
                return min(fitting, key=lambda c: c.seconds)
        return None

    def _padded_shapes(self, kinds: tuple[Kind, ...]) -> PaddedShapes:
        """Returns the `PaddedShapes` for values of these kinds, from a cache, because most batches have the same kinds."""
        if kinds not in self._padded:
            layouts = [layout for _, layout in kinds]
            self._padded[kinds] = PaddedShapes(
                layouts, self._made, self.cost, functools.partial(self._derive, kinds), few=self._few
            )
        return self._padded[kinds]

    def _derive(
        self, kinds: tuple[Kind, ...], number: int, shapes: tuple[Shape, ...]
    ) -> tuple[Shape, ...] | None:
        if not self._follows[number]:
            return None
        reads = tuple(kinds[i] for i in self._made[number].reads)
        key = (number, shapes, reads)
        if key not in self._known:
            padded = [
                BatchSpec(np.array([s], np.int64), *kind) for s, kind in zip(shapes, reads, strict=True)
            ]
            self._known[key] = self._outputs_for(number, padded)
        return self._known[key]

    def _outputs_for(self, number: int, padded: Sequence[BatchSpec]) -> tuple[Shape, ...] | None:
        node = self._nodes[number]
        specs = dict.fromkeys(node.arg_inputs.values(), _SCALAR)
        specs |= zip(self._reads[number], padded, strict=True)
        request = request_of(node, 1, args=self._args[node], specs=specs)
        try:
            planned = plan_call(request)
        except Exception:  # the operator refuses inputs of the padded size: use the sample's own shape
            return None
        return tuple(tuple(int(n) for n in o.extents[0]) for o in planned.outputs)


@dataclasses.dataclass(frozen=True)
class _Candidate:
    """Describes a level that a stage may rise to: the shapes that its samples would have, and their modelled time."""

    number: int
    seen: Mapping[Shape, int]
    seconds: float


class _Search:
    """Evaluates levels on the padded shapes counted so far, as if these were the sizes of the samples."""

    def __init__(self, shapes: PaddedShapes, cost: StageCost, ranks: Sequence[int], held: Sequence[bool]):
        self._shapes, self._cost = shapes, cost
        self._held = held  # True where an earlier stage padded the value
        self._ends = np.cumsum([0, *ranks]).tolist()

    def lowest(self, numbers: Sequence[int], seen: Mapping[Shape, int], goal: float) -> _Candidate:
        """Returns the first of the levels `numbers`, fine to coarse, with at most `goal` shapes, or else the last."""
        found = self.at(numbers[-1], seen)
        first, last = 0, len(numbers) - 1
        while len(found.seen) <= goal and first < last:
            middle = (first + last) // 2
            candidate = self.at(numbers[middle], seen)
            if len(candidate.seen) <= goal:
                found, last = candidate, middle
            else:
                first = middle + 1
        return found

    def pays(self, level: _Candidate, seen: Mapping[Shape, int]) -> bool:
        """Returns True if a level avoids enough programs to be worth the time that its padding takes."""
        extents, samples = self._counted(seen)
        now = float(samples @ self._cost.seconds(elements(extents), elements(extents)))
        saved = len(samples) - len(level.seen)
        return level.seconds <= max(
            _MOST_TIMES * now, now + float(samples.sum()) * saved * self._cost.seconds_worth_a_program
        )

    def _counted(self, seen: Mapping[Shape, int]) -> tuple[list[np.ndarray], np.ndarray]:
        """Returns the counted shapes of each value, int [shapes, ndim], and the number of samples with each shape."""
        alike = {shape: samples for shape, samples in seen.items() if len(shape) == self._ends[-1]}
        flat = np.array(list(alike), np.int64).reshape(len(alike), self._ends[-1])
        extents = [flat[:, a:b] for a, b in itertools.pairwise(self._ends)]
        return extents, np.array(list(alike.values()), np.int64)

    def at(self, number: int, seen: Mapping[Shape, int]) -> _Candidate:
        """Evaluates one level for the shapes counted so far.

        Shapes whose values have other numbers of axes than in this batch are left out.
        """
        extents, samples = self._counted(seen)
        if not len(samples):
            return _Candidate(number, {}, 0.0)
        held = [e if h else None for e, h in zip(extents, self._held, strict=True)]
        shapes = self._shapes.shapes(extents, held, number)
        seconds = samples @ self._cost.seconds(elements(extents), elements(shapes))
        there: dict[Shape, int] = {}
        for row, count in zip(np.concatenate(shapes, axis=1).tolist(), samples.tolist(), strict=True):
            there[tuple(row)] = there.get(tuple(row), 0) + count
        return _Candidate(number, there, float(seconds))


def _filled(groups: Sequence[Group], rows: Callable[[Group], int]) -> list[Group]:
    """Fills unused rows of calls with samples of smaller shapes, which are taken from calls that are not full.

    So a sample may run in different programs in different batches, but its result has the same bits.
    """
    groups = sorted(groups, key=lambda group: (math.prod(group.shape), group.shape))
    for number in reversed(range(len(groups))):
        spare = -len(groups[number].samples) % rows(groups[number])
        for smaller in reversed(range(number)):
            group, other = groups[number], groups[smaller]
            moved = min(spare, len(other.samples) % rows(other))
            if (
                moved
                and len(other.shape) == len(group.shape)
                and np.all(np.less_equal(other.shape, group.shape))
            ):
                groups[number], groups[smaller] = group.joined(other, moved), other.without(moved)
                spare -= moved
    return [group for group in groups if len(group.samples)]


def _counted(seen: Mapping[Shape, int], groups: Sequence[Group]) -> dict[Shape, int]:
    counted = dict(seen)
    for group in groups:
        counted[group.shape] = counted.get(group.shape, 0) + len(group.samples)
    return counted


def _sizes_follow(node: Node) -> bool:
    """Returns True if the sizes of a node's outputs depend only on the sizes of its inputs."""
    keys = node.op.random and node.op.setup_sees("keys")
    return not keys and not node.needs_values()


def held_shapes(value: TensorList) -> np.ndarray | None:
    """Returns the padded shapes of a batch's samples in memory, int [N, ndim]; None if not all are padded."""
    blocks = value.store.blocks
    if not all(isinstance(block, PaddedBlock) for block in blocks):
        return None
    shapes = [block.array.shape[1:] for block in blocks]  # type: ignore[union-attr]
    return np.array(shapes, np.int64).reshape(len(shapes), value.spec.ndim)[value.store.block]
