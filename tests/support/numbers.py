"""A pipeline whose samples are the numbers 0, 1, 2, ...: what an iterator gives can be read off."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np

from jdali import Pipeline
from jdali._operator import REGISTRY
from jdali.graph._node import call_operator
from jdali.readers._base import Reader


class NumberReader:
    """Sample i is int64 [1] with value i. Shards, padding and order are DALI's for unshuffled readers."""

    num_outputs = 1
    load_many, tasks = Reader.load_many, Reader.tasks

    def __init__(
        self, size: int, *, shard_id: int = 0, num_shards: int = 1, pad: bool = False, stick: bool = False,
        bad: tuple[int, ...] = (), delay: Any = None,
    ):  # fmt: skip
        self.size, self.first, self.shards, self.pad, self.stick = size, shard_id, num_shards, pad, stick
        self.bad, self.delay = bad, delay
        self.epoch, self.position = 0, 0

    def _shard(self) -> range:
        shard = self.first if self.stick else (self.first + self.epoch) % self.shards
        return range(shard * self.size // self.shards, (shard + 1) * self.size // self.shards)

    def next_batch(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = []
        for _ in range(count):
            shard = self._shard()
            if self.position >= len(shard) and not self.pad:
                self.epoch, self.position = self.epoch + 1, 0
                shard = self._shard()
            real = self.position < len(shard)
            rows.append((self.epoch, shard[self.position] if real else shard[-1], not real))
            self.position += 1
        full = -(-self.size // self.shards)
        if self.pad and self.position >= full:
            self.epoch, self.position = self.epoch + 1, 0
        epoch, index, padded = zip(*rows, strict=True)
        return np.array(epoch, np.uint32), np.array(index, np.uint32), np.array(padded)

    def load(self, index: int) -> tuple[np.ndarray, ...]:
        if self.delay is not None:
            self.delay(index)
        if index in self.bad:
            from jdali import SampleError

            raise SampleError(f"number {index} is bad")
        return (np.array([index], np.int64),)

    def source(self, index: int) -> str:
        return f"number {index}"

    def meta(self) -> dict[str, Any]:
        padded = -(-self.size // self.shards) * self.shards
        return {
            "epoch_size": self.size, "epoch_size_padded": padded, "number_of_shards": self.shards,
            "shard_id": self.first, "pad_last_batch": int(self.pad), "stick_to_shard": int(self.stick),
        }  # fmt: skip

    def get_state(self) -> dict[str, int]:
        return {"epoch": self.epoch, "position": self.position}

    def set_state(self, state: dict[str, int]) -> None:
        self.epoch, self.position = state["epoch"], state["position"]

    def cursor(self) -> NumberReader:
        return copy.copy(self)

    def skip(self, batches: int, count: int) -> None:
        for _ in range(batches):
            self.next_batch(count)

    def close(self) -> None:
        pass


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
