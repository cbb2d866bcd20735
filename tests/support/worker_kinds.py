"""Workers of each kind, for tests that hold for all of them: processes of this machine, and a cluster of Ray."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from jdali._workers import ProcessWorkers

NAMESPACE = "jdali-tests"
NAME = "shared"  # of the set of `ray_workers`

# Ray leaves files and sockets to the collector.
_OF_RAY = (
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    # tests/plugin/test_ray.py has the bits, states, errors and deaths of actors in a normal run, with a cluster of its own.
    pytest.mark.exhaustive,
)


def on_ray(*others: Any) -> Any:
    """Parameters of a test that runs on Ray, in `make exhaustive`: the kind, and others."""
    return pytest.param("ray", *others, marks=_OF_RAY)


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[Any]:
    """A cluster of one node, which all tests of this process share."""
    if sys.platform != "linux":
        pytest.skip("clusters of Ray are tested on Linux only")
    pytest.importorskip("ray", reason="Ray is not installed")
    cluster = _started(num_cpus=2, object_store_memory=100 << 20, include_dashboard=False)
    yield cluster
    cluster.shutdown()


def _started(attempts: int = 5, **node: Any) -> Any:
    """Starts a cluster; Ray gives a node half a minute, which is not enough on a busy machine."""
    from ray.cluster_utils import Cluster

    try:
        return Cluster(initialize_head=True, head_node_args=node)
    except Exception as error:
        if attempts == 1 or "timed out during startup" not in str(error):
            raise
    return _started(attempts - 1, **node)


@pytest.fixture(scope="module")
def on_cluster(ray_cluster: Any) -> Iterator[str]:
    """Its address; this process uses the cluster for one module, so that others have no threads of Ray beside them."""
    import ray

    ray.init(address=ray_cluster.address, namespace=NAMESPACE, log_to_driver=False, logging_level="ERROR")
    yield ray_cluster.address
    ray.shutdown()


@pytest.fixture(scope="module")
def ray_workers(on_cluster: str) -> Iterator[Any]:
    """Two workers, whose actors live as long as the module."""
    import cloudpickle

    from jdali.plugin.ray import Workers
    from support import every_reader

    # Actors cannot import the tests, and readers may be given an object of theirs.
    cloudpickle.register_pickle_by_value(every_reader)
    workers = Workers(2, num_cpus=0.5, name=NAME)
    held = [workers.actor(index) for index in range(workers.count)]
    yield workers
    held.clear()
    cloudpickle.unregister_pickle_by_value(every_reader)


@pytest.fixture
def workers(request: pytest.FixtureRequest) -> Any:
    """Workers of a kind, for `workers=`: parametrized indirectly."""
    return request.getfixturevalue("ray_workers") if request.param == "ray" else request.param


def one_of(workers: Any) -> Any:
    """One worker of the kind of some, which is ready sooner."""
    if isinstance(workers, int):
        return 1
    return type(workers)(1, num_cpus=0.5, name=workers.name)


def workers_of(pipe: Any) -> Any:
    """The workers that make the batches of a pipeline: `BatchWorkers`."""
    return pipe.internals().engine.elsewhere.workers


def pids_of(pipe: Any) -> list[int]:
    """Processes of a pipeline that take tasks: workers, or actors of a cluster."""
    workers = workers_of(pipe)
    if isinstance(workers, ProcessWorkers):
        return list(workers.pids())
    places = [slot.place for slot in list(workers._slots.values())]
    return [place.pid for place in places if place is not None]


def is_alive(pid: int) -> bool:
    """True if there is such a process on this machine."""
    return os.path.exists(f"/proc/{pid}")
