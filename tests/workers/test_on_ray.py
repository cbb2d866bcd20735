"""Actors of Ray: what they do without a cluster. tests/plugin/test_ray.py has the rest."""

import sys

import numpy as np
import pytest

pytest.importorskip("ray", reason="Ray is not installed")
from jdali._workers import GroupTask, pack, pack_group
from jdali._workers.on_ray import ActorCall, pipeline_actor

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="clusters of Ray are tested on Linux only")


@pytest.mark.parametrize(
    ("count", "log", "positions"), [(8, (6, 3), [5, 2]), (8, (6, 0), [5, 0]), (1, None, [0, 0])]
)
def test_the_log_says_which_tasks_ran(count, log, positions):
    packed, _ = pack(None)
    tries = 0 if log is None else len(log)
    group, arrays = pack_group([GroupTask(packed.head, ())] * count, tries)
    call = ActorCall(group, arrays, 0, 2, tries)
    content = pipeline_actor.packed_memory(group, arrays)
    memory = None if content.memory is None else content.memory.map()
    if log is not None:
        np.frombuffer(memory, np.int64, tries)[:] = log
    assert pipeline_actor.begun(call, memory) == positions
    content.close()
