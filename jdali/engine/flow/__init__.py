"""Batches on their way: made ahead, several at a time, handed over in order.

```
 drawn_ahead ─▶ makers: threads ─▶ gate before each step ─▶ executor.settle ─▶ ready_queue ─▶ runtime: take
```

`runtime.Runtime` is the only place that knows the life of a pipeline: built, running, at an end, closed.
"""
