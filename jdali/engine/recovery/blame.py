"""Samples that fail: which of those that were drawn are to blame, and what stands in for them.

With "skip" the reader's next sample takes the position, see `tasks.refill`. With "mask" the position is filled by
a good sample of the batch, or, if it has none, by the reader's next one, or by any of the data set; that
sample is also delivered where it belongs, so every good sample comes once an epoch with mask True.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from jdali._batches.provenance import Drawn, Provenance
from jdali.engine.failure import NodeFailure
from jdali.engine.tasks.feed import DrawnBatch, SkippedSample
from jdali.engine.tasks.refill import Refills
from jdali.engine.tasks.sample_ids import SampleIds
from jdali.engine.tasks.user_batches import chosen


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


def with_their_copies(draw: DrawnBatch, blamed: dict[int, Blamed]) -> dict[int, Blamed]:
    """Returns the blamed positions, and the others that repeat the same sample as padding."""
    for position, why in list(blamed.items()):
        first = draw.copied_from.get(position, position)
        for other in (first, *(p for p, source in draw.copied_from.items() if source == first)):
            blamed.setdefault(other, why)
        if position in draw.stand_ins:
            number = draw.stand_ins[position]
            blamed |= {p: why for p, n in draw.stand_ins.items() if n == number and p not in blamed}
    return blamed


def to_be_listed(draw: DrawnBatch, failure: NodeFailure, blamed: Mapping[int, Blamed]) -> list[SkippedSample]:
    """Returns the entries of `Pipeline.errors` for them."""
    found = []
    for position, why in blamed.items():
        refs = [draw.refs[d.source] for d in why.drawn if d.source in draw.refs]
        epochs, indices, padded = refs[0] if refs else (draw.epoch, draw.index, ~draw.mask)
        if padded[position] or not draw.mask[position]:
            continue  # the repetition of a sample that is listed, or what stands in for one
        names = dict.fromkeys(d.name(int(d.index[position])) for d in why.drawn)
        path = ", ".join(name for name in names if name)
        epoch, index = int(epochs[position]), int(indices[position])
        found.append(SkippedSample(path, epoch, index, failure.node.op.name, str(why.error)))
    return found


def replace(draw: DrawnBatch, blamed: Mapping[int, Blamed], refills: Refills, on_error: str) -> set[int]:
    """Puts other samples in the positions of those that failed.

    Args:
        draw: what the sources gave, which is changed.
        blamed: the samples that failed.
        refills: of the readers.
        on_error: "skip" or "mask".

    Returns: the positions in which there is another sample now.

    Raises:
        LookupError: there is no sample that can be read.
    """
    bad = np.array(sorted(blamed))
    good = np.setdiff1d(np.arange(len(draw)), bad)
    good = good[np.argsort(~draw.mask[good], kind="stable")]  # the batch's own samples first
    given = not draw.refs or any(d.source in draw.data for why in blamed.values() for d in why.drawn)
    if given and not (on_error == "mask" and len(good)):
        # An external source has nothing to refill from: the batch gets smaller, to nothing if need be.
        everything = set(range(len(draw)))
        _drop(draw, bad)
        return everything
    for position in bad.tolist():
        draw.copied_from.pop(position, None)
    to_fill = refills.replace(draw.positions, draw.refs, bad) if on_error == "skip" else bad
    if len(good):
        _copy(draw, int(good[0]), to_fill)
    elif on_error == "mask" and refills.show_following(draw.positions, draw.refs, bad, draw.shown):
        draw.shown += len(bad)
    elif len(to_fill):
        refills.stand_in(draw.refs, draw.stand_ins, to_fill)
    epochs, indices, _ = next(iter(draw.refs.values()), (draw.epoch, draw.index, None))
    draw.epoch[bad], draw.index[bad] = epochs[bad], indices[bad]
    if on_error == "mask":
        draw.mask[bad] = False
    return set(bad.tolist())


def _copy(draw: DrawnBatch, good: int, bad: np.ndarray) -> None:
    for epochs, indices, _ in draw.refs.values():
        epochs[bad], indices[bad] = epochs[good], indices[good]
    rows = np.arange(len(draw))
    rows[bad] = good
    for outputs in draw.data.values():
        outputs[:] = [chosen(samples, rows) for samples in outputs]
    draw.epoch[bad], draw.index[bad] = draw.epoch[good], draw.index[good]
    for position in bad.tolist():
        draw.copied_from[position] = draw.copied_from.get(good, good)
        draw.stand_ins.pop(position, None)


def _drop(draw: DrawnBatch, bad: np.ndarray) -> None:
    keep = np.setdiff1d(np.arange(len(draw)), bad)
    draw.epoch, draw.index, draw.mask = draw.epoch[keep], draw.index[keep], draw.mask[keep]
    for outputs in draw.data.values():
        outputs[:] = [chosen(samples, keep) for samples in outputs]
    for node, (epochs, indices, padded) in draw.refs.items():
        draw.refs[node] = (epochs[keep], indices[keep], padded[keep])
    draw.stand_ins.clear()
    draw.copied_from.clear()
