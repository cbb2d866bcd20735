"""The padded shapes of a stage: what `buckets` needs to know of its operators."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches.extent import BatchSpec
from jdali._batches.store import PaddedBlock
from jdali._operators.call import plan_call
from jdali.engine.shapes.buckets import Group, PaddedShapes, ShapeNode
from jdali.engine.shapes.cost import StageCost, elements, values_of
from jdali.graph.node import DataNode, Node
from jdali.graph.plan import Stage
from jdali.tensors import TensorList

Shape = tuple[int, ...]
Kind = tuple[np.dtype[Any], str]  # element type and layout of a value

# A stage that has this many padded shapes opens no other one for samples that one of these holds: where sizes are cut out
# at random and the number of boxes differs too, there is no end of combinations, and each is a program to compile.
MOST_SHAPES = 12
# Shapes for which it is remembered which one holds them.
_MOST_CHOSEN = 1024


class StageShapes:
    """Groups the samples of a stage by the padded shapes of its values."""

    def __init__(
        self,
        stage: Stage,
        platform: str,
        args: Mapping[Node, Mapping[str, Any]],
        *,
        most: int | None = MOST_SHAPES,
    ):
        """Plans nothing yet.

        Args:
            stage: its values are in the order of `values_of`.
            platform: of the device.
            args: of each node, those that are no nodes, prepared for `plan_call`.
            most: shapes after which samples share them; None: there is no such number.
        """
        self._most = most
        self._open: list[Shape] = []
        self._chosen: dict[tuple[tuple[Kind, ...], Shape], tuple[Shape, float]] = {}
        self.cost = StageCost(stage, platform)
        self._nodes, self._args = stage.nodes, args
        number = {id(v): i for i, v in enumerate(values_of(stage))}
        self._reads = [
            [v for v in (*n.data_inputs, *n.arg_inputs.values()) if id(v) in number] for n in stage.nodes
        ]
        self._made = [
            ShapeNode(tuple(number[id(v)] for v in reads), tuple(number[id(v)] for v in node.outputs))
            for node, reads in zip(stage.nodes, self._reads, strict=True)
        ]
        self._follows = [_sizes_follow(node) for node in stage.nodes]
        self._known: dict[Any, tuple[Shape, ...] | None] = {}
        self._padded: dict[tuple[Kind, ...], PaddedShapes] = {}

    def group(
        self, values: Sequence[BatchSpec], held: Sequence[np.ndarray | None], *, together: bool = False
    ) -> list[Group]:
        """Groups the samples of a batch.

        Args:
            values: of the stage, its inputs and the outputs of its nodes.
            held: of each input, as in `PaddedShapes.group`.
            together: all samples in one shape.
        """
        kinds = tuple((v.dtype, v.layout) for v in values)
        shapes = self._padded_shapes(kinds)
        rest = [None] * (len(values) - len(held))
        groups = shapes.group([v.extents for v in values], [*held, *rest], together=together)
        if self._most is None:
            return groups
        found = []
        for group in groups:
            shape, more = self._choice(group.shape, kinds, values)
            found.append(
                dataclasses.replace(group, shape=shape, seconds=group.seconds + more * len(group.samples))
            )
        return joined(found)

    def _choice(
        self, shape: Shape, kinds: tuple[Kind, ...], values: Sequence[BatchSpec]
    ) -> tuple[Shape, float]:
        """The shape in which samples of this one are computed, and how many seconds more that takes for each."""
        if (kinds, shape) not in self._chosen:
            ends = np.cumsum([0, *(v.ndim for v in values)]).tolist()
            fixed = np.array([v.layout[a : a + 1] == "C" for v in values for a in range(v.ndim)], bool)

            def seconds(shape: Shape) -> float:
                """Estimates the time of a sample at its padded size."""
                sizes = [np.array([shape[a:b]]) for a, b in itertools.pairwise(ends)]
                padded = elements(sizes)
                return float(self.cost.seconds(np.zeros_like(padded), padded)[0])

            opened = self._opened(shape, fixed, seconds)
            more = seconds(opened) - seconds(shape) if opened != shape else 0.0
            if len(self._chosen) >= _MOST_CHOSEN:
                self._chosen.clear()
            self._chosen[kinds, shape] = opened, more
        return self._chosen[kinds, shape]

    def _padded_shapes(self, kinds: tuple[Kind, ...]) -> PaddedShapes:
        """Pads values of these kinds; a stage mostly has values of the same kinds in every batch."""
        if kinds not in self._padded:
            layouts = [layout for _, layout in kinds]
            self._padded[kinds] = PaddedShapes(
                layouts, self._made, self.cost, functools.partial(self._derive, kinds)
            )
        return self._padded[kinds]

    def _opened(self, shape: Shape, fixed: np.ndarray, seconds: Callable[[Shape], float]) -> Shape:
        """The shape itself as long as there are few; then the one of those that hold it which takes the least time."""
        if shape in self._open:
            return shape
        if self._most is not None and len(self._open) >= self._most:
            wanted = np.array(shape)
            alike = [s for s in map(np.array, self._open) if len(s) == len(shape)]
            alike = [s for s in alike if (s[fixed] == wanted[fixed]).all()]
            holding = [tuple(s.tolist()) for s in alike if (s >= wanted).all()]
            if holding:
                return min(holding, key=seconds)
            # One that holds all so far as well, with room to grow: few more will be needed, however samples grow.
            largest = np.max(alike, axis=0) if alike else wanted
            room = [
                n if n <= m or f else 1 << (n - 1).bit_length()
                for n, m, f in zip(shape, largest, fixed, strict=True)
            ]
            shape = tuple(np.maximum(room, largest).tolist())
        self._open.append(shape)
        self._chosen.clear()  # the new one may be better
        return shape

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
        by_value = {id(v): spec for v, spec in zip(self._reads[number], padded, strict=True)}
        specs, constants = [], {}
        for i, value in enumerate(node.inputs):
            if isinstance(value, DataNode):
                specs.append(by_value[id(value)])
            else:
                specs.append(BatchSpec(np.array([value.shape], np.int64).reshape(1, -1), value.dtype))
                constants[node.op.input(i).name] = value
        scalar = np.zeros((1, 0), np.int64)
        traced = {
            name: by_value[id(v)].extents if id(v) in by_value else scalar
            for name, v in node.arg_inputs.items()
        }
        by_frame = [
            name for name, v in node.arg_inputs.items()
            if id(v) in by_value and node.op.args[name].is_by_frame(by_value[id(v)].layout)
        ]  # fmt: skip
        try:
            planned = plan_call(
                node.op, specs, self._args[node], batch_size=1, constants_given=constants,
                input_values={name: value[None] for name, value in constants.items()},
                traced_arguments=traced, by_frame=by_frame,
            )  # fmt: skip
        except Exception:  # the operator does not take inputs of the padded size: the sample's own will do
            return None
        return tuple(tuple(int(n) for n in o.extents[0]) for o in planned.outputs)


def joined(groups: Sequence[Group]) -> list[Group]:
    """Groups of one shape as one."""
    found: dict[Shape, Group] = {}
    for group in groups:
        other = found.get(group.shape)
        found[group.shape] = group if other is None else Group(
            group.shape, np.sort(np.concatenate([other.samples, group.samples])),
            other.seconds + group.seconds, other.needed + group.needed, other.cheapest,
        )  # fmt: skip
    return list(found.values())


def _sizes_follow(node: Node) -> bool:
    """True if the sizes of a node's outputs follow from those of its inputs, whatever the values."""
    keys = node.op.random and node.op.setup_sees("keys")
    return not keys and not node.needs_values()


def held_shapes(value: TensorList) -> np.ndarray | None:
    """The padded shapes in which the samples of a batch lie, int [N, ndim]; None: not all are padded."""
    blocks = value.store.blocks
    if not all(isinstance(block, PaddedBlock) for block in blocks):
        return None
    shapes = [block.array.shape[1:] for block in blocks]  # type: ignore[union-attr]
    return np.array(shapes, np.int64).reshape(len(shapes), value.spec.ndim)[value.store.block]
