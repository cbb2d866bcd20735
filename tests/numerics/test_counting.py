"""The numbers that many arrays of a batch are."""

import numpy as np
import pytest

from jdali._numerics.counting import counting


@pytest.mark.parametrize("count", [0, 1, 5])
def test_they_count_from_0_and_cannot_be_written_to(count):
    numbers = counting(count)
    assert numbers.dtype == np.int64
    assert numbers.tolist() == list(range(count))
    assert counting(count) is numbers
    with pytest.raises(ValueError, match="read-only"):
        numbers[:] = 0
