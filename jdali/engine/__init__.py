"""The engine: makes the batches of a pipeline, several at a time, in order.

```
 cursor ──Task──▶ engine: make ──Result──▶ window ──▶ the user's loop
   which            one loop over steps;     order, bounds,
   samples          stand-ins                life and end
```

All decisions are taken when a task is drawn, so a batch depends on nothing but its task. `Engine` draws tasks and makes
batches, with `EngineOptions`; `Window` makes them ahead and hands over each `Result`. `eager` runs steps without a pipeline,
`function` makes it a function; these two rooms have doors of their own. `report` describes an engine. Nothing outside imports
anything else.

Parts, each of which imports only those above it:

* `workers`: works on the samples of a batch, in the calling thread or in threads.
* `task`: what to make, besides the pipeline; identities of samples for random keys.
* `cursor`: opens readers and external sources, which are one stream of tasks with a position.
* `shapes`: padded shapes and their cost.
* `recovery`: the samples that made a step fail, and their stand-ins.
* `steps`: one module for each kind of step.
* `make`: the loop over steps; a batch while it is made, and when it is ready.
* `executors`: threads and workers, their deaths and crashes.
* `engine`: draws tasks and makes their batches. `in_order`: their order at steps with side effects.
* `life`: ends of windows, by the garbage collector, at the exit, after a fork.
* `in_flight`: batches that are under way or not taken, and the bounds of their number and bytes.
* `window`: taking batches, moving the sources, and the life of a pipeline.
* `report`: the plan as text, statistics, times, warming up.
* `eager`: the same steps without a pipeline: dynamic mode and debug mode.
* `function`: a pipeline as a pure function; exported, and loaded.
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

# A loaded folder needs one room, and should answer soon.
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
