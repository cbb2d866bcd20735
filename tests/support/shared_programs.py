"""Programs that are shared in this process, and the number that XLA compiled."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import jax
import pytest

from jdali.engine.steps import stage as _stage
from jdali.engine.steps.program_table import PROGRAMS

_EVENTS: list[str] = []


def _note(event: str, duration_secs: float, **about: str | int) -> None:
    if event.endswith("backend_compile_duration"):
        _EVENTS.append(str(about.get("fun_name", "")))


jax.monitoring.register_event_duration_secs_listener(_note)


def forget() -> None:
    """Lets go of shared programs: the next ones are traced anew."""
    PROGRAMS.clear()


@contextlib.contextmanager
def compilations() -> Iterator[list[str]]:
    """Notes the programs that XLA compiles, or reads from its cache, within: a list that grows until the end."""
    start, noted = len(_EVENTS), []
    try:
        yield noted
    finally:
        noted += _EVENTS[start:]


@pytest.fixture
def rows_follow_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small batches, too, get programs with a row for each sample: without it those of 1 to 8 samples share theirs."""
    monkeypatch.setattr(_stage, "FEW_SAMPLES", 0)
