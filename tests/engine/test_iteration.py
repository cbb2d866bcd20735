"""The working set of a batch: where its samples come from before anything is computed, and the errors that name them."""

import numpy as np
from support.nodes import engine_of
from support.numbers import NumberReader

from jdali._errors import SampleError
from jdali.engine.failure import NodeFailure
from jdali.engine.make import Iteration
from jdali.graph import WHOLE_BATCH


def begun(engine):
    task = engine.draw()
    return Iteration.of(task, engine.sources)


def test_it_begins_with_the_samples_of_its_sources_and_no_value():
    engine = engine_of(NumberReader(7))
    engine.draw()
    iteration = begun(engine)
    (source,) = engine.sources
    assert list(iteration.env.drawn[source]) == ["number 3", "number 4", "number 5"]
    assert iteration.parts == {WHOLE_BATCH: iteration.task.ids}
    assert iteration.env.most_bytes == 0
    engine.close()


def test_a_failure_names_the_sample_by_its_position_in_what_was_drawn():
    engine = engine_of(NumberReader(7))
    iteration = begun(engine)
    (source,) = engine.sources
    failure = NodeFailure(source, {2: SampleError("it is bad", sample=2)})
    blamed = iteration.blamed(failure)
    assert list(blamed) == [2]
    assert (blamed[2].sources, blamed[2].files) == ([source.name], ["number 2"])
    error = iteration.user_error(failure)
    assert (error.sample, error.source) == (2, "number 2")
    failed = iteration.failed(failure)
    assert (failed.operator, list(failed.blamed)) == (source.op.name, [2])
    assert str(failed.user_error()) == str(error)
    engine.close()


def test_a_failure_of_no_sample_blames_none():
    engine = engine_of(NumberReader(7))
    iteration = begun(engine)
    (source,) = engine.sources
    failed = iteration.failed(NodeFailure(source, {None: ValueError("all of it")}))
    assert failed.blamed == {}
    assert failed.user_error().sample is None
    assert not np.any(iteration.task.padded)
    engine.close()
