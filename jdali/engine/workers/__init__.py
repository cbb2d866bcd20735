"""Threads of the engine: a pool that works on samples, their memory and times, and the end of the interpreter.

```
 pool.Pool ──▶ threads.WorkerThreads    tasks of the oldest batch first
     │
     ├── thread_policy   in this thread or in the pool?
     ├── slabs           memory that its threads lease (`_batches.slabs`)
     └── timing          the time of each phase, by lap
```

`native_calls` and `interpreter_exit` keep the interpreter from ending under a call of XLA.
"""
