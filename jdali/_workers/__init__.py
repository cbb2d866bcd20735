"""Runs tasks in other processes; arrays come back in shared memory.

```
 BatchWorkers ◀── ProcessWorkers ────┐
       ▲                             ├──▶ pool.TaskPool ──socket──▶ serve, in each process: runs tasks
       │        callbacks ───────────┘      │     ▲                        │
 plugin.ray ──▶ on_ray: 1-process TaskPool ─┘     └── memory ◀─────────────┘     wire: how values and arrays travel
```

`ProcessWorkers` make batches, and the workers of `callbacks` run the user's functions. A process that makes batches already
has its next task while it runs one. If the process dies, only the task that ran is blamed. If the process crashed, this task
raises `TaskKilledError`. If the process was killed, perhaps from outside, the task is submitted again, and raises
`TaskKilledError` after a second death. A callback may have side effects, so it is called only once, and raises an error
after the first death.

Other packages import the names below, and two modules: `callbacks`, which needs JAX, and `on_ray`, which needs Ray.
Nothing else here imports JAX, because Ray's actors import this package, and need no JAX to pass results on.
"""

from jdali._workers.batch_workers import BatchWorkers as BatchWorkers
from jdali._workers.batch_workers import ProcessWorkers as ProcessWorkers
from jdali._workers.batch_workers import StartMaking as StartMaking
from jdali._workers.batch_workers import WorkerSet as WorkerSet
from jdali._workers.by_value import dumps as dumps
from jdali._workers.by_value import loads as loads
from jdali._workers.by_value import pack_by_value as pack_by_value
from jdali._workers.by_value import pickle_by_value as pickle_by_value
from jdali._workers.jobs import MadeTask as MadeTask
from jdali._workers.jobs import PoolClosedError as PoolClosedError
from jdali._workers.jobs import TaskKilledError as TaskKilledError
from jdali._workers.jobs import WorkerCounts as WorkerCounts
from jdali._workers.jobs import WorkerDeath as WorkerDeath
from jdali._workers.serve import answer_memory as answer_memory
from jdali._workers.serve import answering_in as answering_in
from jdali._workers.serve import note_reached as note_reached
from jdali._workers.serve import on_node as on_node
from jdali._workers.serve import portable as portable
from jdali._workers.task_group import GroupTask as GroupTask
from jdali._workers.task_group import StartGroups as StartGroups
from jdali._workers.task_group import TaskOutcome as TaskOutcome
from jdali._workers.task_group import pack_group as pack_group
from jdali._workers.wire import SMALL_OF_TASK as SMALL_OF_TASK
from jdali._workers.wire import pack as pack
from jdali._workers.wire import unpack as unpack
