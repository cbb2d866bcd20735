"""Estimates the time of a batch, from its elements and calls, and the share that padding takes.

The model is accurate enough to choose shapes and to report the cost of padding. `benchmarks/shapes.py` measures its
constants. The constant of an operator is the attribute `nanoseconds` of the operator.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jdali.graph import DataNode, Stage, compiled

# Nanoseconds for each element that an operator reads or writes on an accelerator, where memory limits the speed. Most
# programs of `benchmarks/gpu_cost.py` move 1 to 5 times the bytes of their inputs and outputs, and so take at least
# 0.0005 to 0.002. On a CPU, each operator has its own constant.
_DEVICE_NANOSECONDS = 0.002
# Nanoseconds to copy an element, or to write it to new memory, on the host; and to send it to an accelerator.
_CPU_MOVING = 0.2
_DEVICE_MOVING = 0.02

# Samples that take less time than this are padded more, because padding them costs less than more programs would. An
# accelerator takes 20 us for a decoded picture, mostly to receive the pixels and the padding.
_SECONDS_WORTH_A_PROGRAM = {"cpu": 100e-6, "gpu": 5e-6}
# Seconds that the samples of one call should take at most. Longer calls would save little, because a call costs little on
# the host, and would compute more unused rows.
SECONDS_A_CALL = 8e-3
# Overhead of a call on a CPU, in seconds. Samples share a call, or a padded shape, if padding takes less than this.
SHORTEST_CALL = 0.3e-3
# Where the time depends on true sizes, a sample is assumed to fill this share of its padded shape.
TRUE_SHARE = 0.25


class StageCost:
    """Estimates the time that a stage takes for a sample, as a linear function of the elements of its values.

    Values are in the order of `values_of`. An operator's time depends on the padded size of a value or on its true size
    (see `free_padding` of the operator).
    """

    def __init__(self, stage: Stage, platform: str):
        values = values_of(stage)
        number = {id(v): i for i, v in enumerate(values)}
        cpu = platform == "cpu"
        self.seconds_worth_a_program = _SECONDS_WORTH_A_PROGRAM["cpu" if cpu else "gpu"]
        self._padded = np.zeros(len(values))
        self._true = np.zeros(len(values))
        for node in stage.nodes:
            op = compiled(node)
            each, free = (op.nanoseconds, op.free_padding) if cpu else (_DEVICE_NANOSECONDS, "none")
            for value in {id(v): v for v in node.data_inputs}.values():
                (self._padded if free == "none" else self._true)[number[id(value)]] += each
            for value in node.outputs:
                (self._true if free == "all" else self._padded)[number[id(value)]] += each
        self.free = self._padded == 0  # bool [values], True if padding the value costs next to no time
        # On a CPU, inputs are copied without their padding, and outputs are written to new memory with their padding.
        # An accelerator receives inputs with their padding.
        if cpu:
            self._true[: len(stage.inputs)] += _CPU_MOVING
            self._padded[len(stage.inputs) :] += _CPU_MOVING
        else:
            self._padded[: len(stage.inputs)] += _DEVICE_MOVING

    def seconds(self, true: np.ndarray, padded: np.ndarray) -> np.ndarray:
        """Estimates the seconds for each sample, float [N], from the numbers of elements of its values, [N, values] each."""
        nanoseconds: np.ndarray = true @ self._true + padded @ self._padded
        return nanoseconds * 1e-9


def values_of(stage: Stage) -> list[DataNode]:
    """Lists the values of a stage: its inputs and the outputs of its operators."""
    return [*stage.inputs, *(v for node in stage.nodes for v in node.outputs)]


def elements(extents: Sequence[np.ndarray]) -> np.ndarray:
    """Counts the elements of each value, float [N, values]. An axis of size 0 counts as 1, and so does a scalar."""
    counts = [np.maximum(e, 1).prod(axis=1, dtype=np.float64) for e in extents]
    return np.stack(counts, axis=1)
