"""Finds the samples that made an operator fail."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from jdali._batches import Drawn, Provenance
from jdali._errors import SkippedSample
from jdali.engine.failure import NodeFailure
from jdali.engine.sample_ids import SampleIds
from jdali.engine.task import BatchTask


@dataclasses.dataclass
class Blamed:
    """A sample that an operator could not work on: the error, and what the sources gave for it."""

    error: Exception
    drawn: list[Drawn] = dataclasses.field(default_factory=list)


def blame(failure: NodeFailure, part: SampleIds, made_of: Provenance | None) -> dict[int, Blamed]:
    """The samples that made an operator fail, by their position in what was drawn.

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
            if drawn is not None and drawn not in mine.drawn:
                mine.drawn.append(drawn)
    return blamed


def to_be_listed(task: BatchTask, operator: str, blamed: Mapping[int, Blamed]) -> list[SkippedSample]:
    """Returns the entries of `Pipeline.errors` for samples that an operator could not work on."""
    found = []
    for position, why in blamed.items():
        refs = [task.refs[d.source] for d in why.drawn if d.source in task.refs]
        epochs, indices, padded, *_ = refs[0] if refs else (task.ids.epoch, task.ids.index, ~task.mask)
        if padded[position] or not task.mask[position]:
            continue  # the repetition of a sample that is listed, or what stands in for one
        names = dict.fromkeys(d.name(int(d.index[position])) for d in why.drawn)
        path = ", ".join(name for name in names if name)
        epoch, index = int(epochs[position]), int(indices[position])
        found.append(SkippedSample(path, epoch, index, operator, str(why.error)))
    return found
