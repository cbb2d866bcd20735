"""Work on the samples of a batch, in the calling thread or in those of `_threads`.

```
 pool.Pool ──▶ _threads.WorkerThreads    tasks of the oldest batch first
     │
     ├── thread_policy   in this thread or in the pool?
     ├── Serving         threads that work for a pipeline, which must not ask it for a batch
     └── slabs           memory that its threads lease (`_batches.slabs`)
```
"""
