"""True sizes of padded data that are tracers: the sizes of outputs that follow from them."""

import jax
import numpy as np
import pytest

from jdali._batches import BatchSpec
from jdali._errors import TracedArgumentError
from jdali._operators.call import Call, PlannedCall
from jdali._operators.padded import extents_of, follow
from jdali._operators.record import REGISTRY


def test_axes_that_cannot_be_told_apart_are_refused():
    """An operator of square arrays only does not say whose size its output has."""
    op = REGISTRY["transpose"]

    def plan(sizes):
        ((height, width),) = sizes
        if height != width:
            raise ValueError("not square")
        return PlannedCall(Call(op, (), (), (), ()), (BatchSpec(np.array([[width]]), np.float32),), {})

    with pytest.raises(TracedArgumentError, match=r"^transpose: more than the size"):
        jax.eval_shape(lambda n: follow(op, extents_of(op, [(5, 5)], n), plan)[1], np.int32([3, 3]))
