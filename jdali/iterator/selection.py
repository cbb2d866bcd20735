"""Samples of a batch that the user gets, by the rules for the last batch of an epoch."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jdali.engine import Result
from jdali.iterator.errors import IteratorError
from jdali.iterator.policy import EpochCounter, LastBatchPolicy


@dataclasses.dataclass(frozen=True)
class Selection:
    """Samples of one batch of each pipeline.

    Attributes:
        rows: for each pipeline the samples to take; None: all.
        belongs: bool [N], True for samples of this epoch, False for those that only fill up the batch.
        real: bool [N], the mask.
    """

    rows: tuple[np.ndarray | None, ...]
    belongs: np.ndarray
    real: np.ndarray


def select(counter: EpochCounter, counts: Sequence[int], results: Sequence[Result]) -> Selection | None:
    """Selects the samples that the user gets; None: there are none, the batch is left out.

    Args:
        counter: has the policy; its position does not count.
        counts: for each pipeline how many samples of the batch belong to the epoch.
        results: the batch of each pipeline.

    Raises:
        IteratorError: a batch is too small.
        OperatorError: some of the pipelines have lost all samples of the batch.
    """
    full = counter.batch_size
    lost = [result.nothing for result in results if result.nothing is not None]
    if len(lost) == len(results):
        return None
    if lost:  # the others' samples cannot make a batch without it
        raise lost[0]
    sizes = [len(result.mask) for result in results]
    pads = counter.policy is LastBatchPolicy.PAD
    if counter.length is not None:
        for size, count in zip(sizes, counts, strict=True):
            wanted = count if pads else full  # the rest of the last batch is padded here
            if size < wanted:
                raise IteratorError(
                    f"iterator: a pipeline gave {size} samples in place of {wanted}. Variable batch size is not supported "
                    "by the iterator when reader_name is provided or iterator size is set explicitly: a source that gives "
                    "smaller batches ends the epoch itself"
                )
    insides = [_inside(counter, result, n) for result, n in zip(results, counts, strict=True)]
    rows: list[np.ndarray | None] = [None] * len(results)
    if counter.policy is LastBatchPolicy.PARTIAL:
        rows = [None if inside.all() else np.flatnonzero(inside) for inside in insides]
    elif pads:
        rows = [None if n == full else np.minimum(np.arange(full), n - 1) for n in sizes]
    real, belongs = [], []
    for result, whole, picked in zip(results, insides, rows, strict=True):
        chosen = np.arange(len(whole)) if picked is None else picked
        inside = whole[chosen]
        inside[len(whole) :] = False  # PAD repeats the last sample
        belongs.append(inside)
        real.append(result.mask[chosen] & (inside | (not pads)))
    return Selection(tuple(rows), np.concatenate(belongs), np.concatenate(real))


def _inside(counter: EpochCounter, result: Result, count: int) -> np.ndarray:
    """Marks the samples of a batch that belong to the epoch, if the first `count` should."""
    inside: np.ndarray = np.arange(len(result.mask)) < count
    if counter.reader is None:
        return inside
    # The reader knows best which of its samples are repeated.
    return ~result.padded & (inside | (counter.policy is LastBatchPolicy.PAD))
