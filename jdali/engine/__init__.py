"""Makes the batches of a pipeline. It makes several at a time, and returns them in order.

```
 cursor ──Task──▶ engine: make ──Result──▶ window ──▶ the user's loop
   which            one loop over steps;     order, bounds,
   samples          stand-ins                life and end
```

To draw a task means to take the samples of the next batch from all sources. Everything that decides the contents of a batch
is in its task, so batches can be made in any order and process. `Engine` draws tasks and makes batches; `EngineOptions`
configures it. `Window` starts batches ahead of the user's loop, and returns each as a `Result`. `report` describes an
engine. Other packages import only what this module exports, and the subpackages `eager` and `function`.

Each part imports only parts above it:

* `workers`: runs work on the samples of a batch, in the calling thread or in a pool of threads.
* `task`: describes one batch: its samples, their source data, and their identities, from which random keys are made.
* `cursor`: opens readers and external sources, and draws tasks from them; its position can be saved.
* `shapes`: padded shapes and their cost.
* `recovery`: finds the samples that made a step fail, and replaces them by others, their stand-ins.
* `steps`: one module for each kind of step.
* `make`: the loop over steps; `Iteration`, a batch in progress, and `Result`, a finished one.
* `executors`: threads and worker processes, and what happens when a worker dies.
* `engine`: draws tasks and makes the batches. `in_order`: keeps batches in order at steps with side effects.
* `life`: closes windows at garbage collection and at exit, and resets them after a fork.
* `in_flight`: batches that are being made or wait to be taken, bounded in number and bytes.
* `window`: takes batches, changes the position of the sources, and closes a pipeline.
* `report`: the plan as text, statistics and times; also compiles programs ahead of time.
* `eager`: runs the same steps immediately, for dynamic mode, debug mode and the viewer.
* `function`: a pipeline as a pure function, which can be exported and loaded.
"""

from typing import TYPE_CHECKING

from jdali._system.lazy import imported as _imported

if TYPE_CHECKING:
    from jdali.engine import eager as eager
    from jdali.engine import report as report
    from jdali.engine.engine import Engine as Engine
    from jdali.engine.in_flight import Follower as Follower
    from jdali.engine.life import free_idle_memory as free_idle_memory
    from jdali.engine.make import Result as Result
    from jdali.engine.options import EngineOptions as EngineOptions
    from jdali.engine.task import EpochShare as EpochShare
    from jdali.engine.window import Window as Window

# Lazy: a program that loads an exported pipeline needs only `function`, and should start fast.
_imported(
    __name__,
    {
        "Engine": "jdali.engine.engine",
        "EngineOptions": "jdali.engine.options",
        "Result": "jdali.engine.make",
        "EpochShare": "jdali.engine.task",
        "Follower": "jdali.engine.in_flight",
        "Window": "jdali.engine.window",
        "free_idle_memory": "jdali.engine.life",
        "report": "jdali.engine.report",
        "eager": "jdali.engine.eager",
    },
)
