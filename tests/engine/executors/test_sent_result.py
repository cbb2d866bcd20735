"""Results on their way from a worker: values with their provenance, failures with what recovery needs."""

import pickle

import numpy as np
import pytest

from jdali._batches import Drawn, Provenance
from jdali._errors import OperatorError, SampleError
from jdali.engine.executors.elsewhere import receive_values, send_failure, send_values
from jdali.engine.recovery import AttemptFailure, Blamed
from jdali.engine.task import BatchTask
from jdali.readers.order.epochs import SampleRefs
from jdali.tensors import TensorList


class Reader:
    def source(self, index):
        return f"file {index}"


INDICES = np.array([7, 3])
TASK = BatchTask.of({"r": SampleRefs(np.zeros(2, np.uint32), INDICES, np.zeros(2, bool))}, {})
SOURCES = {"r": Reader()}


def sent(description):
    return pickle.loads(pickle.dumps(description))


def test_values_come_with_the_names_of_their_files():
    made_of = Provenance.of(Drawn(Reader().source, INDICES, "r"))
    batch = TensorList.from_samples([np.ones(3), np.zeros(2)], "X", "cpu", made_of)
    (value,) = receive_values(sent(send_values([batch])), TASK, SOURCES)
    assert [sample.tolist() for sample in value.to_samples()] == [[1, 1, 1], [0, 0]]
    assert (value.layout(), value.source_info()) == ("X", ["file 7", "file 3"])
    # Recovery finds the source of a sample by its name.
    assert [(drawn.source, position) for drawn, position in value.provenance.origins(1)] == [("r", 1)]


def failed(cause, user_error):
    blamed = {1: Blamed(cause, ["r"], ["file 3"])}
    return sent(send_failure(AttemptFailure("op", cause, lambda: user_error, blamed)))


def test_a_failure_has_the_operator_the_error_and_the_samples():
    cause = SampleError("too small", sample=1)
    failure = failed(cause, OperatorError.of(cause, "op", sample=1, source="file 3", where="a.py:5"))
    assert failure.operator == "op"
    assert (type(failure.cause), str(failure.cause)) == (SampleError, "too small")
    error = failure.user_error()
    assert (error.sample, error.source, error.where) == (1, "file 3", "a.py:5")
    assert failure.user_error() is not error  # its traceback holds frames
    (blamed,) = failure.blamed.values()
    assert list(failure.blamed) == [1]
    assert (blamed.sources, blamed.files) == (["r"], ["file 3"])


def test_an_exception_that_cannot_be_pickled_keeps_its_text():
    class Local(Exception):
        pass

    failure = failed(Local("of the user"), RuntimeError("op"))
    assert str(failure.cause) == "Local: of the user"
    assert type(failure.cause) is RuntimeError


def test_the_traceback_is_noted_once():
    try:
        raise KeyError("lost")
    except KeyError as error:
        cause = error
    failure = failed(cause, OperatorError.of(cause, "op"))
    assert "test_the_traceback_is_noted_once" in failure.cause.__notes__[0]
    assert not getattr(failure.user_error(), "__notes__", [])
    with pytest.raises(KeyError):
        raise failure.user_error()
