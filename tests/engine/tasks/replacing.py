"""A reader whose batches are drawn and settled by hand, for tests of what takes the positions of bad samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from jdali.engine.tasks.leads import Leads, Positions
from jdali.readers.base import Reader
from jdali.readers.order.epochs import SampleRefs


class Expected(NamedTuple):
    """A batch as it was drawn."""

    positions: Positions
    expected: Mapping[str, SampleRefs]


class Epoch:
    """A reader called "source" with its leads; draws as `Feed` does."""

    def __init__(self, reader: Reader):
        self.reader, self.leads = reader, Leads(["source"])

    def draw(self, count: int = 4) -> Expected:
        refs = self.reader.next_batch(count)
        positions = Positions({"source": refs}, {"source": self.reader.cursor()})
        return Expected(positions, self.leads.expect(positions))
