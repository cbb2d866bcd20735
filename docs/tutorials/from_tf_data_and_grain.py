# %% [markdown]
# # From tf.data and Grain
#
# The same data set as a chain of methods and as a pipeline; then both at once: Grain says which samples, jdali decodes them.
# The tables are in [From tf.data](../migration/tf_data.md) and [From Grain](../migration/grain.md).

# %%
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_image

for number in range(12):
    photo = load_sample_image(("china.jpg", "flower.jpg")[number % 2])
    folder = Path("photos") / ("temples", "flowers")[number % 2]
    folder.mkdir(parents=True, exist_ok=True)
    top, left = 15 * number, 25 * number
    Image.fromarray(photo[top : top + 240, left : left + 320]).save(folder / f"{number:02}.jpg", quality=92)

paths = sorted(Path("photos").rglob("*.jpg"))

# %% [markdown]
# ## The chain
#
# In tf.data:
#
# ```python
# dataset = (
#     tf.data.Dataset.list_files("photos/*/*.jpg", shuffle=False)
#     .map(lambda path: tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path)), [64, 64]))
#     .batch(4)
#     .prefetch(2)
# )
# ```
#
# In Grain, with Pillow:

# %%
import grain


def decoded(path):
    return np.asarray(Image.open(path).resize((64, 64), Image.Resampling.BILINEAR))


chain = grain.MapDataset.source(paths).map(decoded).batch(4)
by_grain = np.concatenate(list(chain))
print(by_grain.shape, by_grain.dtype)

# %% [markdown]
# ## The pipeline
#
# The function says what happens to one sample; `batch`, `prefetch` and the parallel calls of `map` are arguments. The order is
# that of the chain, so the pictures can be compared.

# %%
from jdali import fn, pipeline_def
from jdali.iterator import DataIterator


@pipeline_def(batch_size=4, num_threads=2, prefetch_queue_depth=2)
def evaluation():
    jpegs, labels = fn.readers.file(file_root="photos", name="Reader")
    return fn.resize(fn.decoders.image(jpegs), size=[64, 64]), labels


with DataIterator(evaluation(), ["images", "labels"], reader_name="Reader", squeeze="labels") as batches:
    by_jdali = np.concatenate([np.asarray(batch["images"]) for batch in batches])
difference = np.abs(by_jdali.astype(int) - by_grain)
print(f"mean difference {difference.mean():.2f} of 255, largest {difference.max()}")
assert difference.mean() < 1

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(2, 6, figsize=(9, 3.2))
for row, title, pictures in zip(axes, ("Grain and Pillow", "jdali"), (by_grain, by_jdali), strict=True):
    for axis, picture in zip(row, pictures[::2], strict=True):
        axis.imshow(picture)
        axis.axis("off")
    row[0].set_title(title, fontsize=9, loc="left")
plt.tight_layout()
plt.show()

# %% [markdown]
# ## Shuffle, augment, go on after a stop
#
# `shuffle(seed)` is `random_shuffle=True` and the pipeline's `seed`; `random_map` is `fn.random`. As in Grain the position is a
# small dict: saved with the model, it leads to the very next batch.


# %%
@pipeline_def(batch_size=4, num_threads=2, seed=1)
def training():
    jpegs, labels = fn.readers.file(file_root="photos", random_shuffle=True, name="Reader")
    images = fn.resize(fn.decoders.image(jpegs), size=[64, 64])
    images = fn.rotate(images, angle=fn.random.uniform(range=[-25, 25]), keep_size=True, fill_value=0)
    return images, labels


with DataIterator(training(), ["images", "labels"], reader_name="Reader") as batches:
    next(batches)
    state = batches.get_state()
    expected = np.asarray(next(batches)["images"])

with DataIterator(training(), ["images", "labels"], reader_name="Reader") as batches:
    batches.set_state(state)
    resumed = np.asarray(next(batches)["images"])
print("the same batch:", (resumed == expected).all())
assert (resumed == expected).all()

# %%
figure, axes = plt.subplots(1, 4, figsize=(7, 1.9))
for axis, picture in zip(axes, resumed, strict=True):
    axis.imshow(picture)
    axis.axis("off")
plt.tight_layout()
plt.show()

# %% [markdown]
# ## Both at once
#
# A sampler of Grain's can give the order, and jdali the pictures: an external source asks it for the file of each sample.

# %%
order = grain.MapDataset.source(paths).shuffle(seed=5)


def contents(sample):
    if sample.idx_in_epoch >= len(order):
        raise StopIteration
    return np.fromfile(order[sample.idx_in_epoch], np.uint8)


@pipeline_def(batch_size=4, num_threads=2)
def sampled():
    jpegs = fn.external_source(contents, batch=False)
    return fn.resize(fn.decoders.image(jpegs), size=[64, 64])


with DataIterator(sampled(), ["images"]) as batches:
    mixed = np.concatenate([np.asarray(batch["images"]) for batch in batches])
positions = [paths.index(order[i]) for i in range(len(order))]
print("in Grain's order:", (mixed == by_jdali[positions]).all())
assert (mixed == by_jdali[positions]).all()
