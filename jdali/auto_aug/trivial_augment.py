"""Implements TrivialAugment, which applies one random augmentation to each sample, at a random magnitude.

See https://arxiv.org/abs/2103.10158.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax import Array

from jdali.auto_aug import augmentations as a
from jdali.auto_aug._translations import get_translations, pretty_select
from jdali.auto_aug.core._args import forbid_unused_kwargs
from jdali.auto_aug.core._augmentation import Augmentation, signed_bin
from jdali.auto_aug.core._choice import check_bins, one_of, seeds, warping, without
from jdali.auto_aug.core._modes import in_either_mode


@in_either_mode
def trivial_augment_wide(
    data: object,
    num_magnitude_bins: int = 31,
    shape: object = None,
    fill_value: object = 128,
    interp_type: object = None,
    max_translate_abs: object = None,
    max_translate_rel: object = None,
    seed: int | None = None,
    excluded: Sequence[str] | None = None,
    *,
    key: Array | None = None,
) -> Any:
    """Applies one of TrivialAugment Wide's 14 augmentations to each sample, at a random magnitude.

    Args:
        data, num_magnitude_bins, shape, fill_value, interp_type, seed, excluded, key: see `rand_augment`.
        max_translate_abs: largest translation without `shape`, in pixels: a number, or (height, width); None: 32.
        max_translate_rel: largest translation with `shape`, as a share: a number, or (height, width); None: 1.

    Returns: the augmented batch, with the same sizes and type.
    """
    suite = get_trivial_augment_wide_suite(shape is not None, max_translate_abs, max_translate_rel)
    chosen = without(suite, excluded, "TrivialAugmentWide")
    kwargs = warping(chosen, fill_value=fill_value, interp_type=interp_type)
    if shape is not None:
        kwargs["shape"] = shape
    return apply_trivial_augment(chosen, data, num_magnitude_bins, seed, **kwargs)


@in_either_mode
def apply_trivial_augment(
    augmentations: Sequence[Augmentation],
    data: object,
    num_magnitude_bins: int = 31,
    seed: int | None = None,
    *,
    key: Array | None = None,
    **kwargs: object,
) -> Any:
    """Applies one augmentation to each sample; augmentation and magnitude bin are drawn with equal probabilities.

    Args:
        augmentations: augmentations to choose from.
        data, num_magnitude_bins, seed, key, kwargs: see `apply_rand_augment`.

    Raises:
        ValueError: `augmentations` is empty, or `num_magnitude_bins` is below 1.
        UnusedArgException: `kwargs` has an argument that no augmentation takes.
    """
    who = "apply_trivial_augment"
    check_bins(num_magnitude_bins, who)
    if not augmentations:
        raise ValueError(f"{who}: The `augmentations` list cannot be empty. Got empty list in `{who}` call.")
    forbid_unused_kwargs(augmentations, kwargs, who)
    each = seeds(seed)
    magnitude_bin: Any = one_of(num_magnitude_bins, next(each))
    if any(augmentation.randomly_negate for augmentation in augmentations):
        magnitude_bin = signed_bin(magnitude_bin, seed=next(each))
    arguments = {
        "data": data, "magnitude_bin": magnitude_bin, "num_magnitude_bins": num_magnitude_bins, **kwargs
    }  # fmt: skip
    choice = one_of(len(augmentations), next(each))
    return pretty_select(augmentations, choice, arguments, who, "get_trivial_augment_wide_suite")


def get_trivial_augment_wide_suite(
    use_shape: bool = False, max_translate_abs: object = None, max_translate_rel: object = None
) -> list[Augmentation]:
    """Returns the 14 augmentations of TrivialAugment Wide.

    Args:
        use_shape: True if translations are shares of the augmentations' argument `shape`, False if they are pixels.
        max_translate_abs, max_translate_rel: see `trivial_augment_wide`.
    """
    enhance = (0.01, 0.99)
    return [
        *get_translations(use_shape, 32, 1.0, max_translate_abs, max_translate_rel),
        a.shear_x.augmentation((0, 0.99), True),
        a.shear_y.augmentation((0, 0.99), True),
        a.rotate.augmentation((0, 135), True),
        a.brightness.augmentation(enhance, True, a.shift_enhance_range),
        a.contrast.augmentation(enhance, True, a.shift_enhance_range),
        a.color.augmentation(enhance, True, a.shift_enhance_range),
        a.sharpness.augmentation(enhance, True, a.sharpness_kernel),
        a.posterize.augmentation((8, 2), False, a.poster_mask_uint8),
        a.solarize.augmentation((256, 0)),
        a.equalize,
        a.auto_contrast,
        a.identity,
    ]
