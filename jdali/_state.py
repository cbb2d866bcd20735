"""Checks the versions of saved states, and writes checkpoints as bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

CHECKPOINT_VERSION = 1


class StateError(ValueError):
    """Raised if a state does not fit the object that should restore it."""


class End:
    """Marks in a pipeline's state that an external source has ended: REACHED if `reset` was not called yet, LEFT if it was."""

    REACHED = "reached"
    LEFT = "left"


def check_version(
    owner: str, state: Mapping[str, object], version: int, *older: int, entries: Iterable[str] = ()
) -> None:
    """Raises `StateError` if the version of a state is neither `version` nor one of `older`, or if `entries` are missing.

    Args:
        owner: name of the object to restore, for the message.
        older: earlier versions that the object can still restore.
    """
    found = state.get("version") if isinstance(state, Mapping) else None
    if found is None:
        raise StateError(
            f"{owner}: this is not a state, as `get_state` gives one: {type(state).__name__} {state!r:.60}"
        )
    if found not in (version, *older):
        raise StateError(f"{owner}: a state of version {found!r}, expected {version}")
    if missing := [name for name in entries if name not in state]:
        raise StateError(
            f"{owner}: the state is of another object, or incomplete: it has no {', '.join(map(repr, missing))}"
        )


def to_checkpoint(pipeline: Mapping[str, object], iterator: Mapping[str, object] | None = None) -> bytes:
    """Writes the state of a pipeline, and of the iterator over it, as bytes."""
    return json.dumps(
        {"version": CHECKPOINT_VERSION, "pipeline": pipeline, "iterator": iterator}, separators=(",", ":")
    ).encode()


def from_checkpoint(data: str | bytes) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Reads the states of the pipeline and the iterator from the bytes of `to_checkpoint`."""
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise StateError(f"checkpoint: these are not the bytes of a checkpoint: {error}") from None
    check_version("checkpoint", parsed, CHECKPOINT_VERSION)
    return parsed["pipeline"], parsed["iterator"]
