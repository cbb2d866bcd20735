"""The result of a task on its way from the worker that made it."""

from __future__ import annotations

import dataclasses
import functools
import pickle
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from jdali._batches import Drawn, Provenance, SentBatch, drawn_by, receive_batch, send_batch
from jdali._workers import on_node, portable
from jdali.engine.recovery.blame import AttemptFailure
from jdali.engine.task import BatchTask
from jdali.graph import Node
from jdali.tensors import TensorList

SentResult: TypeAlias = "tuple[SentBatch, ...] | AttemptFailure"
"""The values that were to be made, or why they were not."""


def send_values(values: Iterable[TensorList]) -> tuple[SentBatch, ...]:
    """Describes values for another process."""
    send = functools.cache(Provenance.send)  # most share their provenance: it is sent once
    return tuple(send_batch(value, send) for value in values)


def send_failure(failure: AttemptFailure) -> AttemptFailure:
    """Returns a failure that can be pickled."""
    cause = portable(failure.cause)  # first: what is made of it is of its type
    blamed = {
        position: dataclasses.replace(why, error=_plain(why.error))
        for position, why in failure.blamed.items()
    }
    shown = _plain(failure.user_error())
    if where := on_node():  # it may be the node that cannot read a file
        shown.add_note(f"in a worker process{where}")
    user_error = functools.partial(pickle.loads, pickle.dumps(shown))
    return AttemptFailure(failure.operator, cause, user_error, blamed)


def _plain(error: Exception) -> Exception:
    """Returns the exception without the traceback that `portable` notes."""
    notes = list(getattr(error, "__notes__", ()))
    sent = portable(error)
    sent.__notes__ = notes
    return sent


def receive_values(
    sent: Sequence[SentBatch], task: BatchTask, sources: Mapping[str, object]
) -> list[TensorList]:
    """Makes the values that a worker sent.

    Args:
        sent: the values.
        task: that it carried out.
        sources: of the pipeline, by the names of their nodes.
    """
    receive = drawn_by(functools.cache(lambda name: drawn_from(sources, name, task)))
    return [receive_batch(batch, receive) for batch in sent]


def drawn_from(sources: Mapping[str, Any], name: str, task: BatchTask) -> Drawn:
    """Returns what the source of this name gave for a task."""
    if name in task.refs:
        return Drawn(sources[name].source, task.refs[name].indices, name)
    return Drawn(_nameless, np.arange(len(task)), name)


def _nameless(index: int) -> str:
    return ""


def by_name(sources: Mapping[Node, object]) -> dict[str, Any]:
    """Returns the sources of an engine by the names of their nodes."""
    return {node.name: source for node, source in sources.items()}
