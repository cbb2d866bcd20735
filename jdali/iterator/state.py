"""Saves the state of an iterator and restores it, even into a different number of pipelines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jdali._state import End, StateError, check_version, to_checkpoint
from jdali.iterator.policy import EpochCounter
from jdali.pipeline import Pipeline
from jdali.readers.order.epochs import merged_state

STATE_VERSION = 1


def state_of(
    counter: EpochCounter, *, ended: bool, pipelines: Sequence[Mapping[str, object]]
) -> dict[str, Any]:
    """Returns the state of an iterator as JSON-serializable data.

    Args:
        ended: True if the epoch has ended and the next epoch has not begun.
        pipelines: states of the pipelines. The fingerprint of the graph is stored only once if it is the same in all.
    """
    graph = pipelines[0].get("graph")
    return {
        "version": STATE_VERSION,
        "steps": counter.step,
        "epochs": counter.epoch,
        "epoch": counter.get_state(),
        "ended": ended,
        "graph": graph,
        "pipelines": [
            {key: value for key, value in state.items() if key != "graph" or value != graph}
            for state in pipelines
        ],
    }


def begun_state(state: Mapping[str, Any], following: EpochCounter) -> dict[str, Any]:
    """Returns the state at the start of the next epoch, given the `state` at the end of this epoch."""
    pipelines = [
        {**of_pipeline, "end": End.LEFT} if of_pipeline.get("end") == End.REACHED else of_pipeline
        for of_pipeline in state["pipelines"]
    ]
    return {
        **state,
        "epochs": following.epoch,
        "epoch": following.get_state(),
        "ended": False,
        "pipelines": pipelines,
    }


def restore(state: Mapping[str, Any], pipelines: Sequence[Any], counter: EpochCounter) -> None:
    """Moves pipelines and a counter to the position of a state; raises StateError if the state does not fit them."""
    entries = ("pipelines", "steps", "epochs", "epoch", "ended")
    check_version("iterator", state, STATE_VERSION, entries=entries)
    reader = counter.reader
    states = pipeline_states(state, len(pipelines), None if reader is None else reader.shards)
    for pipeline, of_pipeline in zip(pipelines, states, strict=True):
        pipeline.set_state(of_pipeline)
    restore_counter(state, counter)


def restore_counter(state: Mapping[str, Any], counter: EpochCounter) -> None:
    counter.set_state(state["epoch"], ended=bool(state["ended"]))
    counter.step, counter.epoch = int(state["steps"]), int(state["epochs"])


def pipeline_states(state: Mapping[str, Any], count: int, shards: int | None) -> list[dict[str, Any]]:
    """Returns the states for `count` pipelines whose reader has `shards` shards; None: the number is not checked."""
    graph = {} if state.get("graph") is None else {"graph": state["graph"]}
    given = [{**graph, **of_pipeline} for of_pipeline in state["pipelines"]]
    if len(given) == count and (shards is None or len(state["epoch"]["ahead"]) == shards):
        return given
    if any(of_pipeline.get("sources") for of_pipeline in given):
        was, now = f"{len(given)} pipelines", f"{count}"
        if len(given) == count:
            was, now = f"{len(state['epoch']['ahead'])} shards", f"{shards}"
        raise StateError(f"iterator: the state is of {was} with external sources, there are {now}")
    readers = {
        name: _common([of_pipeline["readers"][name] for of_pipeline in given], name)
        for name in given[0]["readers"]
    }
    return [{**given[0], "readers": readers}] * count


def _common(states: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """Merges the states of a reader's shards. Raises StateError if some are missing and the given ones differ in position."""
    if "taken" in states[0] and len(states) == states[0]["taken"][-1][0]:
        return merged_state(states)
    if any(state != states[0] for state in states):
        raise StateError(
            f"iterator: the shards of the reader {name!r} have not taken equally many samples, and the state has "
            "only some of the shards: as many shards as before can go on"
        )
    return states[0]


def checkpoints(state: Mapping[str, Any]) -> list[bytes]:
    """Returns a checkpoint for each pipeline, with the state of the iterator."""
    states = pipeline_states(state, len(state["pipelines"]), None)
    of_iterator = {key: value for key, value in state.items() if key != "pipelines"}
    return [to_checkpoint(of_pipeline, of_iterator) for of_pipeline in states]


def restored_state(pipelines: Sequence[Pipeline]) -> dict[str, Any] | None:
    """Returns the state of the iterator if all its pipelines' checkpoints contain the same one, else None."""
    states = [pipeline.iterator_state for pipeline in pipelines]
    if any(state is None or state != states[0] for state in states) or states[0] is None:
        return None
    return {**states[0], "pipelines": [pipeline.get_state() for pipeline in pipelines]}
