"""Matches keyword arguments with the parameters of an augmentation's function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any


class MissingArgException(TypeError):
    """Raised if an augmentation is called without an argument that its function needs.

    Attributes:
        augmentation: the augmentation.
        missing_args: names of the missing arguments.
    """

    def __init__(self, message: str, augmentation: Any, missing_args: list[str]):
        super().__init__(message)
        self.augmentation, self.missing_args = augmentation, missing_args


class UnusedArgException(TypeError):
    """Raised if a call has an argument that no augmentation takes.

    Attributes:
        unused_args: names of the unused arguments.
    """

    def __init__(self, message: str, unused_args: list[str]):
        super().__init__(message)
        self.unused_args = unused_args


def further_parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    """Lists a function's parameters after the first two: the data, and the parameter that a magnitude bin determines."""
    parameters = enumerate(inspect.signature(function).parameters.values())
    return [
        p for i, p in parameters if p.kind is p.KEYWORD_ONLY or (p.kind is p.POSITIONAL_OR_KEYWORD and i >= 2)
    ]


def filter_unused_args(augmentations: Iterable[Any], kwargs: Mapping[str, object]) -> list[str]:
    """Lists the arguments that none of the augmentations takes."""
    used = {p.name for a in augmentations for p in further_parameters(a.op)}
    return [name for name in kwargs if name not in used]


def forbid_unused_kwargs(augmentations: Iterable[Any], kwargs: Mapping[str, object], call_name: str) -> None:
    """Raises UnusedArgException if `kwargs` has an argument that no augmentation takes."""
    unused = filter_unused_args(augmentations, kwargs)
    if unused:
        several = len(unused) > 1
        what = "kwargs" if several else "kwarg"
        raise UnusedArgException(
            f"The {call_name} got unexpected {what}. The {what} `{', '.join(unused)}` {'are' if several else 'is'} not used by "
            "any of the augmentations.",
            unused,
        )
