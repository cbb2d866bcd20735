"""The engine: makes the batches of a pipeline, several at a time, in order.

```
 tasks ──▶ steps ──────────────────────────────▶ flow ──▶ the user's loop
   what to    read, decode, compiled stages;        order, queues, life and
   make       padded shapes from `shapes`           end; `recovery` for samples
                                                    that fail
```

Rooms, each of which imports only those above it:

* `workers`: threads, the memory that they lease, their times; the interpreter's exit.
* `tasks`: readers and external sources as one stream of batches to be made, with a position.
* `recovery`: which samples made a step fail, and which ones take their positions.
* `shapes`: padded shapes and their cost.
* `steps`: one module for each kind of step.
* `flow`: batches on their way through the steps, and the life of a pipeline.
* `eager`: the same steps without a pipeline: dynamic mode and debug mode.
"""
