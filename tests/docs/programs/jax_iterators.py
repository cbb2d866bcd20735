"""Training from DALI's iterators for JAX, and functions of JAX in the pipeline."""

import jax
import jax.numpy as jnp
import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from nvidia.dali.plugin import jax as dax
from nvidia.dali.plugin.jax import data_iterator
from nvidia.dali.plugin.jax.fn import jax_function
from support.target import keep


def digits(num_shards, shard_id):
    encoded, labels = fn.readers.caffe2(path="mnist", name="mnist", num_shards=num_shards, shard_id=shard_id)
    image = fn.decoders.image(encoded, device="mixed", output_type=types.GRAY)
    image = fn.crop_mirror_normalize(image, dtype=types.FLOAT, std=[255.0], output_layout="CHW")
    return fn.reshape(image, shape=[28 * 28]), fn.one_hot(labels.gpu(), num_classes=10)


pipes = [pipeline_def(digits, batch_size=6, num_threads=2, device_id=0)(num_shards=1, shard_id=0)]
batches = dax.DALIGenericIterator(
    pipes, output_map=["images", "labels"], reader_name="mnist", auto_reset=True
)
weights = jnp.zeros((784, 10))


@jax.jit
def step(weights, batch):
    def loss(weights):
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(batch["images"] @ weights) * batch["labels"], axis=1))

    return weights - 0.1 * jax.grad(loss)(weights)


steps = 0
for _ in range(2):
    for batch in batches:
        weights = step(weights, batch)
        steps += 1
assert (steps, batches.size, len(batches)) == (8, 24, 4)
keep(weights=np.asarray(weights))
assert np.asarray(weights).any()


@jax_function
def mirrored(images):
    return images[:, :, ::-1, :]


@data_iterator(output_map=["images", "mirrored"], reader_name="files")
def pairs():
    encoded, _ = fn.readers.file(file_root="images", name="files")
    images = fn.resize(fn.decoders.image(encoded, device="mixed"), size=(12, 16))
    return images, mirrored(images)


batch = next(pairs(batch_size=4))
assert jnp.array_equal(batch["images"][:, :, ::-1], batch["mirrored"])
keep(images=np.asarray(batch["images"]))
