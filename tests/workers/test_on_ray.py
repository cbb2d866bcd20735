"""Actors of Ray: what they do without a cluster. tests/plugin/test_ray.py has the rest."""

import asyncio
import os
import signal
import sys

import numpy as np
import pytest

pytest.importorskip("ray", reason="Ray is not installed")
from jdali._workers import GroupTask, StartGroups, pack, pack_by_value, pack_group, unpack
from jdali._workers.on_ray import ActorCall, ActorStart, pipeline_actor

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


def call_of(*values, order):
    group, arrays = pack_group([GroupTask(pack(value)[0].head, ()) for value in values])
    return ActorCall(group, arrays, order, len(values) > 1)


def test_a_process_that_is_killed_gives_all_its_calls_back_at_once():
    """Others can make them meanwhile; the death is told with the call, and the task of it, that ran."""

    def start():
        def make(number):
            if number == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            return number

        return make

    packed = pack_by_value(StartGroups(start)).packed
    client = pipeline_actor.ActorClient("client", ActorStart("1", packed, np.empty(0, np.uint8)), "node")

    async def run():
        calls = [call_of(*numbers, order=order) for order, numbers in enumerate([(0, 1, 2, 3), (4, 5)])]
        lost = await asyncio.gather(*map(client.make, calls), return_exceptions=True)
        made = await client.make(calls[1])  # by the next process
        await client.close()
        return lost, unpack(made.result.packed, made.result.memory)

    (ran, waited), outcomes = asyncio.run(run())
    assert isinstance(ran, pipeline_actor.CallKilledError)
    assert isinstance(waited, pipeline_actor.CallKilledError)
    assert (ran.position, ran.death.exit_code) == (2, -signal.SIGKILL)
    assert waited.death is None
    assert [outcome.value() for outcome in outcomes] == [4, 5]
