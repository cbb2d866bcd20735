"""The result of a task on its way from the worker that made it."""

from __future__ import annotations

import dataclasses
import functools
import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches import Drawn, Provenance, SentBatch, drawn_by, receive_batch, send_batch
from jdali._workers import on_node, portable
from jdali.engine.recovery.batch_result import AttemptFailure, BatchResult
from jdali.engine.recovery.blame import Blamed
from jdali.engine.task import BatchTask
from jdali.graph import Node
from jdali.tensors import TensorList


@dataclasses.dataclass(frozen=True)
class SentBlame:
    """A sample that failed: the error, and the names of the sources that gave it."""

    error: Exception
    sources: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class SentFailure:
    """A `AttemptFailure` for another process.

    Attributes:
        operator: its name.
        cause: the first exception.
        user_error: pickled.
        blamed: by position the samples that failed.
    """

    operator: str
    cause: Exception
    user_error: bytes
    blamed: Mapping[int, SentBlame]


@dataclasses.dataclass(frozen=True)
class SentResult:
    """A `BatchResult` for another process.

    Attributes:
        values: those that were to be made; empty after a failure.
        failure: why there are no values; None: there are.
    """

    values: tuple[SentBatch, ...]
    failure: SentFailure | None


def send_result(result: BatchResult) -> SentResult:
    """Describes a result."""
    failure = result.failure
    if failure is None:
        # Most outputs share their provenance: it is sent once.
        send = functools.cache(Provenance.send)
        return SentResult(tuple(send_batch(output, send) for output in result.outputs), None)
    cause = portable(failure.cause)  # first: what is made of it is of its type
    blamed = {
        position: SentBlame(_plain(why.error), tuple(drawn.source for drawn in why.drawn))
        for position, why in failure.blamed.items()
    }
    shown = _plain(failure.user_error())
    if where := on_node():  # it may be the node that cannot read a file
        shown.add_note(f"in a worker process{where}")
    user_error = pickle.dumps(shown)
    return SentResult((), SentFailure(failure.operator, cause, user_error, blamed))


def _plain(error: Exception) -> Exception:
    """The exception without its traceback, which `portable` notes where it is shown."""
    notes = list(getattr(error, "__notes__", ()))
    sent = portable(error)
    sent.__notes__ = notes
    return sent


def receive_failure(sent: SentFailure, task: BatchTask, sources: Mapping[str, object]) -> AttemptFailure:
    """Makes a failure of what `send_result` returned; see `receive_values`."""
    blamed = {
        position: Blamed(why.error, [drawn_from(sources, name, task) for name in why.sources])
        for position, why in sent.blamed.items()
    }

    # Each time another one, as `AttemptFailure` promises.
    user_error = functools.partial(pickle.loads, sent.user_error)
    return AttemptFailure(sent.operator, sent.cause, user_error, blamed)


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
    """The sources of an engine by the names of their nodes."""
    return {node.name: source for node, source in sources.items()}
