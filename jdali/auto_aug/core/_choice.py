"""Chooses an augmentation for each sample, and draws the random numbers of the choice."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from jdali import fn
from jdali.auto_aug.core._args import filter_unused_args
from jdali.auto_aug.core._augmentation import Augmentation
from jdali.auto_aug.core._modes import in_either_mode
from jdali.data_node import DataNode
from jdali.graph import choose


def seeds(seed: int | None) -> Iterator[int | None]:
    """Yields distinct seeds for operators. If `seed` is None or negative, yields None: operators then use the pipeline's seed."""
    if seed is None or seed < 0:
        while True:
            yield None
    generator = np.random.Generator(np.random.Philox(seed))
    while True:
        yield int(generator.integers(1 << 62))


def one_of(count: int, seed: int | None) -> DataNode:
    """Draws an integer from 0 to `count` - 1 for each sample, with equal probabilities."""
    return fn.random.uniform(values=list(range(count)), dtype=np.int32, seed=seed)


def check_bins(num_magnitude_bins: object, who: str) -> None:
    """Raises ValueError unless the number of bins is a positive integer."""
    if not isinstance(num_magnitude_bins, int) or num_magnitude_bins < 1:
        raise ValueError(
            f"{who}: The `num_magnitude_bins` must be a positive integer, got {num_magnitude_bins!r}."
        )


def warping(augmentations: list[Any], **kwargs: object) -> dict[str, Any]:
    """Returns the `kwargs` that at least one augmentation takes.

    Only augmentations that move pixels have further arguments. If all are excluded, passing `kwargs` would be an error.
    """
    unused = filter_unused_args(augmentations, kwargs)
    return {name: value for name, value in kwargs.items() if name not in unused}


def without(augmentations: list[Any], excluded: Any, suite: str) -> list[Any]:
    """Returns the augmentations of a suite whose names are not in `excluded`.

    Raises:
        ValueError: the suite has no augmentation with a name in `excluded`.
    """
    names = {augmentation.name for augmentation in augmentations}
    for name in excluded or ():
        if name not in names:
            raise ValueError(
                f"The `{name}` was specified in `excluded`, but the {suite} suite does not contain augmentation with this "
                f"name. The augmentations in the suite are: {', '.join(sorted(names))}."
            )
    return [augmentation for augmentation in augmentations if augmentation.name not in (excluded or ())]


@in_either_mode
def select(ops: Sequence[Callable[..., Any]], selected_op_idx: Any, *op_args: Any, **op_kwargs: Any) -> Any:
    """Calls `ops[selected_op_idx](*op_args, **op_kwargs)` for each sample.

    Each operation runs once per batch, on the samples that chose it; an operation that no sample chose does not run.

    Args:
        ops: augmentations, or other functions that call operators.
        selected_op_idx: index into `ops`: an int for all samples, or an integer for each sample.
        op_args, op_kwargs: arguments; batches are split by the choice.

    Returns: a batch, or a structure of tuples, lists and dicts of batches if the operations return one.
    """
    if not ops:
        raise ValueError("select: there is nothing to select from")
    if len(ops) == 1:
        return ops[0](*op_args, **op_kwargs)
    return choose(selected_op_idx, [_case(op, op_args, op_kwargs) for op in ops], "select")


def _case(
    op: Callable[..., object], args: Sequence[object], kwargs: dict[str, object]
) -> Callable[[], object]:
    """Returns the function of a branch, which calls `op`.

    Parameters of augmentations are looked up before the batch is split, so that one program looks them up for all branches.
    """
    own_call = isinstance(op, Augmentation) and type(op).__call__ is Augmentation.__call__
    bound = op.bound(*args, **kwargs) if own_call else functools.partial(op, *args, **kwargs)  # type: ignore[attr-defined]

    # Autograph converts this function, so that a conditional in the operation gets only this branch's samples.
    def case() -> object:
        return bound()

    return case
