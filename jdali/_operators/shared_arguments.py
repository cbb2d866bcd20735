"""Arguments that several operators have in common, declared and described once."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def also_takes(template: Callable[..., object]) -> Callable[[Function], Function]:
    """Adds the keyword-only parameters of `template`, with their descriptions, to a function.

    The function takes them as `**options`. For `inspect.signature` and type hints it is as if they
    were written out in it; a parameter that it declares itself counts. One that begins with an underscore
    is filled in by the engine, and needs no description.
    """
    shared = {
        name: parameter
        for name, parameter in inspect.signature(template).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    hints = typing.get_type_hints(template, include_extras=True)
    descriptions = _descriptions(inspect.getdoc(template) or "")

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        added = [p for name, p in shared.items() if name not in signature.parameters]
        function.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
        function.__annotations__ |= {p.name: hints[p.name] for p in added}
        doc = inspect.getdoc(function) or ""
        head, _, tail = doc.partition("Args:\n")
        block, separator, rest = tail.partition("\n\n")
        parts = [block.rstrip(), *(descriptions[p.name] for p in added if p.name in descriptions)]
        lines = "\n".join(part for part in parts if part)
        function.__doc__ = f"{head.rstrip()}\n\nArgs:\n{lines}{separator}{rest}"
        return function

    return decorate


def _descriptions(doc: str) -> dict[str, str]:
    """Splits a docstring into the lines about each argument, by its name."""
    block = doc.partition("Args:\n")[2].partition("\n\n")[0].rstrip()
    entries = re.split(r"^(?=    \w+: )", block, flags=re.MULTILINE)[1:]
    return {entry.partition(":")[0].strip(): entry.rstrip() for entry in entries}
