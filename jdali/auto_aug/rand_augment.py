"""Implements RandAugment, which applies several random augmentations to each sample, all at one magnitude.

See https://arxiv.org/abs/1909.13719.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax import Array

from jdali._system.tracebacks import warn_user
from jdali.auto_aug import augmentations as a
from jdali.auto_aug._translations import get_translations, pretty_select
from jdali.auto_aug.core._args import forbid_unused_kwargs
from jdali.auto_aug.core._augmentation import Augmentation, signed_bin
from jdali.auto_aug.core._choice import check_bins, one_of, seeds, warping, without
from jdali.auto_aug.core._modes import in_either_mode

_TRANSLATE_PIXELS, _TRANSLATE_SHARE = 100, 100 / 224


@in_either_mode
def rand_augment(
    data: object,
    n: int,
    m: int,
    num_magnitude_bins: int = 31,
    shape: object = None,
    fill_value: object = 128,
    interp_type: object = None,
    max_translate_abs: object = None,
    max_translate_rel: object = None,
    seed: int | None = None,
    monotonic_mag: bool = True,
    excluded: Sequence[str] | None = None,
    *,
    key: Array | None = None,
) -> Any:
    """Applies `n` of RandAugment's 14 augmentations, chosen at random, to each sample, all at magnitude bin `m`.

    Args:
        data: uint8 images (HWC) or sequences of images (FHWC).
        n: number of augmentations applied to a sample, one after the other; the same one may be chosen several times.
        m: magnitude bin, 0 to `num_magnitude_bins` - 1.
        num_magnitude_bins: number of magnitudes.
        shape: (height, width) of the images: one pair for all samples, or a pair for each sample. If given, translations are
            shares of this size.
        fill_value: value of pixels that translation, shear and rotation uncover; None repeats the border.
        interp_type: interpolation of translation, shear and rotation: `INTERP_LINEAR` (also for None) or `INTERP_NN`.
        max_translate_abs: largest translation without `shape`, in pixels: a number, or (height, width); None: 100.
        max_translate_rel: largest translation with `shape`, as a share: a number, or (height, width); None: 100/224.
        seed: seed of all random choices; None derives it from the pipeline's seed.
        monotonic_mag: True makes higher bins stronger; False takes AutoAugment's magnitudes, see
            `get_rand_augment_non_monotonic_suite`.
        excluded: names of augmentations to leave out.
        key: JAX key, first or by name, if `data` is an array with one image; see `jdali.auto_aug`.

    Returns: the augmented batch, with the same sizes and type.
    """
    get_suite = get_rand_augment_suite if monotonic_mag else get_rand_augment_non_monotonic_suite
    suite = get_suite(shape is not None, max_translate_abs, max_translate_rel)
    chosen = without(suite, excluded, "RandAugment")
    kwargs = warping(chosen, fill_value=fill_value, interp_type=interp_type)
    if shape is not None:
        kwargs["shape"] = shape
    return apply_rand_augment(chosen, data, n, m, num_magnitude_bins, seed, **kwargs)


@in_either_mode
def apply_rand_augment(
    augmentations: Sequence[Augmentation],
    data: object,
    n: int,
    m: int,
    num_magnitude_bins: int = 31,
    seed: int | None = None,
    *,
    key: Array | None = None,
    **kwargs: object,
) -> Any:
    """Applies `n` randomly chosen augmentations to each sample, one after the other, all at magnitude bin `m`.

    Args:
        augmentations: augmentations to choose from.
        data: a batch.
        n, m, num_magnitude_bins, seed, key: see `rand_augment`.
        kwargs: arguments of the augmentations; each augmentation gets those of its function.

    Raises:
        ValueError: `n`, `m` or `num_magnitude_bins` is out of range, or `augmentations` is empty.
        UnusedArgException: `kwargs` has an argument that no augmentation takes.
    """
    who = "apply_rand_augment"
    if not isinstance(n, int) or n < 0:
        raise ValueError(
            f"{who}: The number of operations to apply `n` must be a non-negative integer, got {n!r}."
        )
    check_bins(num_magnitude_bins, who)
    if not isinstance(m, int) or not 0 <= m < num_magnitude_bins:
        raise ValueError(
            f"{who}: The magnitude bin `m` must be an integer from `[0, {num_magnitude_bins - 1}]` range. Got {m!r}."
        )
    if n == 0:
        warn_user(f"The `{who}` was called with `n=0`, no augmentation will be applied.")
        return data
    if not augmentations:
        raise ValueError(
            f"{who}: The `augmentations` list cannot be empty, unless n=0. Got empty list in `{who}` call."
        )
    forbid_unused_kwargs(augmentations, kwargs, who)
    signed = any(augmentation.randomly_negate for augmentation in augmentations)
    each = seeds(seed)
    for _ in range(n):
        choice = one_of(len(augmentations), next(each))
        arguments = {
            "data": data, "magnitude_bin": signed_bin(m, seed=next(each)) if signed else m,
            "num_magnitude_bins": num_magnitude_bins, **kwargs,
        }  # fmt: skip
        data = pretty_select(augmentations, choice, arguments, who, "get_rand_augment_suite")
    return data


def _moving(use_shape: bool, max_translate_abs: object, max_translate_rel: object) -> list[Augmentation]:
    return [
        *get_translations(
            use_shape, _TRANSLATE_PIXELS, _TRANSLATE_SHARE, max_translate_abs, max_translate_rel
        ),
        a.shear_x.augmentation((0, 0.3), True),
        a.shear_y.augmentation((0, 0.3), True),
        a.rotate.augmentation((0, 30), True),
    ]


def get_rand_augment_suite(
    use_shape: bool = False, max_translate_abs: object = None, max_translate_rel: object = None
) -> list[Augmentation]:
    """Returns the 14 augmentations of RandAugment; higher magnitude bins are stronger.

    Args:
        use_shape: True if translations are shares of the augmentations' argument `shape`, False if they are pixels.
        max_translate_abs, max_translate_rel: see `rand_augment`.
    """
    return [
        *_moving(use_shape, max_translate_abs, max_translate_rel),
        a.brightness.augmentation((0, 0.9), True, a.shift_enhance_range),
        a.contrast.augmentation((0, 0.9), True, a.shift_enhance_range),
        a.color.augmentation((0, 0.9), True, a.shift_enhance_range),
        a.sharpness.augmentation((0, 0.9), True, a.sharpness_kernel),
        a.posterize.augmentation((8, 4), False, a.poster_mask_uint8),
        a.solarize.augmentation((256, 0)),
        a.equalize,
        a.auto_contrast,
        a.identity,
    ]


def get_rand_augment_non_monotonic_suite(
    use_shape: bool = False, max_translate_abs: object = None, max_translate_rel: object = None
) -> list[Augmentation]:
    """Returns RandAugment's 14 augmentations; augmentations that change colours have AutoAugment's magnitudes.

    Higher bins of `posterize` and `solarize` are weaker. `brightness`, `contrast`, `color` and `sharpness` are weakest
    at the middle bin.

    Args: see `get_rand_augment_suite`.
    """
    return [
        *_moving(use_shape, max_translate_abs, max_translate_rel),
        a.brightness.augmentation((0.1, 1.9), False, None),
        a.contrast.augmentation((0.1, 1.9), False, None),
        a.color.augmentation((0.1, 1.9), False, None),
        a.sharpness.augmentation((0.1, 1.9), False, a.sharpness_kernel_shifted),
        a.posterize.augmentation((0, 4), False, a.poster_mask_uint8),
        a.solarize.augmentation((0, 256), False, None),
        a.equalize,
        a.auto_contrast,
        a.identity,
    ]
