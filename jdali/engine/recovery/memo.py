"""Keeps read and computed samples of a batch that is made again because some of its samples are bad."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Hashable, Sequence
from typing import Any

import numpy as np

from jdali._batches import Store
from jdali.engine.tasks.sample_ids import SampleIds
from jdali.graph import Node
from jdali.readers.base import joined, nothing


@dataclasses.dataclass
class Kept:
    """Samples of a batch that were read or made already.

    Attributes:
        columns: their outputs.
        rows: row in the columns, by what identifies a sample.
    """

    columns: tuple[Store, ...]
    rows: dict[Hashable, int] = dataclasses.field(default_factory=dict)

    @classmethod
    def nothing(cls, outputs: int) -> Kept:
        return cls((nothing(),) * outputs)

    def add(self, keys: Sequence[Hashable], columns: tuple[Store, ...]) -> None:
        start = len(self.columns[0]) if self.columns else 0
        self.columns = joined([self.columns, columns])
        self.rows.update((key, start + row) for row, key in enumerate(keys))

    def select(self, keys: Sequence[Hashable]) -> tuple[Store, ...]:
        """The outputs of these samples."""
        rows = np.array([self.rows[key] for key in keys], np.int64)
        return tuple(column.select(rows) for column in self.columns)


class Memo:
    """Results of one batch that may serve again.

    Attributes:
        read: by number of the reader what was read, by epoch and index.
        batches: by number of the operator what was made of many samples, by position in the batch.
        samples: by number of the operator and position in the batch what was made of one sample.
    """

    def __init__(self) -> None:
        self.read: dict[int, Kept] = {}
        self.batches: dict[int, Kept] = {}
        self.samples: dict[tuple[int, int], Any] = {}

    def forget(self, positions: Container[int]) -> None:
        """Other samples stand in these positions from now on."""
        self.samples = {key: value for key, value in self.samples.items() if key[1] not in positions}
        for kept in self.batches.values():
            kept.rows = {key: row for key, row in kept.rows.items() if key not in positions}

    def remembering(
        self, node: Node, ids: SampleIds, function: Callable[[int], object]
    ) -> Callable[[int], Any]:
        """`function` of a sample, except for samples whose result is known."""

        def remembered(i: int) -> Any:
            key = (node.id, int(ids.position[i]))
            if key not in self.samples:
                self.samples[key] = function(i)
            return self.samples[key]

        return remembered


def follows_its_position(node: Node) -> bool:
    """True if a sample of the output depends only on the data that the sources gave for its position."""
    values = [*node.data_inputs, *node.arg_inputs.values()]
    return node.by_sample and all(follows_its_position(v.source) for v in values)
