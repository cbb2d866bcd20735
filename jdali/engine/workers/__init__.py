"""Runs work on the samples of a batch, in the calling thread or in a pool of threads.

```
 pool.Pool ──▶ _threads.WorkerThreads    tasks of the oldest batch first
     │
     ├── thread_policy   chooses: the calling thread or the pool
     ├── Serving         marks threads that work for a pipeline, which must not ask it for a batch
     └── slabs           memory that the threads lease (`_batches.slabs`)
```
"""
