"""Writes the state of a pipeline, and checks a state before it is restored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jdali._pipeline.config import PipelineConfig
from jdali._pipeline.definition import Definition
from jdali._state import End, StateError, check_version, from_checkpoint
from jdali.engine import Engine
from jdali.graph import difference

STATE_VERSION = 1


def written_state(definition: Definition, position: Mapping[str, object]) -> dict[str, Any]:
    return {"version": STATE_VERSION, "graph": definition.entries()[1], **position}


def position_of(state: Mapping[str, object]) -> dict[str, Any]:
    return {key: value for key, value in state.items() if key not in ("version", "graph")}


def check_state(definition: Definition, state: Mapping[str, Any], *, known: bool) -> None:
    """Raises StateError if a state belongs to another pipeline; `known` is False before the first run in debug mode."""
    check_version(
        "pipeline", state, STATE_VERSION, entries=("seed", "epoch", "iteration", "position", "readers")
    )
    entries, _ = definition.entries()
    if "graph" in state and (found := difference(state["graph"], entries)) is not None:
        if not known:
            raise StateError(
                "pipeline: debug mode knows its operators after the first run: call run(), then set_state"
            )
        raise StateError(f"pipeline: the state is of another pipeline: {found}")
    config = definition.config
    if config.seed_given and state["seed"] != config.seed:
        raise StateError(
            f"pipeline: the state is of a pipeline of seed {state['seed']}, this one has seed {config.seed}"
        )


def at_end(engine: Engine, position: dict[str, Any], end: str) -> dict[str, Any]:
    """Returns the positions of all sources after one has ended.

    Data that the other sources returned for the unfinished batch is lost.
    """
    if position.get("end") != End.REACHED:
        epoch = position["epoch"] + (position.get("end") == End.LEFT)
        position = {**position, **(engine.cursor.state_at_end(epoch) or {})}
    return {**position, "end": end}


def restored(config: PipelineConfig) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Returns the states of the pipeline and of an iterator from the checkpoint in the options.

    Raises:
        RuntimeError: the pipeline was made without `enable_checkpointing=True`.
        StateError: the bytes are not a checkpoint.
    """
    assert config.checkpoint is not None
    if not config.enable_checkpointing:
        raise RuntimeError(
            "Pipeline: Cannot restore checkpoint. The `enable_checkpointing` was not specified when creating the pipeline"
        )
    return from_checkpoint(config.checkpoint)
