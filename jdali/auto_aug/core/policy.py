"""Defines the policies of AutoAugment, sequences of augmentations with probabilities and magnitudes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from jdali._system.tracebacks import warn_user
from jdali.auto_aug.core._augmentation import Augmentation

# (augmentation, probability that it is applied, magnitude bin). The bin is None for an augmentation without magnitudes.
Operation: TypeAlias = tuple[Augmentation, float, "int | None"]


class Policy:
    """Holds sequences of augmentations; each sample chooses one of them, with equal probabilities.

    See "AutoAugment: Learning Augmentation Policies from Data", https://arxiv.org/abs/1805.09501.

    Args:
        name: name of the policy, for messages.
        num_magnitude_bins: number of magnitude bins.
        sub_policies: sequences of (augmentation, probability from 0 to 1, magnitude bin). The bin of an augmentation without
            magnitudes is None. If two different augmentations share a name, all names get a number as a prefix.

    Raises:
        TypeError, ValueError: an argument has the wrong form or is out of range.
    """

    def __init__(self, name: str, num_magnitude_bins: int, sub_policies: Sequence[Sequence[Operation]]):
        if not isinstance(num_magnitude_bins, int) or num_magnitude_bins < 1:
            raise ValueError(
                f"Policy: The `num_magnitude_bins` must be a positive integer, got {num_magnitude_bins!r}."
            )
        if not isinstance(sub_policies, (list, tuple)):
            raise TypeError(
                f"Policy: The `sub_policies` must be a list or tuple of sub policies, got {type(sub_policies)}."
            )
        self.name, self.num_magnitude_bins = name, num_magnitude_bins
        for sub_policy in sub_policies:
            if not isinstance(sub_policy, (list, tuple)):
                raise TypeError(f"Policy: Each sub policy must be a list or tuple, got {sub_policy!r}.")
            for operation in sub_policy:
                self._check(operation)
        self.sub_policies = _with_distinct_names(sub_policies)

    def _check(self, operation: object) -> None:
        if not isinstance(operation, (list, tuple)) or len(operation) != 3:
            raise ValueError(
                "Policy: Each operation in sub policy must be specified as a triple: (augmentation, probability, magnitude). "
                f"Got {operation!r}."
            )
        augmentation, probability, magnitude = operation
        if not isinstance(augmentation, Augmentation):
            raise TypeError(
                f"Policy: Each augmentation in sub policies must be an instance of Augmentation. Got `{augmentation}`. Did you "
                "forget to use `@augmentation` decorator?"
            )
        name, policy = augmentation.name, self.name
        if not isinstance(probability, (int, float)) or not 0 <= probability <= 1:
            raise ValueError(
                f"Policy: Probability of applying the augmentation must be a number from `[0, 1]` range. Got `{probability}` "
                f"for augmentation `{name}` in policy `{policy}`."
            )
        if probability == 0:
            warn_user(
                f"The augmentation `{name}` in policy `{policy}` is used with probability 0 in one of the sub-policies."
            )
        if magnitude is None:
            if augmentation.mag_range is not None:
                raise ValueError(
                    f"Policy: The augmentation `{name}` has `mag_range` specified, so the magnitude bin is required. However, "
                    f"got `None` in the policy `{policy}`."
                )
            return
        if augmentation.mag_range is None:
            warn_user(
                f"The magnitude bin `{magnitude}` for augmentation `{name}` in policy `{policy}` will be ignored. The "
                "augmentation does not accept magnitudes (as it has no `mag_range` specified). You can specify `None` "
                f"instead of `{magnitude}` to silence this warning."
            )
        if not isinstance(magnitude, int) or not 0 <= magnitude < self.num_magnitude_bins:
            raise ValueError(
                f"Policy: Magnitude of the augmentation must be an integer from `[0, {self.num_magnitude_bins - 1}]` range. Got "
                f"`{magnitude!r}` for augmentation `{name}` in policy `{policy}`."
            )

    @property
    def augmentations(self) -> dict[str, Augmentation]:
        """Returns the augmentations by name, in alphabetical order."""
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
    """Prefixes all names with numbers if two different augmentations share a name."""
    order = list(dict.fromkeys(augmentation for sub in sub_policies for augmentation, _, _ in sub))
    renamed = {augmentation: augmentation for augmentation in order}
    if len({augmentation.name for augmentation in order}) < len(order):
        digits = len(str(len(order) - 1))
        for number, augmentation in enumerate(order):
            renamed[augmentation] = augmentation.augmentation(name=f"{number:0{digits}}__{augmentation.name}")
    return tuple(tuple((renamed[a], p, magnitude) for a, p, magnitude in sub) for sub in sub_policies)
