"""Results of a task: outputs that know their files, or a failure."""

import gc
import weakref

import pytest
from support.nodes import engine_of
from support.numbers import NumberReader

from jdali import OperatorError


def test_outputs_know_what_they_were_made_of():
    engine = engine_of(NumberReader(9))
    task = engine.draw().task
    made = engine.make(task)
    assert made.failure is None
    assert made.task is task
    assert list(made.outputs[0].provenance) == ["number 0", "number 1", "number 2"]
    engine.close()


@pytest.mark.parametrize("on_error", ["raise", "skip"])  # without and with other attempts
def test_a_failure_that_was_raised_is_in_no_cycle(on_error, monkeypatch):
    engine = engine_of(NumberReader(4, bad=tuple(range(4))), on_error=on_error)
    make, failures = engine.make, []

    def watched(*args, **options):
        made = make(*args, **options)
        failures.append(weakref.ref(made.failure))
        try:
            return made
        finally:
            del made

    monkeypatch.setattr(engine, "make", watched)
    gc.collect()
    gc.disable()
    try:
        with pytest.raises(OperatorError, match="is bad"):
            engine.run()
        assert len(failures) == (1 if on_error == "raise" else 5)
        assert [failure() for failure in failures] == [None] * len(failures)
    finally:
        gc.enable()
        engine.close()
