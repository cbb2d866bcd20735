"""Answers of actors: results and errors of tasks."""

from __future__ import annotations

import collections
from concurrent.futures import Future

import ray

from jdali._workers import MadeTask, unpack
from jdali._workers.on_ray import ActorAnswer, ActorPlace


def end_lease(returned: collections.deque[int], nbytes: int, reference: ray.ObjectRef[object]) -> None:
    """Notes the end of a lease; the reference has kept the result in the object store until now."""
    returned.append(nbytes)


def start_error(place: ActorPlace, error: Exception) -> Exception:
    """Makes the error of a pipeline that cannot be started by an actor; it names the node."""
    failed = RuntimeError(f"Ray worker on node {place.node}: {error}")
    failed.__cause__ = error
    return failed


def resolve(future: Future[MadeTask], answer: ActorAnswer) -> None:
    """Gives a future its result, whose arrays are views of the object store, or the exception of the maker."""
    assert answer.packed is not None
    try:
        result = unpack(answer.packed, answer.memory)
    except Exception as error:
        future.set_exception(error)
        return
    if answer.is_error:
        future.set_exception(result)
    else:
        future.set_result(MadeTask(result, answer.seconds, answer.cpu, answer.packed.size))
