"""Policies of AutoAugment: sequences of augmentations, with how likely and how strong each is."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

from jdali.auto_aug.core._augmentation import Augmentation

# An augmentation, the probability that it is applied, and its magnitude bin (None: it has no magnitude).
Operation: TypeAlias = tuple[Augmentation, float, "int | None"]


class Policy:
    """Sequences of augmentations of which each sample gets one, all as likely.

    See "AutoAugment: Learning Augmentation Policies from Data", https://arxiv.org/abs/1805.09501.

    Args:
        name: to show.
        num_magnitude_bins: how many there are.
        sub_policies: the sequences, of (augmentation, probability from 0 to 1, magnitude bin). The bin of an
            augmentation without magnitudes is None. Different augmentations of one name get numbers before it.

    Raises:
        TypeError, ValueError: something is not as described.
    """

    def __init__(self, name: str, num_magnitude_bins: int, sub_policies: Sequence[Sequence[Operation]]):
        if not isinstance(num_magnitude_bins, int) or num_magnitude_bins < 1:
            raise ValueError(f"Policy: num_magnitude_bins must be a positive int, got {num_magnitude_bins!r}")
        if not isinstance(sub_policies, (list, tuple)):
            raise TypeError(
                f"Policy: sub_policies must be a list or tuple, got {type(sub_policies).__name__}"
            )
        self.name, self.num_magnitude_bins = name, num_magnitude_bins
        for sub_policy in sub_policies:
            if not isinstance(sub_policy, (list, tuple)):
                raise TypeError(f"Policy: each sub-policy must be a list or tuple, got {sub_policy!r}")
            for operation in sub_policy:
                self._check(operation)
        self.sub_policies = _with_distinct_names(sub_policies)

    def _check(self, operation: Any) -> None:
        if not isinstance(operation, (list, tuple)) or len(operation) != 3:
            raise ValueError(
                f"Policy: an operation is (augmentation, probability, magnitude bin), got {operation!r}"
            )
        augmentation, probability, magnitude = operation
        if not isinstance(augmentation, Augmentation):
            raise TypeError(
                f"Policy: {augmentation!r} is no Augmentation: decorate the function with @augmentation"
            )
        who = f"{augmentation.name} in policy {self.name!r}"
        if not isinstance(probability, (int, float)) or not 0 <= probability <= 1:
            raise ValueError(f"Policy: the probability must be from 0 to 1, got {probability!r} for {who}")
        if probability == 0:
            warnings.warn(f"Policy: the probability of {who} is 0: it is never applied", stacklevel=4)
        if magnitude is None:
            if augmentation.mag_range is not None:
                raise ValueError(f"Policy: {who} has a mag_range and needs a magnitude bin, got None")
            return
        if augmentation.mag_range is None:
            warnings.warn(
                f"Policy: {who} has no mag_range, so its magnitude bin {magnitude} has no effect; give None",
                stacklevel=4,
            )
        if not isinstance(magnitude, int) or not 0 <= magnitude < self.num_magnitude_bins:
            raise ValueError(
                f"Policy: the magnitude bin must be an int from 0 to {self.num_magnitude_bins - 1}, got "
                f"{magnitude!r} for {who}"
            )

    @property
    def augmentations(self) -> dict[str, Augmentation]:
        """The augmentations by name, in the order of their names."""
        found = {augmentation.name: augmentation for sub in self.sub_policies for augmentation, _, _ in sub}
        return dict(sorted(found.items()))

    def __repr__(self) -> str:
        rows = [repr([(a.name, p, magnitude) for a, p, magnitude in sub]) for sub in self.sub_policies]
        named = [f"{name!r}: {augmentation!r}" for name, augmentation in self.augmentations.items()]
        return (
            f"Policy(name={self.name!r}, num_magnitude_bins={self.num_magnitude_bins}, "
            f"sub_policies=[{_indented(rows)}], augmentations={{{_indented(named)}}})"
        )


def _indented(rows: Sequence[str]) -> str:
    return ",".join(f"\n\t{row}" for row in rows)


def _with_distinct_names(sub_policies: Sequence[Sequence[Operation]]) -> tuple[tuple[Operation, ...], ...]:
    """The sub-policies, in which no two augmentations have one name: else all get numbers before their names."""
    order = list(dict.fromkeys(augmentation for sub in sub_policies for augmentation, _, _ in sub))
    renamed = {augmentation: augmentation for augmentation in order}
    if len({augmentation.name for augmentation in order}) < len(order):
        digits = len(str(len(order) - 1))
        for number, augmentation in enumerate(order):
            renamed[augmentation] = augmentation.augmentation(name=f"{number:0{digits}}__{augmentation.name}")
    return tuple(tuple((renamed[a], p, magnitude) for a, p, magnitude in sub) for sub in sub_policies)
