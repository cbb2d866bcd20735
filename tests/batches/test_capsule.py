"""DLPack capsules as data."""

import numpy as np
import pytest

from jdali import backend
from jdali.tensors import TensorCPU, TensorListCPU

A = np.arange(6, dtype=np.int32).reshape(2, 3)


@pytest.mark.parametrize("options", [{}, {"max_version": (1, 0)}])
def test_a_capsule_is_read_without_a_copy(options):
    capsule = A.__dlpack__(**options)
    assert backend.CheckDLPackCapsule(capsule) == (True, False)
    tensor = TensorCPU(capsule)
    assert tensor.data_ptr() == A.ctypes.data
    np.testing.assert_array_equal(np.asarray(tensor), A)
    assert backend.CheckDLPackCapsule(capsule) == (False, False)  # it was used
    with pytest.raises(TypeError, match="is not an array"):
        TensorCPU(capsule)


def test_a_batch_in_a_capsule():
    np.testing.assert_array_equal(TensorListCPU(A.__dlpack__()).as_array(), A)


def test_what_is_no_capsule():
    assert backend.CheckDLPackCapsule(None) == (False, False)
    assert backend.CheckDLPackCapsule(A) == (False, False)
