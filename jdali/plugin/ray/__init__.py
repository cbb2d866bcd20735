"""Makes a pipeline's batches on workers of a Ray cluster: `Pipeline(workers=jdali.plugin.ray.Workers(64))`.

```
 worker_set.Workers ──connect──▶ dispatcher.RayDispatcher: a thread ──calls──▶ _workers.on_ray: on each node ──▶ TaskPool of one
                                       ▲                                          │                             process
                                       └────────────── object store ◀─────────────┘
```

The workers read the data, so each node must have the same files at the same paths. See docs/scaling.md.
"""

from __future__ import annotations

from jdali._system.extras import needed_by

with needed_by("jdali.plugin.ray", "Ray", "ray"):
    import ray as _ray  # noqa: F401  # imported first, to raise ImportError with advice if Ray is missing

from jdali.plugin.ray.worker_set import RayWorkers as Workers

__all__ = ["Workers"]
