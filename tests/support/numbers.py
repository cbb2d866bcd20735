"""A pipeline whose samples are the numbers 0, 1, 2, ...: what an iterator gives can be read off."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from jdali import Pipeline, SampleError
from jdali._operators.record import REGISTRY
from jdali.graph import call_operator
from jdali.readers.base import Reader


class NumberReader(Reader):
    """Sample i is int64 [1] with value i.

    Args:
        bad: numbers that cannot be read.
        delay: called with each number before it is read.
        shuffle: the numbers come in a random order.
    """

    def __init__(
        self, size: int, *, shard_id: int = 0, num_shards: int = 1, pad: bool = False, stick: bool = False,
        bad: tuple[int, ...] = (), delay: Any = None, shuffle: bool = False,
    ):  # fmt: skip
        options = {
            "shard_id": shard_id, "num_shards": num_shards, "pad_last_batch": pad, "stick_to_shard": stick,
            "random_shuffle": shuffle,
        }  # fmt: skip
        super().__init__(size, options)
        self.bad, self.delay = bad, delay

    def load(self, index: int) -> tuple[np.ndarray, ...]:
        if self.delay is not None:
            self.delay(index)
        if index in self.bad:
            raise SampleError(f"number {index} is bad")
        return (np.array([index], np.int64),)

    def source(self, index: int) -> str:
        return f"number {index}"


def numbers(reader: NumberReader, name: str = "Reader", outputs: int = 1) -> Any:
    """The reader's node in the pipeline that is being defined."""
    record = dataclasses.replace(REGISTRY["external_source"], name="numbers")
    return call_operator(record, (), {}, device="cpu", name=name, runtime=reader, num_outputs=outputs)


def pipeline(
    size: int, batch_size: int, *, pipeline_args: dict[str, Any] | None = None, **reader: Any
) -> Pipeline:
    """A pipeline that gives the numbers below `size`."""
    pipe = Pipeline(batch_size=batch_size, num_threads=1, seed=1, **(pipeline_args or {}))
    with pipe:
        pipe.set_outputs(numbers(NumberReader(size, **reader)))
    return pipe
