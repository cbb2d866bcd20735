"""Random numbers that decide on augmentations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from jdali import fn
from jdali.auto_aug.core._args import filter_unused_args
from jdali.data_node import DataNode


def seeds(seed: int | None) -> Iterator[int | None]:
    """Seeds for any number of operators that must not draw the same numbers; None: those of the pipeline."""
    if seed is None or seed < 0:
        while True:
            yield None
    generator = np.random.Generator(np.random.Philox(seed))
    while True:
        yield int(generator.integers(1 << 62))


def one_of(count: int, seed: int | None) -> DataNode:
    """Draws 0 to `count` - 1 for each sample, all as likely."""
    return fn.random.uniform(values=list(range(count)), dtype=np.int32, seed=seed)


def check_bins(num_magnitude_bins: object, who: str) -> None:
    """Raises ValueError unless it is a number of bins."""
    if not isinstance(num_magnitude_bins, int) or num_magnitude_bins < 1:
        raise ValueError(
            f"{who}: The `num_magnitude_bins` must be a positive integer, got {num_magnitude_bins!r}."
        )


def warping(augmentations: list[Any], **kwargs: object) -> dict[str, Any]:
    """Returns the settings of warps if any augmentation is a warp; without one they are no error, for they have defaults."""
    unused = filter_unused_args(augmentations, kwargs)
    return {name: value for name, value in kwargs.items() if name not in unused}


def without(augmentations: list[Any], excluded: Any, suite: str) -> list[Any]:
    """Returns the augmentations of a suite except for those of these names.

    Raises:
        ValueError: the suite has none of that name.
    """
    names = {augmentation.name for augmentation in augmentations}
    for name in excluded or ():
        if name not in names:
            raise ValueError(
                f"The `{name}` was specified in `excluded`, but the {suite} suite does not contain augmentation with this "
                f"name. The augmentations in the suite are: {', '.join(sorted(names))}."
            )
    return [augmentation for augmentation in augmentations if augmentation.name not in (excluded or ())]
