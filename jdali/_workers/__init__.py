"""Python in processes of its own, for user code that holds the GIL; its arrays come back in shared memory.

`_pool.WorkerPool` is what the engine uses; `_process` is what runs in a worker, `_parcel` how arrays travel.
"""
