"""Batches on their way: made ahead, several at a time, handed over in order.

```
 drawing ─▶ makers: threads ─▶ gate before each step ─▶ executor.settle ─▶ finishing ─▶ ready_queue ─▶ runtime: take
```

`finishing` is what an iterator adds: its arrays. `life.Life` owns the threads of a pipeline and is the only place that knows
if it is built, running, at an end or closed; `moves` brings the sources to other positions.
"""
