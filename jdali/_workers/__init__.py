"""Python in processes of its own, for user code that holds the GIL; its arrays come back in shared memory.

`pool.WorkerPool` is what the engine uses; `worker_process` runs in a worker, `parcel` carries arrays between them.
"""
