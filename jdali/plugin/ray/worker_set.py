"""Defines a set of Ray workers that several pipelines and programs may share."""

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
    Each worker is an actor that runs a process for each pipeline; Ray spreads the actors over the nodes. The actors start
    when the first pipeline is built, and end with the last pipeline that uses this object. Results come from Ray's object
    store without a copy. If an actor or a node dies, other workers run its tasks.

    If the program has not called `ray.init`, building a pipeline calls `ray.init(address=address,
    namespace=namespace)`. If `address` is None, Ray joins the cluster that the environment variable RAY_ADDRESS names,
    or else a cluster running on this machine. If there is none, Ray starts a cluster on this machine.

    Programs with the same `name` and `namespace` share one set, for instance the trainers of `jax.distributed` or Ray Train,
    each with its shard. The first program owns the set. When it ends, the other programs start the workers again. All other
    options of a worker come from the program that starts it.

    Args:
        count: number of workers, at least 1.
        num_cpus: processors that Ray reserves for each worker, more than 0; also the number of its threads, unless the
            pipeline sets `num_threads`.
        resources: other Ray resources that each worker needs, by name.
        runtime_env: Ray's runtime environment for the workers (packages, files, variables).
        max_restarts: number of times that Ray restarts a dead worker; -1 for no limit.
        name: name of the set; None generates a unique name.
        namespace: Ray namespace of `name`; None: the program's namespace.
        address: address of the cluster; used only if Ray is not initialized.

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

    def initialize(self) -> None:
        """Initializes Ray if the program has not; warns if the cluster is too small for the workers."""
        if not ray.is_initialized():
            ray.init(address=self.address, namespace=self.namespace)
        each, there = self._options["num_cpus"], ray.cluster_resources().get("CPU", 0.0)
        if self.count * each > there:
            warn_user(
                f"jdali.plugin.ray.Workers: {self.count} workers of {each:g} processors each, but the cluster has "
                f"{there:g}: those that find none wait until it has more"
            )

    def actor(self, index: int) -> Any:
        """Returns the handle of a worker; starts the worker if necessary. The worker ends when its last handle is freed."""
        with self._lock:
            handle = self._actors.get(index)
            if handle is None:
                options = {**self._options, "name": f"{self.name}-{index}"}
                handle = ray.remote(PipelineActor).options(**options).remote()
                self._actors[index] = handle
            return handle

    def forget(self, index: int, handle: object) -> None:
        """Forgets a worker that cannot be restarted, so that the next pipeline starts a new one."""
        with self._lock:
            if self._actors.get(index) is handle:
                del self._actors[index]

    def _forget_actors(self) -> None:
        self._lock = threading.Lock()
        self._actors: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    # A copy in another process finds the same workers by name.
    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_actors")}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._forget_actors()
