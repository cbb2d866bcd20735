"""The engine: makes the batches of a pipeline, several at a time, in order.

```
 tasks ──▶ steps ──────────────────────────────▶ flow ──▶ the user's loop
   what to    read, decode, compiled stages;        order, queues, life and
   make       padded shapes from `shapes`           end; `recovery` for samples
                                                    that fail
```

`Engine` makes the batches of a plan, with `EngineOptions`; `Window` makes them ahead and hands over each `Result`; a
`PipelineTwin` makes them from another position. `eager` runs steps without a pipeline, `function` makes it
a function; these two rooms have doors of their own. Nothing outside imports anything else.

Rooms, each of which imports only those above it:

* `workers`: works on the samples of a batch, in the calling thread or in threads.
* `tasks`: readers and external sources as one stream of batches to be made, with a position.
* `recovery`: which samples made a step fail, and which ones take their positions.
* `shapes`: padded shapes and their cost.
* `steps`: one module for each kind of step.
* `flow`: batches on their way through the steps, and the life of a pipeline.
* `eager`: the same steps without a pipeline: dynamic mode and debug mode.
* `function`: a pipeline as a pure function; exported, and loaded.
"""

from typing import TYPE_CHECKING

from jdali._system.lazy import imported as _imported

if TYPE_CHECKING:
    from jdali.engine import eager as eager
    from jdali.engine import report as report
    from jdali.engine.flow.executor import Engine as Engine
    from jdali.engine.flow.iteration import Result as Result
    from jdali.engine.flow.twin import PipelineTwin as PipelineTwin
    from jdali.engine.flow.window import Finisher as Finisher
    from jdali.engine.flow.window import Window as Window
    from jdali.engine.flow.window import free_idle_memory as free_idle_memory
    from jdali.engine.options import EngineOptions as EngineOptions

# A loaded folder needs one room, and should answer soon.
_imported(
    __name__,
    {
        "Engine": "jdali.engine.flow.executor",
        "EngineOptions": "jdali.engine.options",
        "PipelineTwin": "jdali.engine.flow.twin",
        "Result": "jdali.engine.flow.iteration",
        "Finisher": "jdali.engine.flow.window",
        "Window": "jdali.engine.flow.window",
        "free_idle_memory": "jdali.engine.flow.window",
        "report": "jdali.engine.report",
        "eager": "jdali.engine.eager",
    },
)
