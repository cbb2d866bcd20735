"""Outlines a stage: its operators and their connections, without the graph.

A compiled program outlives the pipeline that first made it. Because it is built from an outline, it keeps no node alive, and
no source, callback or pipeline that a node references. `Packing` joins the small arrays of a program into one array.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jdali._operators.call import Constant
from jdali._operators.record import Operator
from jdali.graph import DataNode, Stage

STAGE = -1  # operator number of the stage's inputs


class Slot(NamedTuple):
    """Identifies an output of an operator in a stage by two numbers. If `operator` is `STAGE`, identifies an input."""

    operator: int
    output: int


@dataclasses.dataclass(frozen=True)
class OperatorOutline:
    """Describes one operator of a stage."""

    op: Operator
    inputs: tuple[Slot | Constant, ...]  # the value of an input that is a constant for all samples
    # Name and origin of each per-sample argument; None if each batch's plan has the values.
    arguments: tuple[tuple[str, Slot | None], ...]
    outputs: int


@dataclasses.dataclass(frozen=True)
class StageOutline:
    """Outlines a stage. Stages that compute the same have equal outlines."""

    inputs: int
    operators: tuple[OperatorOutline, ...]
    outputs: tuple[Slot, ...]

    @classmethod
    def of(cls, stage: Stage) -> StageOutline:
        slots: dict[DataNode, Slot] = {value: Slot(STAGE, i) for i, value in enumerate(stage.inputs)}
        for number, node in enumerate(stage.nodes):
            slots |= {value: Slot(number, i) for i, value in enumerate(node.outputs)}

        def source(value: DataNode | np.ndarray[Any, Any]) -> Slot | Constant:
            return slots[value] if isinstance(value, DataNode) else Constant(value)

        operators = tuple(
            OperatorOutline(
                node.op, tuple(map(source, node.inputs)),
                tuple((name, slots.get(value)) for name, value in node.arg_inputs.items()),
                len(node.outputs),
            )
            for node in stage.nodes
        )  # fmt: skip
        return cls(len(stage.inputs), operators, tuple(slots[value] for value in stage.outputs))

    @property
    def random(self) -> tuple[int, ...]:
        """Indices of the random operators, ascending; the array of seeds has a row for each, in this order."""
        return tuple(i for i, operator in enumerate(self.operators) if operator.op.random)


class Packing:
    """Packs the small per-sample arrays of a program into one int32 array [N, columns].

    Every array costs a few microseconds in each call; packed arrays together cost as much as one. Floats and unsigned
    integers are stored as their bits. 64-bit values do not fit and stay separate arrays.
    """

    def __init__(self, arrays: Sequence[np.ndarray]):
        self.items: list[tuple[np.dtype[Any], tuple[int, ...], int, int]] = []
        self.apart: list[int] = []
        column = 0
        for i, array in enumerate(arrays):
            size = math.prod(array.shape[1:])
            if array.dtype.itemsize > 4:
                self.apart.append(i)
                self.items.append((array.dtype, array.shape[1:], -1, size))
            else:
                self.items.append((array.dtype, array.shape[1:], column, size))
                column += size
        self.columns = column
        self.key = tuple((d, s) for d, s, _, _ in self.items)

    def pack(self, arrays: Sequence[np.ndarray], count: int) -> tuple[np.ndarray, list[np.ndarray]]:
        packed = np.empty((count, self.columns), np.int32)
        for position, array in enumerate(arrays):
            self._write(packed, position, array)
        return packed, [np.ascontiguousarray(arrays[i]) for i in self.apart]

    def repack(
        self, packed: np.ndarray, apart: Sequence[np.ndarray], arrays: Mapping[int, np.ndarray]
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Returns the results of `pack` with some arrays replaced; `arrays` has them by position."""
        packed = packed.copy()
        for position, array in arrays.items():
            self._write(packed, position, array)
        kept = zip(self.apart, apart, strict=True)
        return packed, [np.ascontiguousarray(arrays[i]) if i in arrays else old for i, old in kept]

    def _write(self, packed: np.ndarray, position: int, array: np.ndarray) -> None:
        """Writes an array to its columns, if it is packed."""
        dtype, _, column, size = self.items[position]
        if column < 0 or not size:
            return
        flat = array.reshape(len(packed), size)
        if dtype.kind == "f":
            flat = np.ascontiguousarray(flat, np.float32).view(np.int32)
        packed[:, column : column + size] = flat

    def unpack(self, packed: jax.Array, apart: Sequence[jax.Array]) -> list[jax.Array]:
        """Unpacks the arrays, inside a compiled program."""
        result = []
        remaining = list(apart)
        for dtype, shape, column, size in self.items:
            if column < 0:
                result.append(remaining.pop(0))
                continue
            flat = packed[:, column : column + size]
            if dtype.kind == "f":
                flat = jax.lax.bitcast_convert_type(flat, np.float32).astype(dtype)
            elif dtype.kind == "u" and dtype.itemsize == 4:
                flat = jax.lax.bitcast_convert_type(flat, np.uint32)
            else:
                flat = flat.astype(dtype)
            result.append(flat.reshape(packed.shape[0], *shape))
        return result
