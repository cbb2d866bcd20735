"""Attempts at a batch: outputs that know their files, or a failure."""

import gc
import weakref

import pytest
from support.nodes import engine_of
from support.numbers import NumberReader

from jdali import OperatorError
from jdali.engine.make import Iteration


def test_outputs_know_what_they_were_made_of():
    engine = engine_of(NumberReader(9))
    made = engine.make(engine.draw())
    assert list(made.outputs[0].provenance) == ["number 0", "number 1", "number 2"]
    engine.close()


def test_the_first_failure_is_raised_if_no_other_sample_succeeds():
    engine = engine_of(NumberReader(7, bad=tuple(range(7))), on_error="skip")
    told = r"number 0 is bad(?s:.*)on_error: 7 samples were tried .*, and this operator failed on all of them"
    with pytest.raises(OperatorError, match=told):
        engine.make(engine.draw())
    engine.close()


@pytest.mark.parametrize(("on_error", "attempts"), [("raise", 1), ("skip", 4)])
def test_a_failure_that_was_raised_is_in_no_cycle(on_error, attempts, monkeypatch):
    """Also with stand-ins: an attempt for each sample of the data set."""
    engine = engine_of(NumberReader(4, bad=tuple(range(4))), on_error=on_error)
    failed, failures = Iteration.failed, []

    def watched(*args):
        failure = failed(*args)
        failures.append(weakref.ref(failure))
        try:
            return failure
        finally:
            del failure

    monkeypatch.setattr(Iteration, "failed", watched)
    gc.collect()
    gc.disable()
    try:
        with pytest.raises(OperatorError, match="is bad"):
            engine.make(engine.draw())
        assert [failure() for failure in failures] == [None] * attempts
    finally:
        gc.enable()
        engine.close()
