"""Tasks of debug mode are no tasks for other processes."""

import pickle

import numpy as np
import pytest
from engine.tasks.identities import sample_ids
from support.nodes import batch

from jdali.engine.eager.debug_task import ComputedTask


def test_a_task_that_holds_its_batch_is_not_pickled():
    task = ComputedTask(sample_ids(2), np.ones(2, bool), outputs=(batch([1], [2]),))
    with pytest.raises(TypeError, match="no other process can make it"):
        pickle.dumps(task)
