# %% [markdown]
# # Your images
#
# From a folder of pictures to a trained classifier: read, decode, augment, look at a batch, train.
# The folder here is made of scikit-learn's handwritten digits, as JPEG files, with a subfolder for each class. Put
# your own folder in its place.

# %%
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

digits = load_digits()
for number, (pixels, label) in enumerate(zip(digits.images[:600], digits.target[:600], strict=True)):
    folder = Path("digits") / ("train" if number % 5 else "test") / str(label)
    folder.mkdir(parents=True, exist_ok=True)
    picture = Image.fromarray((pixels * 15.9).astype(np.uint8)).resize((32, 32), Image.Resampling.BICUBIC)
    picture.convert("RGB").save(folder / f"{number}.jpg", quality=95)

print(sorted(path.name for path in Path("digits/train").iterdir()))

# %% [markdown]
# ## A pipeline
#
# The function says what happens to one picture; jdali does it to batches, in parallel. The value of `angle` is a node of the
# graph: each picture gets another one in each epoch.

# %%
from jdali import fn, pipeline_def, types


@pipeline_def(batch_size=32, num_threads=2, seed=1)
def training():
    jpegs, labels = fn.readers.file(file_root="digits/train", random_shuffle=True, name="Reader")
    images = fn.decoders.image(jpegs, output_type=types.GRAY)
    images = fn.rotate(images, angle=fn.random.uniform(range=[-15, 15]), keep_size=True, fill_value=0)
    images = fn.resize(images, size=[28, 28])
    return images, labels


# %% [markdown]
# ## Look at a batch

# %%
import matplotlib.pyplot as plt

pipe = training()
images, labels = pipe.run()
figure, axes = plt.subplots(2, 8, figsize=(8, 2.3))
for axis, image, label in zip(axes.ravel(), images.as_array(), labels.as_array(), strict=False):
    axis.imshow(image[..., 0], cmap="gray")
    axis.set_title(int(label[0]), fontsize=9)
    axis.axis("off")
plt.show()
pipe.close()

# %% [markdown]
# ## Mean and deviation
#
# One epoch without augmentation gives the numbers to normalize with.


# %%
@pipeline_def(batch_size=32, num_threads=2)
def plain(folder, shuffle=False):
    jpegs, labels = fn.readers.file(file_root=folder, random_shuffle=shuffle, name="Reader")
    images = fn.decoders.image(jpegs, output_type=types.GRAY)
    return fn.resize(images, size=[28, 28]), labels


from jdali.iterator import DataIterator, LastBatchPolicy

with DataIterator(
    plain("digits/train"),
    ["images", "labels"],
    reader_name="Reader",
    last_batch_policy=LastBatchPolicy.PARTIAL,
) as batches:
    pixels = np.concatenate([np.asarray(batch["images"]).ravel() for batch in batches])
mean, deviation = float(pixels.mean()), float(pixels.std())
print(f"mean={mean:.1f}, deviation={deviation:.1f}")

# %% [markdown]
# ## Train
#
# A linear model is enough to show the loop. `DataIterator` gives `jax.Array`s; labels come as [N, 1].

# %%
import jax
import jax.numpy as jnp
import optax

parameters = {"weights": jnp.zeros((28 * 28, 10)), "bias": jnp.zeros(10)}
optimizer = optax.adam(3e-3)
state = optimizer.init(parameters)


def logits_of(parameters, images):
    inputs = (images.reshape(len(images), -1).astype(jnp.float32) - mean) / deviation
    return inputs @ parameters["weights"] + parameters["bias"]


@jax.jit
def train_step(parameters, state, images, labels):
    def loss_of(parameters):
        losses = optax.softmax_cross_entropy_with_integer_labels(logits_of(parameters, images), labels[:, 0])
        return losses.mean()

    loss, gradients = jax.value_and_grad(loss_of)(parameters)
    updates, state = optimizer.update(gradients, state)
    return optax.apply_updates(parameters, updates), state, loss


with DataIterator(
    training(), ["images", "labels"], reader_name="Reader", last_batch_policy=LastBatchPolicy.DROP
) as batches:
    for epoch in range(6):
        for batch in batches:
            parameters, state, loss = train_step(parameters, state, batch["images"], batch["labels"])
        batches.reset()
        print(f"epoch {epoch}: loss {float(loss):.3f}")

# %% [markdown]
# ## Test
#
# Every picture once: `LastBatchPolicy.PARTIAL` makes the last batch smaller.

# %%
right = total = 0
with DataIterator(
    plain("digits/test"),
    ["images", "labels"],
    reader_name="Reader",
    last_batch_policy=LastBatchPolicy.PARTIAL,
) as batches:
    for batch in batches:
        found = logits_of(parameters, batch["images"]).argmax(axis=1)
        right += int((found == batch["labels"][:, 0]).sum())
        total += len(found)
print(f"{right} of {total} right")
assert right / total > 0.8
