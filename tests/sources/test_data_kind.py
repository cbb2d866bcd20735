"""Kinds of batches: type, axes and layout stay what they were."""

import numpy as np
import pytest

from jdali._sources.user_batches import DataKind


def batch(dtype=np.uint8, ndim=3):
    return [np.zeros((2,) * ndim, dtype)]


@pytest.mark.parametrize(
    ("samples", "layout", "message"),
    [
        (batch(np.float32), "HWC", r"previous iteration was uint8 and the current type is float"),
        (batch(ndim=2), "HWC", r"previous iteration was 3 and the current is 2"),
        (batch(), "CHW", r'previous iteration was "HWC" and the current is "CHW"'),
    ],
)
def test_another_kind_is_refused_and_the_first_stays(samples, layout, message):
    kind = DataKind()
    kind.check(batch(), "HWC")
    with pytest.raises(RuntimeError, match=message):
        kind.check(samples, layout)
    kind.check(batch(), "HWC")


def test_a_batch_without_samples_has_no_kind():
    kind = DataKind()
    kind.check([], "F")
    kind.check(batch(), "HWC")
    kind.check([], "F")
    kind.check(batch(), "HWC")


def test_a_layout_may_come_later_and_not_go():
    kind = DataKind()
    kind.check(batch(), "")
    kind.check(batch(), "HWC")
    with pytest.raises(RuntimeError, match="Layout of the data"):
        kind.check(batch(), "")
