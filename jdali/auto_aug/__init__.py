"""Provides automatic augmentation: AutoAugment, RandAugment and TrivialAugment.

    >>> from jdali.auto_aug import trivial_augment
    >>> @pipeline_def(enable_conditionals=True)
    ... def training():
    ...     ...
    ...     return trivial_augment.trivial_augment_wide(images, shape=[224, 224])

Every sample gets its own augmentations and magnitudes, which follow from the seed, the epoch and the sample. The functions
take uint8 images (HWC) and sequences of images (FHWC) of any sizes, on the CPU or an accelerator. They also work in dynamic
mode. `import jdali` does not import this package.

With a JAX key, they are pure functions of the key and one image, and work in your own `jit` and `vmap`:

    >>> from jdali.auto_aug.rand_augment import rand_augment
    >>> augment = lambda key, image: rand_augment(key, image, n=2, m=9)
    >>> images = jax.jit(jax.vmap(augment))(jax.random.split(key, len(images)), images)

Pass the key first or as `key=`, and no `seed=`. All choices follow from the key. The choices have the same distribution
as in a pipeline, and each augmentation gives the same result, bit for bit. The image is uint8 [H, W, C]. For a video,
map over its frames with one key.
For your own augmentations, `apply_rand_augment` and the other `apply_` functions take a key, too. A single augmentation
draws nothing and needs no key: `shear_x(image, magnitude_bin=signed_bin(3, sign), num_magnitude_bins=31)`.

Under `vmap`, every augmentation is computed for every image, and one result is selected. `jax.lax.map` computes only the
chosen augmentation, which is faster on a CPU.
"""
