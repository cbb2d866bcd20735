"""An engine gives memory back once, when no more programs come."""

import pytest
from support.nodes import engine_of
from support.numbers import NumberReader

from jdali.engine import engine as module

QUIET = module.QUIET_BATCHES
SIZE = 40 << 20


@pytest.fixture
def given_back(monkeypatch):
    found = []
    monkeypatch.setattr(module, "give_back_free_memory", lambda: found.append(1))
    return found


@pytest.fixture
def engine():
    made = engine_of(NumberReader(9))
    made.pool.slabs.most_idle = 1 << 30
    yield made
    made.close()


def make(engine, batches, programs=0):
    """Makes some batches, of which the first takes some new programs."""
    engine.budget.count += programs
    for _ in range(batches):
        engine.make(engine.draw())


def test_once_after_some_batches_without_a_program(engine, given_back):
    make(engine, QUIET, programs=2)
    assert not given_back
    make(engine, 1)
    assert len(given_back) == 1
    make(engine, 5 * QUIET)
    assert len(given_back) == 1


def test_again_after_a_later_program(engine, given_back):
    make(engine, QUIET + 4, programs=1)
    make(engine, QUIET, programs=1)
    assert len(given_back) == 1
    make(engine, 1)
    assert len(given_back) == 2


def test_what_batches_held_while_they_waited_for_programs_is_freed(engine, given_back):
    slabs = engine.pool.slabs
    held = [slabs.lease(SIZE) for _ in range(3)]
    del held
    make(engine, QUIET, programs=1)
    assert slabs.usage().idle >= 3 * SIZE
    make(engine, 1)
    assert slabs.usage().idle < SIZE
    held = [slabs.lease(SIZE) for _ in range(2)]
    del held
    assert slabs.usage().idle >= 2 * SIZE
