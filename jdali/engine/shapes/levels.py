"""The levels of the stages of a pipeline, counted over its batches in their order.

A `StageLevel` is immutable. `StageShapes.group` takes the one that holds before a batch and returns the one that
holds after it, which is the whole memory of padded shapes. Batches come to a stage in their order, by the gate before
it, so a level is a function of the samples up to there, and not of how fast each of the batches in flight is.

    Levels                      of a stream of batches: a pipeline's own, or that of a twin
      └─ batch() ─▶ BatchLevels goes with a batch through the steps: of(stage), note(stage, level)
      ◀─ settle() ───────┘      what its state holds: the levels after the last batch that was settled
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from jdali.engine.shapes.buckets import Group

Shape = tuple[int, ...]

# Shapes of a stage at one level; with more it rises to a level at which its samples have fewer.
MOST_SHAPES = 16


@dataclasses.dataclass(frozen=True)
class StageLevel:
    """The level of a stage, and what was counted at it.

    Attributes:
        number: the level, see `coarse`.
        seen: for each padded shape at this level the number of its samples.
        patience: how many times as many shapes as usual the stage may have, as no level had fewer.
    """

    number: int = 0
    seen: Mapping[Shape, int] = dataclasses.field(default_factory=dict)
    patience: float = 1.0

    def counted(self, groups: Sequence[Group]) -> StageLevel:
        """Returns the level with the samples of these groups counted."""
        seen = dict(self.seen)
        for group in groups:
            seen[group.shape] = seen.get(group.shape, 0) + len(group.samples)
        return dataclasses.replace(self, seen=seen)

    def is_full(self, most: int) -> bool:
        """True if there are too many shapes."""
        return len(self.seen) > most * self.patience


class Levels:
    """The levels of all stages over one stream of batches."""

    def __init__(self) -> None:
        self._now: dict[str, StageLevel] = {}
        self._settled: dict[str, StageLevel] = {}

    def batch(self) -> BatchLevels:
        """Returns the levels for the next batch; what it counts is counted for those after it."""
        return BatchLevels(self._now, self._settled, {})

    def of(self, stage: str) -> StageLevel:
        """Returns the level of a stage after the last batch that was settled."""
        return self._settled.get(stage, _FINEST)

    def copy(self) -> Levels:
        """Returns the levels after the last batch that was settled, for a stream of its own."""
        copy = Levels()
        copy._settled = dict(self._settled)
        copy._now = dict(self._settled)
        return copy

    def get_state(self) -> dict[str, int]:
        """Returns the levels above 0 after the last batch that was settled, by the names of the stages."""
        return _numbers(self._settled)

    def set_state(self, state: Mapping[str, int], *, same_stream: bool = False) -> None:
        """Restores levels; no batch may be under way.

        Args:
            state: from `get_state`; a stage that is not in it begins at level 0.
            same_stream: what was counted at a level that stays is kept.
        """
        kept = self._settled if same_stream else {}
        levels = {stage: StageLevel(int(number)) for stage, number in state.items()}
        levels |= {stage: was for stage, was in kept.items() if was.number == state.get(stage, 0)}
        self._settled, self._now = levels, dict(levels)


class BatchLevels:
    """The levels that hold for one batch: an argument of its steps, which return new ones."""

    def __init__(
        self,
        now: dict[str, StageLevel] | None,
        settled: dict[str, StageLevel],
        noted: dict[str, StageLevel],
    ):
        """See `Levels.batch`.

        Args:
            now: of the stream, after the last batch that came to each stage; None: this one is not counted.
            settled: of the stream, after the last batch that was settled.
            noted: after this batch.
        """
        self._now, self._settled, self._noted = now, settled, noted

    def of(self, stage: str) -> StageLevel:
        """Returns the level of a stage before this batch."""
        before = self._settled if self._now is None else self._now
        return self._noted.get(stage) or before.get(stage, _FINEST)

    def note(self, stage: str, level: StageLevel) -> None:
        """Notes the level of a stage after this batch."""
        if self._now is not None:
            self._noted[stage] = self._now[stage] = level

    def again(self) -> BatchLevels:
        """Returns the levels for making the batch once more: it is not counted, for later batches were."""
        return BatchLevels(None, self._settled, self._noted)

    def settle(self) -> None:
        """Notes that all batches before this one are settled, and this one is now."""
        self._settled |= self._noted

    def get_state(self) -> dict[str, int]:
        """See `Levels.get_state`; of this batch's stream."""
        return _numbers(self._settled)


def _numbers(levels: Mapping[str, StageLevel]) -> dict[str, int]:
    return {stage: level.number for stage, level in levels.items() if level.number}


_FINEST = StageLevel()
