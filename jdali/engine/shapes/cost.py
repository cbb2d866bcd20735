"""Cost of a batch: time for each element and each call, and the share that padding takes.

A model, good enough to choose between shapes and to say how much padding costs. Its constants were measured with
`benchmarks/shapes.py`, which prints them anew; those of an operator are in its record (`nanoseconds`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jdali.graph import DataNode, Stage, compiled

# Nanoseconds an element that an operator reads or writes on an accelerator: bound by memory. Most programs of
# `benchmarks/gpu_cost.py` take 0.0005 to 0.002 at best, for they move 1 to 5 times their inputs and outputs. On a CPU
# the operators say how long they take.
_DEVICE_NANOSECONDS = 0.002
# An element that is copied on the host or written to new memory there; one that is sent to an accelerator.
_CPU_MOVING = 0.2
_DEVICE_MOVING = 0.02

# Samples that take less time are padded more, for the programs are what costs then. An accelerator takes 20 us for a
# decoded picture, most of it to receive the pixels, and padding has a share of that as well.
_SECONDS_WORTH_A_PROGRAM = {"cpu": 100e-6, "gpu": 5e-6}
# One call of a program costs about 0.3 ms on the host. Rows of a call that no sample fills are computed all the
# same, so a call is not made longer than pays for its overhead.
SECONDS_A_CALL = 8e-3
# Of the elements of a roomy padded shape, how many are a sample's.
TRUE_SHARE = 0.25


class StageCost:
    """The time a stage takes for a sample, from the sizes of its values: linear in their elements.

    Values are in the order of `values_of`. An operator's time may follow the padded size of a value or its true
    one (see `free_padding` of the operator).

    Attributes:
        seconds_worth_a_program: a sample that takes less is padded more, so that programs are fewer.
        free: bool [values]: padding of the value costs next to no time.
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
        self.free = self._padded == 0
        # Inputs are copied to where the program finds them; only an accelerator gets the padding, too. What is
        # made lies in new memory, padding and all.
        if cpu:
            self._true[: len(stage.inputs)] += _CPU_MOVING
            self._padded[len(stage.inputs) :] += _CPU_MOVING
        else:
            self._padded[: len(stage.inputs)] += _DEVICE_MOVING

    def seconds(self, true: np.ndarray, padded: np.ndarray) -> np.ndarray:
        """Estimates seconds, float [N], for samples whose values have these numbers of elements, [N, values] each."""
        nanoseconds: np.ndarray = true @ self._true + padded @ self._padded
        return nanoseconds * 1e-9


def values_of(stage: Stage) -> list[DataNode]:
    """Lists the values of a stage: its inputs and the outputs of its operators."""
    return [*stage.inputs, *(v for node in stage.nodes for v in node.outputs)]


def elements(extents: Sequence[np.ndarray]) -> np.ndarray:
    """Counts the elements of each value, float [N, values]; an empty value, or a number, counts as one."""
    counts = [np.maximum(e, 1).prod(axis=1, dtype=np.float64) for e in extents]
    return np.stack(counts, axis=1)
