"""Matches keyword arguments with the parameters of an augmentation's function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class HasFunction(Protocol):
    """Protocol of an augmentation: an object whose function is `op`."""

    @property
    def op(self) -> Callable[..., Any]: ...


class MissingArgException(TypeError):
    """Raised for a call of an augmentation without an argument that it needs.

    Attributes:
        augmentation: the augmentation.
        missing_args: names of the arguments.
    """

    def __init__(self, message: str, augmentation: HasFunction, missing_args: list[str]):
        super().__init__(message)
        self.augmentation, self.missing_args = augmentation, missing_args


class UnusedArgException(TypeError):
    """Raised for an argument of a call that no augmentation takes.

    Attributes:
        unused_args: names of the arguments.
    """

    def __init__(self, message: str, unused_args: list[str]):
        super().__init__(message)
        self.unused_args = unused_args


def _named(function: Callable[..., object], skip_positional: int) -> list[inspect.Parameter]:
    """Lists the parameters that can be passed by name, without the first `skip_positional` positional ones."""
    parameters = enumerate(inspect.signature(function).parameters.values())
    return [
        p for i, p in parameters
        if p.kind in _BY_NAME and (i >= skip_positional or p.kind not in _POSITIONAL)
    ]  # fmt: skip


def get_num_positional_args(function: Callable[..., object]) -> int:
    """Counts a function's positional parameters."""
    return sum(p.kind in _POSITIONAL for p in inspect.signature(function).parameters.values())


def get_required_kwargs(function: Callable[..., object], skip_positional: int = 0) -> list[str]:
    """Lists the names of parameters without default, without the first `skip_positional` ones."""
    return [p.name for p in _named(function, skip_positional) if p.default is p.empty]


def get_missing_kwargs(
    function: Callable[..., object], kwargs: Mapping[str, object], skip_positional: int = 0
) -> list[str]:
    """Lists the names of required parameters that are not in `kwargs`."""
    return [name for name in get_required_kwargs(function, skip_positional) if name not in kwargs]


def filter_extra_accepted_kwargs(
    function: Callable[..., object], kwargs: Mapping[str, object], skip_positional: int = 0
) -> dict[str, Any]:
    """Returns the `kwargs` that the function has a parameter for."""
    names = {p.name for p in _named(function, skip_positional)}
    return {name: value for name, value in kwargs.items() if name in names}


def filter_unused_args(augmentations: Iterable[HasFunction], kwargs: Mapping[str, object]) -> list[str]:
    """Lists the names in `kwargs` for which no augmentation has a parameter."""
    used = {name for a in augmentations for name in filter_extra_accepted_kwargs(a.op, kwargs, 2)}
    return [name for name in kwargs if name not in used]


def forbid_unused_kwargs(
    augmentations: Iterable[HasFunction], kwargs: Mapping[str, object], call_name: str
) -> None:
    """Raises UnusedArgException if no augmentation takes one of `kwargs`."""
    unused = filter_unused_args(augmentations, kwargs)
    if unused:
        several = len(unused) > 1
        what = "kwargs" if several else "kwarg"
        raise UnusedArgException(
            f"The {call_name} got unexpected {what}. The {what} `{', '.join(unused)}` {'are' if several else 'is'} not used by "
            "any of the augmentations.",
            unused,
        )
