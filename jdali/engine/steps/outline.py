"""The outline of a stage: its operators and how they are connected, without the graph.

A compiled program outlives the pipeline that it was first made for. It is made from an outline, so it keeps no node
alive, nor what nodes hold: sources, callbacks, the pipeline itself.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jdali._operators.call import Constant
from jdali._operators.record import Operator
from jdali.graph import DataNode, Stage

STAGE = -1  # in place of an operator: the inputs of the stage


class Slot(NamedTuple):
    """A value of a stage: output `output` of operator `operator`; of `STAGE` an input."""

    operator: int
    output: int


@dataclasses.dataclass(frozen=True)
class OperatorOutline:
    """One operator of a stage.

    Attributes:
        op: its record.
        inputs: where each comes from; a constant is the same for all samples.
        arguments: names of the arguments by sample, and where each comes from; None: `setup` hands it over.
        outputs: how many there are.
    """

    op: Operator
    inputs: tuple[Slot | Constant, ...]
    arguments: tuple[tuple[str, Slot | None], ...]
    outputs: int


@dataclasses.dataclass(frozen=True)
class StageOutline:
    """A stage, equal to others that compute the same, whatever pipeline they are in.

    Attributes:
        inputs: how many there are.
        operators: in the order in which they run.
        outputs: the values that leave the stage.
    """

    inputs: int
    operators: tuple[OperatorOutline, ...]
    outputs: tuple[Slot, ...]

    @classmethod
    def of(cls, stage: Stage) -> StageOutline:
        """Outlines a stage of a plan."""
        slots: dict[DataNode, Slot] = {value: Slot(STAGE, i) for i, value in enumerate(stage.inputs)}
        for number, node in enumerate(stage.nodes):
            slots |= {value: Slot(number, i) for i, value in enumerate(node.outputs)}

        def source(value: DataNode | np.ndarray[Any, Any]) -> Slot | Constant:
            return slots[value] if isinstance(value, DataNode) else Constant(value)

        operators = tuple(
            OperatorOutline(
                node.op, tuple(map(source, node.inputs)),
                tuple(
                    (name, slots.get(value)) for name, value in node.arg_inputs.items()
                    if name not in node.op.only_for_setup
                ),
                len(node.outputs),
            )
            for node in stage.nodes
        )  # fmt: skip
        return cls(len(stage.inputs), operators, tuple(slots[value] for value in stage.outputs))

    @property
    def random(self) -> tuple[int, ...]:
        """The random operators, in the order of the rows of their seeds."""
        return tuple(i for i, operator in enumerate(self.operators) if operator.op.random)
