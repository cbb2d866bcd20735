"""Batches in the forms that users give them: samples, copies, layouts."""

import numpy as np
import pytest

from jdali._batches.provenance import Provenance
from jdali._sources import user_batches
from jdali.tensors import TensorCPU, TensorList


def test_an_array_is_cut_along_its_first_axis():
    whole = np.arange(6, dtype=np.int16).reshape(3, 2)
    samples = user_batches.as_samples(whole)
    assert [s.tolist() for s in samples] == [[0, 1], [2, 3], [4, 5]]
    whole[:] = 9
    assert samples[0].tolist() == [0, 1]  # copied


def test_samples_may_share_memory_where_the_caller_says_so():
    whole = np.zeros((2, 2), np.int16)
    samples = user_batches.as_samples(whole, copy=False)
    whole[:] = 9
    assert samples[1].tolist() == [9, 9]


def test_scalars_stay_arrays_and_a_number_is_no_batch():
    samples = user_batches.as_samples(np.array([3, 4]))
    assert [type(s) for s in samples] == [np.ndarray] * 2
    assert [s.shape for s in samples] == [()] * 2
    with pytest.raises(TypeError, match="no axis of samples"):
        user_batches.as_samples(np.array(3))


@pytest.mark.parametrize("form", [list, tuple, lambda s: TensorList.from_samples(s, "", "cpu")])
def test_samples_of_several_sizes(form):
    given = [np.zeros((1, 2), np.uint8), np.ones((3, 1), np.uint8)]
    found = user_batches.as_samples(form(given))
    for one, expected in zip(found, given, strict=True):
        np.testing.assert_array_equal(one, expected)
        assert not np.shares_memory(one, expected)


def test_chosen_and_copied():
    samples = [np.array([i]) for i in range(3)]
    assert [s.item() for s in user_batches.chosen(samples, np.array([2, 0, 2]))] == [2, 0, 2]
    batch = TensorList.from_samples(samples, "", "cpu")
    found = user_batches.chosen(batch, np.array([2, 0]))
    assert [s.item() for s in user_batches.in_host_memory(found)] == [2, 0]
    copies = user_batches.copied(samples)
    samples[0][:] = 7
    assert copies[0].item() == 0
    assert user_batches.kind_of(samples, 1) == user_batches.kind_of(batch, 1) == (np.dtype(np.int64), 1)


def test_a_batch_has_the_layout_that_is_asked_for():
    samples = [np.zeros((2, 3), np.uint8)]
    for given in (samples, TensorList.from_samples(samples, "", "cpu")):
        batch = user_batches.batch_of(given, "HW", "cpu", Provenance.nowhere(1))
        assert batch.layout() == "HW"
        assert batch.shape() == [(2, 3)]


def test_own_sample_is_a_copy_with_its_layout():
    array = np.zeros((2, 3), np.uint8)
    own = user_batches.own_sample(TensorCPU(array, "HW"))
    array[:] = 5
    assert own.layout() == "HW"
    assert np.asarray(own).max() == 0


def test_layouts_of_what_has_one():
    tensor = TensorCPU(np.zeros((2, 3), np.uint8), "HW")
    assert user_batches.layout_of([tensor, tensor]) == "HW"
    assert user_batches.layout_of(TensorList.from_samples([np.zeros((2, 3))], "WH", "cpu")) == "WH"
    assert user_batches.layout_of(np.zeros((2, 3))) == user_batches.layout_of([np.zeros(2)]) == ""
