"""Python in processes of its own, for work that holds the GIL; arrays come back in shared memory.

```
 BatchWorkers ◀── ProcessWorkers ──▶ task_pool    make batches, on this machine
       ▲───────── plugin.ray ──────▶ on_ray       the same on a cluster: an actor around a `task_pool`
 pool.WorkerPool ──▶ processes                    calls the user's callbacks
```

Other packages import the names below, and two entries: `pool`, whose arrays are `Tensor`s, and `on_ray`, which needs Ray.
Nothing here imports JAX: an actor imports this package and passes results on as they are.
"""

from jdali._workers.batch_workers import BatchWorkers as BatchWorkers
from jdali._workers.batch_workers import StartMaking as StartMaking
from jdali._workers.batch_workers import WorkerCounts as WorkerCounts
from jdali._workers.batch_workers import WorkerSet as WorkerSet
from jdali._workers.by_value import dumps as dumps
from jdali._workers.by_value import loads as loads
from jdali._workers.by_value import pickle_by_value as pickle_by_value
from jdali._workers.exceptions import portable as portable
from jdali._workers.node import on_node as on_node
from jdali._workers.process_workers import ProcessWorkers as ProcessWorkers
from jdali._workers.task_group import GroupTask as GroupTask
from jdali._workers.task_group import StartGroups as StartGroups
from jdali._workers.task_group import TaskOutcome as TaskOutcome
from jdali._workers.task_group import pack_group as pack_group
from jdali._workers.task_pool.answer import answer_memory as answer_memory
from jdali._workers.task_pool.answer import answering_in as answering_in
from jdali._workers.task_pool.answer import note_reached as note_reached
from jdali._workers.task_pool.jobs import MadeTask as MadeTask
from jdali._workers.task_pool.jobs import PoolClosedError as PoolClosedError
from jdali._workers.task_pool.jobs import TaskKilledError as TaskKilledError
from jdali._workers.task_pool.process import WorkerDeath as WorkerDeath
from jdali._workers.task_pool.sending import pack_by_value as pack_by_value
from jdali._workers.task_pool.wire import SMALL_OF_TASK as SMALL_OF_TASK
from jdali._workers.task_pool.wire import pack as pack
from jdali._workers.task_pool.wire import unpack as unpack
