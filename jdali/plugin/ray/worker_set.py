"""The actors of a set of workers, which several pipelines and programs may share."""

from __future__ import annotations

import threading
import uuid
import weakref
from collections.abc import Mapping
from typing import Any

import ray

from jdali._system.tracebacks import warn_user
from jdali._workers.on_ray import PipelineActor
from jdali.plugin.ray.dispatcher import RayDispatcher


class RayWorkers:
    """Describes workers of a Ray cluster, for `Pipeline(workers=...)`.

    ```
    pipe = training(folder, workers=jdali.plugin.ray.Workers(64, num_cpus=2))
    ```
    Each is an actor, spread over the nodes, with a process of its own for each pipeline. They are started when the first
    pipeline is built, and end with the last pipeline that uses this object. Results come from Ray's object store without
    a copy. Actors and nodes that die lose nothing: their tasks are made by others.

    A program that has not called `ray.init` gets `ray.init(address=address, namespace=namespace)`: with None for both it
    joins the cluster that the environment variable RAY_ADDRESS or this machine names, else starts one here.

    Programs that give the same `name` and `namespace` (trainers of `jax.distributed` or of Ray Train, each with its shard)
    share one set. It belongs to the program that came first; when that ends, the others start the workers again. Options
    other than the name are those of the program that starts a worker.

    Args:
        count: how many, at least 1.
        num_cpus: processors that Ray reserves for each, more than 0; also its threads, where `num_threads` is not given.
        resources: other resources of Ray that each needs, by name.
        runtime_env: Ray's environment of the workers (packages, files, variables).
        max_restarts: times that Ray starts a worker again that died; -1: always.
        name: of the set; None: one that no other has.
        namespace: of Ray, in which the name counts; None: that of this program.
        address: of the cluster; used only if Ray is not initialized.

    Raises:
        ValueError: a number is out of its range.
    """

    def __init__(
        self, count: int, *, num_cpus: float = 1, resources: Mapping[str, float] | None = None,
        runtime_env: Mapping[str, Any] | None = None, max_restarts: int = -1, name: str | None = None,
        namespace: str | None = None, address: str | None = None,
    ):  # fmt: skip
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(
                f"jdali.plugin.ray.Workers: count must be a number of workers, at least 1, not {count!r}"
            )
        if not num_cpus > 0:
            raise ValueError(f"jdali.plugin.ray.Workers: num_cpus must be more than 0, not {num_cpus!r}")
        if max_restarts < -1:
            raise ValueError(
                f"jdali.plugin.ray.Workers: max_restarts must be at least -1, not {max_restarts}"
            )
        self.count, self.max_restarts, self.namespace, self.address = count, max_restarts, namespace, address
        self.threads = max(int(num_cpus), 1)
        self.name = f"jdali-{uuid.uuid4().hex}" if name is None else name
        self._options: dict[str, Any] = {
            "num_cpus": num_cpus, "max_restarts": max_restarts, "scheduling_strategy": "SPREAD", "get_if_exists": True,
            **({} if resources is None else {"resources": dict(resources)}),
            **({} if runtime_env is None else {"runtime_env": dict(runtime_env)}),
            **({} if namespace is None else {"namespace": namespace}),
        }  # fmt: skip
        self._forget_actors()

    def __repr__(self) -> str:
        return f"jdali.plugin.ray.Workers({self.count}, name={self.name!r})"

    def connect(self) -> RayDispatcher:
        return RayDispatcher(self)

    # --- for dispatchers --------------------------------------------------------------------
    def initialize(self) -> None:
        """Initializes Ray if the program has not, and warns if the cluster is too small for the workers."""
        if not ray.is_initialized():
            ray.init(address=self.address, namespace=self.namespace)
        each, there = self._options["num_cpus"], ray.cluster_resources().get("CPU", 0.0)
        if self.count * each > there:
            warn_user(
                f"jdali.plugin.ray.Workers: {self.count} workers of {each:g} processors each, but the cluster has "
                f"{there:g}: those that find none wait until it has more"
            )

    def actor(self, index: int) -> Any:
        """Returns the handle of a worker, and starts the worker if it does not exist; it ends with the last handle."""
        with self._lock:
            handle = self._actors.get(index)
            if handle is None:
                options = {**self._options, "name": f"{self.name}-{index}"}
                handle = ray.remote(PipelineActor).options(**options).remote()
                self._actors[index] = handle
            return handle

    def forget(self, index: int, handle: object) -> None:
        """Notes that a worker is dead for good: the next pipeline that needs it starts another."""
        with self._lock:
            if self._actors.get(index) is handle:
                del self._actors[index]

    def _forget_actors(self) -> None:
        self._lock = threading.Lock()
        self._actors: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    # A copy in another process finds the same workers by their names.
    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_actors")}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._forget_actors()
