"""Actors of Ray: what they do without a cluster. tests/plugin/test_ray.py has the rest."""

import sys

import numpy as np
import pytest

pytest.importorskip("ray", reason="Ray is not installed")
from jdali._workers import GroupTask, pack, pack_group, unpack
from jdali._workers.on_ray import pipeline_actor

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="clusters of Ray are tested on Linux only")


@pytest.mark.parametrize(("begun", "position"), [(6, 5), (1, 0), (0, 0)])
def test_the_log_says_which_task_ran(begun, position):
    packed, _ = pack(None)
    tasks = [GroupTask(packed.head, (np.arange(5),))] * 8
    group, arrays = pack_group(tasks)
    content = pipeline_actor.packed_memory(group, arrays)
    memory = content.memory.map()
    content.close()
    sent = unpack(group, memory)
    sent.log[0] = begun
    assert pipeline_actor.running(memory, group) == position
