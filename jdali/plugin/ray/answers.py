"""Answers of actors: results and errors of tasks."""

from __future__ import annotations

import collections
import weakref
from collections.abc import Sequence
from concurrent.futures import Future

import ray

from jdali._workers import MadeTask, TaskOutcome, unpack
from jdali._workers.on_ray import ActorAnswer, ActorPlace
from jdali.plugin.ray.actor_slot import RayJob


def lease(answer: ActorAnswer, reference: ray.ObjectRef[object], returned: collections.deque[int]) -> int:
    """Keeps results in the object store until the last array over them is gone; returns their bytes.

    Args:
        answer: with the results.
        reference: to it.
        returned: gets the bytes then.
    """
    if answer.memory is None:
        return 0
    nbytes = answer.memory.nbytes
    weakref.finalize(answer.memory, _end_lease, returned, nbytes, reference).atexit = False
    return nbytes


def _end_lease(returned: collections.deque[int], nbytes: int, reference: ray.ObjectRef[object]) -> None:
    """Notes the end of a lease; the reference has kept the results in the object store until now."""
    returned.append(nbytes)


def start_error(place: ActorPlace, error: Exception) -> Exception:
    """Makes the error of a pipeline that cannot be started by an actor; it names the node."""
    failed = RuntimeError(f"Ray worker on node {place.node}: {error}")
    failed.__cause__ = error
    return failed


def resolve(jobs: Sequence[RayJob], answer: ActorAnswer) -> tuple[TaskOutcome, ...]:
    """Gives the tasks of a call their results, whose arrays are views of the object store, or their exceptions.

    Returns: what came of each; empty: there is one exception in place of all results.
    """
    outcomes = _unpacked(answer)
    if isinstance(outcomes, Exception):
        for job in jobs:
            job.future.set_exception(outcomes)
        return ()
    for job, outcome in zip(jobs, outcomes, strict=True):
        _resolve_one(job.future, outcome)
    return outcomes


def _unpacked(answer: ActorAnswer) -> tuple[TaskOutcome, ...] | Exception:
    assert answer.packed is not None
    try:
        outcomes: tuple[TaskOutcome, ...] | Exception = unpack(answer.packed, answer.memory)
    except Exception as error:
        return error
    return outcomes


def _resolve_one(future: Future[MadeTask], outcome: TaskOutcome) -> None:
    try:
        result = outcome.value()
    except Exception as error:
        future.set_exception(error)
        return
    if outcome.is_error:
        future.set_exception(result)
    else:
        future.set_result(MadeTask(result, outcome.seconds, outcome.cpu, outcome.nbytes))
