# %% [markdown]
# # Resuming
#
# A run that stops in the middle of an epoch continues with exactly the batch that would have come: the same samples, in the
# same order, with the same random values. The state is small and fit for JSON.
#
# First a folder of pictures, one colour each, so that what was read is seen by eye.

# %%
from pathlib import Path

import numpy as np
from PIL import Image

Path("colours/all").mkdir(parents=True, exist_ok=True)
for number in range(24):
    colour = np.uint8([number * 10, 120, 250 - number * 10])
    Image.fromarray(np.broadcast_to(colour, (24, 24, 3)).copy()).save(f"colours/all/{number:02}.png")

# %%
from jdali import fn, pipeline_def


@pipeline_def(batch_size=4, num_threads=2, seed=7)
def training(shard_id=0, num_shards=1):
    pngs, _ = fn.readers.file(
        file_root="colours", random_shuffle=True, shard_id=shard_id, num_shards=num_shards, name="Reader"
    )
    images = fn.decoders.image(pngs)
    return fn.brightness(images, brightness=fn.random.uniform(range=[0.5, 1.0]))


# %% [markdown]
# ## Stop
#
# Two batches of an epoch are taken, then the state. In a real run it is saved beside the model, by Orbax for example.

# %%
import json

from jdali.iterator import DataIterator

with DataIterator(training(), ["images"], reader_name="Reader") as batches:
    next(batches)
    next(batches)
    saved = json.dumps(batches.get_state())
    expected = [np.asarray(next(batches)["images"]) for _ in range(3)]

print(len(saved), "bytes")

# %% [markdown]
# ## Continue
#
# A new pipeline, as in a new process, is set to the state. Its batches are those that would have come, to the bit.

# %%
with DataIterator(training(), ["images"], reader_name="Reader") as batches:
    batches.set_state(json.loads(saved))
    resumed = [np.asarray(next(batches)["images"]) for _ in range(3)]

print([bool((a == b).all()) for a, b in zip(expected, resumed, strict=True)])

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(2, 12, figsize=(8, 1.8))
for row, made, title in zip(axes, (expected, resumed), ("would have come", "came"), strict=True):
    for axis, image in zip(row, np.concatenate(made), strict=True):
        axis.imshow(image)
        axis.axis("off")
    row[0].set_title(title, fontsize=9, loc="left")
plt.show()
assert all((a == b).all() for a, b in zip(expected, resumed, strict=True))

# %% [markdown]
# ## Another batch size
#
# Random values belong to a sample, not to its place in a batch: batches of 6 show the same pictures as batches of 4.

# %%
pictures = {}
for size in (4, 6):
    with DataIterator(training(batch_size=size), ["images"], reader_name="Reader") as batches:
        pictures[size] = np.concatenate([np.asarray(next(batches)["images"]) for _ in range(12 // size)])

print((pictures[4] == pictures[6]).all())
assert (pictures[4] == pictures[6]).all()

# %% [markdown]
# More, on several processes and on another number of them after a resume: [the guide on resuming](../resuming.md).
