"""Checks the arguments that describe a user's source, and finds out how to call it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable

from jdali._sources.items import is_callback

_CYCLES = {True: "quiet", False: "no", None: "no", "no": "no", "quiet": "quiet", "raise": "raise"}


def cycle_mode(given: object) -> str:
    """Returns the meaning of `cycle`: "no", "quiet" or "raise"."""
    if isinstance(given, (bool, str, type(None))) and given in _CYCLES:
        return _CYCLES[given]
    raise ValueError(
        f"external_source: Invalid value {given!r} for the argument `cycle`. Valid values are\n"
        '  - "no", False or None - it stays at its end\n'
        '  - "quiet", True - it begins again\n'
        '  - "raise" - it raises StopIteration and begins again.'
    )


def check_source(source: object, cycle: object, *, repeat_last: bool = False) -> None:
    """Raises TypeError if `source` is not a source, and ValueError for arguments that do not fit its kind."""
    if source is None:
        if cycle_mode(cycle) != "no":
            raise ValueError("external_source: `cycle` argument is only valid for iterable `source`")
        return
    if not callable(source) and not isinstance(source, Iterable) and not hasattr(source, "__getitem__"):
        raise TypeError(
            "external_source: The `source` must be callable, iterable or a parameterless generator function. It is "
            f"{type(source).__name__}"
        )
    if is_callback(source) and cycle is not None:
        raise ValueError(
            "external_source: The argument `cycle` can only be specified if `source` is iterable. It is a callback"
        )
    if repeat_last:
        raise ValueError(
            "external_source: ``repeat_last`` must not be set when using the ``source`` argument. It's usable only "
            "with manually fed `external_source`"
        )


def is_random_access(source: object) -> bool:
    """Returns True if a source can only be indexed. DALI has no such sources."""
    if callable(source) or isinstance(source, Iterable):
        return False
    return hasattr(source, "__len__") and hasattr(source, "__getitem__")


def takes_argument(function: Callable[..., object]) -> bool:
    """Returns True if a callback takes an index: a number, SampleInfo or BatchInfo; raises TypeError if it takes more."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    refused = {
        inspect.Parameter.VAR_POSITIONAL: "var-positional argument `*{}` which is",
        inspect.Parameter.VAR_KEYWORD: "var-keyword argument `**{}` which is",
        inspect.Parameter.KEYWORD_ONLY: "keyword-only argument `{}` which is",
    }
    if isinstance(function, functools.partial):  # arguments set by name appear as keyword-only
        del refused[inspect.Parameter.KEYWORD_ONLY]
        parameters = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
    found = [refused[p.kind].format(p.name) for p in parameters if p.kind in refused]
    positional = [p for p in parameters if p.kind not in refused and p.default is p.empty]
    if len(positional) > 1:
        found.append("more than one positional argument, which is")
    if found:
        raise TypeError(
            "external_source: The `source` callable must accept either 0 or 1 positional arguments to indicate whether "
            f"it accepts the batch or sample indexing information. Found {found[0]} not allowed."
        )
    return bool(positional)
