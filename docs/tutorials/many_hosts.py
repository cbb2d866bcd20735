# %% [markdown]
# # Many hosts
#
# Each process of a distributed run reads its shard of the data set and makes its part of the global batch. Here one process plays
# them all, with eight devices of JAX on a CPU; what changes with real hosts is said at the end.

# %%
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec

print(jax.device_count(), "devices")

# %% [markdown]
# ## Over the devices of one process
#
# `sharding=` gives global arrays: each device holds its part of the batch, and operators on the device run on all of them.

# %%
from jdali import fn, pipeline_def
from jdali.iterator import DataIterator


def number_of(sample):
    if sample.idx_in_epoch >= 64:
        raise StopIteration
    return np.float32([sample.idx_in_epoch])


@pipeline_def(batch_size=16, num_threads=2, seed=1)
def numbers():
    values = fn.external_source(number_of, batch=False)
    return values.gpu() * 2


mesh = jax.make_mesh((8,), ("batch",), axis_types=(AxisType.Auto,))
sharding = NamedSharding(mesh, PartitionSpec("batch"))
with DataIterator(numbers(), ["values"], sharding=sharding) as batches:
    batch = next(batches)
    jax.debug.visualize_array_sharding(batch["values"])
    print([shard.data.ravel().tolist() for shard in batch["values"].addressable_shards[:3]])
    assert batch["values"].sharding == sharding

# %% [markdown]
# ## A shard for each process
#
# Readers take `num_shards` and `shard_id`. All shards together have every sample exactly once an epoch.

# %%
from pathlib import Path

from PIL import Image

Path("grays").mkdir(exist_ok=True)
for number in range(20):
    Image.fromarray(np.full((8, 8, 3), number * 10, np.uint8)).save(f"grays/{number:02}.png")
FILES = [f"grays/{number:02}.png" for number in range(20)]


@pipeline_def(batch_size=4, num_threads=2, seed=1)
def training(shard_id, num_shards):
    pngs, labels = fn.readers.file(
        files=FILES, random_shuffle=True, shard_id=shard_id, num_shards=num_shards, name="Reader"
    )
    return fn.decoders.image(pngs), labels


from jdali.iterator import LastBatchPolicy

seen = []
for shard in range(4):
    with DataIterator(
        training(shard, 4),
        ["images", "labels"],
        reader_name="Reader",
        last_batch_policy=LastBatchPolicy.PARTIAL,
    ) as batches:
        mine = [int(label) for batch in batches for label in batch["labels"].ravel()]
    print(f"shard {shard}: {mine}")
    seen += mine
assert sorted(seen) == list(range(20))

# %% [markdown]
# ## With real hosts
#
# ```python
# jax.distributed.initialize()
# pipe = training(shard_id=jax.process_index(), num_shards=jax.process_count())
# with DataIterator(pipe, ["images", "labels"], reader_name="Reader", sharding=sharding) as batches:
#     ...
# ```
#
# The batch size of a pipeline is that of its process; the arrays are global, made of the parts of all processes. A run can go on
# with another number of processes: [resuming](../resuming.md). Several processes on one host: [scaling](../scaling.md).
