"""Operators that only move samples, on what is the same for all samples."""

from __future__ import annotations

import numpy as np
import pytest
from support import oracle

import jdali
from jdali import fn


def outputs(library, define):
    pipe = library.Pipeline(batch_size=3, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(define())
    pipe.build()
    (output,) = pipe.run()
    return [np.asarray(output.at(i)) for i in range(3)]


@pytest.mark.oracle
@pytest.mark.parametrize("constant", [10, 2.5, np.arange(6, dtype=np.int32).reshape(2, 3)], ids=str)
def test_a_constant_is_an_input_as_in_dali(constant):
    dali = oracle.dali()
    expected = outputs(dali, lambda: oracle.function("copy")(constant))
    for found, one in zip(outputs(jdali, lambda: fn.copy(constant)), expected, strict=True):
        np.testing.assert_array_equal(found, one)
        assert found.dtype == one.dtype


@pytest.mark.oracle
def test_one_index_permutes_a_batch_of_one_as_in_dali():
    for library, permute in ((oracle.dali(), oracle.function("permute_batch")), (jdali, fn.permute_batch)):
        pipe = library.Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(permute(np.int32([4, 5]), indices=0))
        pipe.build()
        np.testing.assert_array_equal(np.asarray(pipe.run()[0].at(0)), [4, 5])


def test_a_constant_is_permuted():
    for one in outputs(jdali, lambda: fn.permute_batch(np.int32([4, 5]), indices=[2, 0, 0])):
        np.testing.assert_array_equal(one, [4, 5])
