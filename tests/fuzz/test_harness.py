"""The harness of the fuzz tests itself: what it makes, and that it notices what it must."""

import time

import numpy as np
import pytest
from support.fuzz import mutations, refusals, survives

GOOD = b"head 12 " + bytes(range(200)) + b" 7 end"


def test_mutations_are_different_and_the_same_in_every_run():
    cases = list(mutations(GOOD, 3, 200))
    assert len(set(cases)) > 150
    assert cases == list(mutations(GOOD, 3, 200))
    assert cases[20:] != list(mutations(GOOD, 4, 200))[20:]
    assert any(len(c) > len(GOOD) for c in cases)
    assert any(0 < len(c) < len(GOOD) for c in cases)
    assert b"" in cases


def test_refusals_are_counted():
    def read(data):
        if not data.startswith(b"head 12") or not data.endswith(b"7 end"):
            raise ValueError("file x: the data have no head or no end")

    assert 20 < refusals(read, GOOD, count=200, says="file x") < 150


def raises(error):
    def read(data):
        raise error

    return read


def spins(data):
    while True:
        pass


@pytest.mark.parametrize(
    ("read", "found"),
    [
        (raises(KeyError("shape")), "KeyError"),
        (raises(ValueError("")), "without a reason"),
        (raises(ValueError("something is wrong")), "no 'file x'"),
        (spins, "processor time"),
        (lambda data: np.ones(1 << 27), "MemoryError"),
    ],
)
def test_faults_are_noticed(read, found):
    with pytest.raises(AssertionError, match=found):
        survives(read, GOOD, says="file x", seconds=0.05)


def test_waiting_is_no_fault():
    assert survives(lambda data: time.sleep(0.1), GOOD, seconds=0.05)
