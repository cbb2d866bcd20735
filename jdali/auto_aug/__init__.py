"""Automatic augmentation: AutoAugment, RandAugment and TrivialAugment.

    >>> from jdali.auto_aug import trivial_augment
    >>> @pipeline_def(enable_conditionals=True)
    ... def training():
    ...     ...
    ...     return trivial_augment.trivial_augment_wide(images, shape=[224, 224])

Every sample gets its own choice of augmentations and magnitudes, which follows from the seed, the epoch and the
sample. They take uint8 images (HWC) and sequences of them (FHWC), of any sizes, on the CPU or an accelerator, and
work in dynamic mode, too. Nothing of it is imported with `jdali`.
"""
