"""A pipeline is made of parts; some of its methods are theirs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import attrgetter
from typing import Any, Concatenate, ParamSpec, TypeVar

Part = TypeVar("Part")
P = ParamSpec("P")
R = TypeVar("R")


def part_of(part: str, method: Callable[Concatenate[Part, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method of a part as the whole's own, with its signature and documentation.

    Args:
        part: the attribute of the whole that holds it.
        method: of the part's class.
    """
    find = attrgetter(part)

    @functools.wraps(method)
    def call(whole: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return method(find(whole), *args, **kwargs)

    return call
