"""Actors of Ray: what they do without a cluster. tests/plugin/test_ray.py has the rest."""

import asyncio
import sys
from concurrent.futures import Future

import pytest

pytest.importorskip("ray", reason="Ray is not installed")
from jdali._workers.on_ray import pipeline_actor

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="clusters of Ray are tested on Linux only")


def test_all_done_waits_for_the_last_task():
    async def run():
        futures = [Future() for _ in range(3)]
        futures[1].set_result(1)
        waiting = asyncio.ensure_future(pipeline_actor.all_done(futures))
        futures[0].set_exception(ValueError("is the caller's to look at"))
        await asyncio.sleep(0)
        assert not waiting.done()
        futures[2].set_result(2)
        await waiting

    asyncio.run(run())
