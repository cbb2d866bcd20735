"""Finds the samples that made an operator fail, and describes the failure."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from jdali._batches import Drawn, Provenance
from jdali._errors import OperatorError, SkippedSample
from jdali.engine.failure import NodeFailure
from jdali.engine.sample_ids import SampleIds
from jdali.engine.task import BatchTask


@dataclasses.dataclass
class Blamed:
    """A sample on which an operator failed.

    Attributes:
        error: what the operator raised.
        sources: names of the sources that gave the sample.
        files: names that these have for it.
    """

    error: Exception
    sources: list[str] = dataclasses.field(default_factory=list)
    files: list[str] = dataclasses.field(default_factory=list)

    def come_from(self, drawn: Drawn, position: int) -> None:
        """Notes what the sample was made of."""
        if drawn.source is not None and drawn.source not in self.sources:
            self.sources.append(drawn.source)
        name = drawn.name(int(drawn.index[position]))
        if name and name not in self.files:
            self.files.append(name)


@dataclasses.dataclass(frozen=True, eq=False)
class AttemptFailure:
    """Failure of the operator at which an attempt at a batch came to a stop.

    Attributes:
        operator: its name.
        cause: the first exception.
        user_error: makes the error for the user, to be raised from `cause`; another one each time, for its traceback
            holds the frames that hold this failure.
        blamed: by position the samples that failed; empty if the error is of the code and not of samples.
    """

    operator: str
    cause: Exception
    user_error: Callable[[], OperatorError]
    blamed: Mapping[int, Blamed]


def blame(failure: NodeFailure, part: SampleIds, made_of: Provenance | None) -> dict[int, Blamed]:
    """Returns the samples that made an operator fail, by their position in what was drawn.

    Where several samples were put together, any of them may be the bad one: but those from which the
    operator made another sample without an error are not.

    Args:
        failure: of the operator.
        part: the samples that it worked on.
        made_of: what they were made of; None: of nothing that was drawn.
    """

    def origins(i: int) -> list[tuple[Drawn | None, int]]:
        known = [] if made_of is None else made_of.origins(i)
        return [*known] or [(None, int(part.position[i]))]

    rows = {i: origins(i) for i in failure.failures if i is not None}
    good: set[int] = set()
    if any(len({position for _, position in found}) > 1 for found in rows.values()):
        good = {position for i in range(len(part)) if i not in rows for _, position in origins(i)}
    blamed: dict[int, Blamed] = {}
    for i, found in rows.items():
        for drawn, position in [origin for origin in found if origin[1] not in good] or found:
            mine = blamed.setdefault(position, Blamed(failure.failures[i]))
            if drawn is not None:
                mine.come_from(drawn, position)
    return blamed


def to_be_listed(task: BatchTask, operator: str, blamed: Mapping[int, Blamed]) -> list[SkippedSample]:
    """Returns the entries of `Pipeline.errors` for samples that an operator could not work on."""
    found = []
    for position, why in blamed.items():
        refs = [task.refs[name] for name in why.sources if name in task.refs]
        epochs, indices, padded, *_ = refs[0] if refs else (task.ids.epoch, task.ids.index, ~task.mask)
        if padded[position] or not task.mask[position]:
            continue  # the repetition of a sample that is listed, or what stands in for one
        epoch, index = int(epochs[position]), int(indices[position])
        found.append(SkippedSample(", ".join(why.files), epoch, index, operator, str(why.error)))
    return found
