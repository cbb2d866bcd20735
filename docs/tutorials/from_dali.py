# %% [markdown]
# # From DALI
#
# A program for DALI runs after its imports were changed. Here one definition runs under both packages, where DALI is installed,
# and the results are compared; then the loop moves to JAX. [From DALI to jdali](../migration.md) has the whole list of what
# stays and what differs.

# %%
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_image

for number in range(8):
    photo = load_sample_image(("china.jpg", "flower.jpg")[number % 2])
    folder = Path("photos") / ("temples", "flowers")[number % 2]
    folder.mkdir(parents=True, exist_ok=True)
    top, left = 20 * number, 30 * number
    Image.fromarray(photo[top : top + 240, left : left + 320]).save(folder / f"{number}.jpg", quality=92)

print(sorted(str(path) for path in Path("photos").rglob("*.jpg")))

# %% [markdown]
# ## One definition, two packages
#
# The body of the function is a program for DALI, word for word. `package` is what `import nvidia.dali` or `import jdali` gives.


# %%
def evaluation(package):
    fn, types = package.fn, package.types

    @package.pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=1)
    def pipeline():
        jpegs, labels = fn.readers.file(file_root="photos", name="Reader")
        images = fn.decoders.image(jpegs, device="cpu", output_type=types.RGB)
        images = fn.resize(images, size=[96, 128])
        images = fn.rotate(images, angle=15.0, keep_size=True, fill_value=0)
        return fn.brightness_contrast(images, contrast=1.3), labels

    return pipeline()


import jdali

packages = {"jdali": jdali}
try:
    import nvidia.dali

    packages["DALI"] = nvidia.dali
except ImportError:
    print("DALI is not installed: jdali alone")

results = {}
for name, package in packages.items():
    pipe = evaluation(package)
    pipe.build()
    images, labels = pipe.run()
    results[name] = np.array(images.as_array())
    print(name, results[name].shape, results[name].dtype, np.array(labels.as_array()).ravel())

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(len(results), 4, figsize=(8, 1.7 * len(results)), squeeze=False)
for row, (name, pictures) in zip(axes, results.items(), strict=True):
    for axis, picture in zip(row, pictures, strict=True):
        axis.imshow(picture)
        axis.axis("off")
    row[0].set_title(name, fontsize=9, loc="left")
plt.tight_layout()
plt.show()

if "DALI" in results:
    difference = np.abs(results["jdali"].astype(int) - results["DALI"])
    print(f"largest difference: {difference.max()} of 255; equal values: {(difference == 0).mean():.2%}")
    assert difference.max() <= 2

# %% [markdown]
# ## The training loop
#
# The iterator has DALI's name and arguments, and gives `jax.Array`s. `random_shuffle` and `fn.random` follow from the seed and
# the sample alone, so a loop that was stopped goes on with the very batch that it would have had.

# %%
import jdali.fn as fn
from jdali.plugin.jax import DALIGenericIterator


@jdali.pipeline_def(batch_size=4, num_threads=2, seed=1)
def training():
    jpegs, labels = fn.readers.file(file_root="photos", random_shuffle=True, name="Reader")
    images = fn.decoders.image(jpegs, device="mixed")
    images = fn.random_resized_crop(images, size=[64, 64])
    return fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip(), std=[255.0] * 3), labels


loop = DALIGenericIterator(training(), ["image", "label"], reader_name="Reader")
first = next(loop)
state = loop.get_state()
second = next(loop)
print(second["image"].shape, second["image"].dtype)

again = DALIGenericIterator(training(), ["image", "label"], reader_name="Reader")
again.set_state(state)
resumed = next(again)
print("the same batch after a restart:", bool((resumed["image"] == second["image"]).all()))
assert (resumed["image"] == second["image"]).all()
loop.close()
again.close()

# %% [markdown]
# ## Look at it
#
# DALI shows nothing; here a notebook shows a batch, a pipeline and a report by themselves, and `pipe.view()` opens a page with
# every sample after every operator ([Look at your data](../viewer.md)).

# %%
print(jdali.show(second))
