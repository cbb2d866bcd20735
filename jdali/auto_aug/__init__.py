"""Automatic augmentation: AutoAugment, RandAugment and TrivialAugment.

    >>> from jdali.auto_aug import trivial_augment
    >>> @pipeline_def(enable_conditionals=True)
    ... def training():
    ...     ...
    ...     return trivial_augment.trivial_augment_wide(images, shape=[224, 224])

Every sample gets its own choice of augmentations and magnitudes, which follows from the seed, the epoch and the
sample. They take uint8 images (HWC) and sequences of them (FHWC), of any sizes, on the CPU or an accelerator, and
work in dynamic mode, too. Nothing of it is imported with `jdali`.

With a JAX key they are pure functions of the key and one image, for the user's own `jit` and `vmap`:

    >>> from jdali.auto_aug.rand_augment import rand_augment
    >>> augment = lambda key, image: rand_augment(key, image, n=2, m=9)
    >>> images = jax.jit(jax.vmap(augment))(jax.random.split(key, len(images)), images)

The key comes first or as `key=`, in place of `seed=`; all choices follow from it, with the distribution of the pipeline,
and each augmentation has the pipeline's bits. The image is [H, W, C], uint8; for the frames of a video, map over them with
one key for all. `apply_rand_augment` and its like take augmentations of the user's in the same way. So do single ones:
`shear_x(image, magnitude_bin=signed_bin(3, sign), num_magnitude_bins=31)` draws nothing and needs no key. `vmap` computes
every augmentation for every image and takes one; `jax.lax.map` in its place computes that one, which is quicker on a CPU.
"""
