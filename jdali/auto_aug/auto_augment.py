"""Implements AutoAugment, which applies one of a policy's sequences of augmentations to each sample.

See https://arxiv.org/abs/1805.09501.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jax import Array

from jdali import fn
from jdali.auto_aug import _policy_tables as tables
from jdali.auto_aug import augmentations as a
from jdali.auto_aug._translations import get_translations, pretty_select
from jdali.auto_aug.core._args import forbid_unused_kwargs
from jdali.auto_aug.core._augmentation import Augmentation, signed_bin
from jdali.auto_aug.core._choice import one_of, seeds
from jdali.auto_aug.core._modes import in_either_mode
from jdali.auto_aug.core._parameters import rows_of
from jdali.auto_aug.core.policy import Policy


@in_either_mode
def auto_augment(
    data: object,
    policy_name: str = "image_net",
    shape: object = None,
    fill_value: object = 128,
    interp_type: object = None,
    max_translate_abs: object = None,
    max_translate_rel: object = None,
    seed: int | None = None,
    *,
    key: Array | None = None,
) -> Any:
    """Applies to each sample one of the sequences of augmentations in a policy.

    Args:
        data, shape, fill_value, interp_type, seed, key: see `rand_augment`.
        policy_name: "image_net", "reduced_image_net", "reduced_cifar10" or "svhn".
        max_translate_abs: largest translation without `shape`, in pixels: a number, or (height, width); None: 250.
        max_translate_rel: largest translation with `shape`, as a share: a number, or (height, width); None: 1.

    Returns: the augmented batch, with the same sizes and type.

    Raises:
        ValueError: the policy is unknown, or `shape` or a limit is given for a policy without translations.
    """
    if not isinstance(policy_name, str) or policy_name not in _POLICIES:
        raise ValueError(
            "auto_augment: The `policy_name` must be a string that takes one of the values: "
            f"{', '.join(f'`{n}`' for n in _POLICIES)}, got {policy_name!r}"
        )
    get_policy = _POLICIES[policy_name]
    kwargs: dict[str, Any] = {"fill_value": fill_value, "interp_type": interp_type}
    if shape is not None:
        kwargs["shape"] = shape
    if get_policy is get_reduced_image_net_policy:
        sizes = {
            "shape": shape, "max_translate_abs": max_translate_abs, "max_translate_rel": max_translate_rel
        }  # fmt: skip
        superfluous = [name for name, value in sizes.items() if value is not None]
        if superfluous:
            raise ValueError(
                f"auto_augment: The policy `{policy_name}` does not contain any augmentations that rely on the image shape. "
                f"The `{superfluous[0]}` argument must not be specified in that case."
            )
        policy = get_reduced_image_net_policy()
    else:
        policy = get_policy(shape is not None, max_translate_abs, max_translate_rel)
    return apply_auto_augment(policy, data, seed, **kwargs)


@in_either_mode
def auto_augment_image_net(
    data: object,
    shape: object = None,
    fill_value: object = 128,
    interp_type: object = None,
    max_translate_abs: object = None,
    max_translate_rel: object = None,
    seed: int | None = None,
    *,
    key: Array | None = None,
) -> Any:
    """Applies `auto_augment` with the policy "image_net"; see `auto_augment`."""
    return auto_augment(
        data, "image_net", shape, fill_value, interp_type, max_translate_abs, max_translate_rel, seed
    )


@in_either_mode
def apply_auto_augment(
    policy: Policy, data: object, seed: int | None = None, *, key: Array | None = None, **kwargs: object
) -> Any:
    """Applies one of the policy's sequences to each sample, with equal probabilities.

    Each augmentation of the sequence is applied with its probability in the policy.

    Args:
        policy: sequences to choose from.
        data: a batch.
        seed, key: see `rand_augment`.
        kwargs: arguments of the augmentations; each augmentation gets those of its function.

    Raises:
        ValueError: the policy has no sequences.
        UnusedArgException: `kwargs` has an argument that no augmentation takes.
    """
    who = "apply_auto_augment"
    if not policy.sub_policies:
        raise ValueError(f"{who}: Cannot run empty policy. Got {policy!r} in `{who}` call.")
    augmentations = policy.augmentations.values()
    forbid_unused_kwargs(augmentations, kwargs, who)
    signed = any(augmentation.randomly_negate for augmentation in augmentations)
    each = seeds(seed)
    sub_policy = one_of(len(policy.sub_policies), next(each))
    for column in range(max(map(len, policy.sub_policies))):
        candidates, ids, probabilities, bins = _column(policy, column)
        drawn: Any = fn.random.uniform(range=[0, 1], dtype=np.float32, seed=next(each))
        applied = drawn < rows_of(probabilities, sub_policy)
        # Samples that stay unchanged choose the identity, the last candidate, so that one choice is enough.
        identity = len(candidates) - 1
        choice = applied * rows_of(ids - identity, sub_policy) + identity
        magnitude_bin: Any = rows_of(bins, sub_policy)
        if signed:
            magnitude_bin = signed_bin(magnitude_bin, seed=next(each))
        arguments = {
            "data": data, "magnitude_bin": magnitude_bin, "num_magnitude_bins": policy.num_magnitude_bins,
            **kwargs,
        }  # fmt: skip
        data = pretty_select(candidates, choice, arguments, who, "get_image_net_policy")
    return data


def _column(policy: Policy, column: int) -> tuple[list[Augmentation], np.ndarray, np.ndarray, np.ndarray]:
    """Collects the operations at index `column` of all sub-policies.

    Returns: the distinct augmentations, with the identity last; then, for each sub-policy, the index of its augmentation, the
        probability, and the magnitude bin (0 in place of None).
    """
    operations = [
        sub[column] if column < len(sub) else (a.identity, 0.0, None) for sub in policy.sub_policies
    ]
    candidates = list(dict.fromkeys(augmentation for augmentation, _, _ in operations))
    candidates = [c for c in candidates if c is not a.identity] + [a.identity]
    ids = [candidates.index(augmentation) for augmentation, _, _ in operations]
    bins = [0 if magnitude is None else magnitude for _, _, magnitude in operations]
    probabilities = [probability for _, probability, _ in operations]
    return (
        candidates, np.array(ids, np.int32), np.array(probabilities, np.float32), np.array(bins, np.int32)
    )  # fmt: skip


def get_image_net_policy(
    use_shape: bool = False, max_translate_abs: object = None, max_translate_rel: object = None
) -> Policy:
    """Returns the policy found on ImageNet.

    Args:
        use_shape: True if translations are shares of the augmentations' argument `shape`, False if they are pixels.
        max_translate_abs, max_translate_rel: see `auto_augment`.
    """
    return _policy("ImageNetPolicy", tables.IMAGE_NET, use_shape, max_translate_abs, max_translate_rel)


def get_reduced_image_net_policy() -> Policy:
    """Returns the policy found on a part of ImageNet; it has no translations."""
    return _policy("ReducedImageNetPolicy", tables.REDUCED_IMAGE_NET)


def get_reduced_cifar10_policy(
    use_shape: bool = False, max_translate_abs: object = None, max_translate_rel: object = None
) -> Policy:
    """Returns the policy found on a part of CIFAR-10; for the arguments see `get_image_net_policy`."""
    return _policy(
        "ReducedCifar10Policy", tables.REDUCED_CIFAR10, use_shape, max_translate_abs, max_translate_rel
    )


def get_svhn_policy(
    use_shape: bool = False, max_translate_abs: object = None, max_translate_rel: object = None
) -> Policy:
    """Returns the policy found on SVHN; for the arguments see `get_image_net_policy`."""
    return _policy("SvhnPolicy", tables.SVHN, use_shape, max_translate_abs, max_translate_rel)


def _policy(
    name: str, table: tables.Table, use_shape: bool = False, max_translate_abs: object = None,
    max_translate_rel: object = None,
) -> Policy:  # fmt: skip
    enhance = (0.1, 1.9)
    suite = [
        *get_translations(use_shape, 250, 1.0, max_translate_abs, max_translate_rel),
        a.shear_x.augmentation((0, 0.3), True),
        a.shear_y.augmentation((0, 0.3), True),
        a.rotate.augmentation((0, 30), True),
        a.brightness.augmentation(enhance, False, None),
        a.contrast.augmentation(enhance, False, None),
        a.color.augmentation(enhance, False, None),
        a.sharpness.augmentation(enhance, False, a.sharpness_kernel_shifted),
        a.posterize.augmentation((0, 4), False, a.poster_mask_uint8),
        a.solarize.augmentation((0, 256), False),
        a.solarize_add.augmentation((0, 110), False),
        a.invert,
        a.equalize,
        a.auto_contrast,
    ]
    named = {augmentation.name: augmentation for augmentation in suite}
    sub_policies = [
        [(named[operation], probability, magnitude) for operation, probability, magnitude in row]
        for row in table
    ]
    return Policy(name, tables.NUM_MAGNITUDE_BINS, sub_policies)


_POLICIES: dict[str, Callable[..., Policy]] = {
    "image_net": get_image_net_policy,
    "reduced_image_net": get_reduced_image_net_policy,
    "svhn": get_svhn_policy,
    "reduced_cifar10": get_reduced_cifar10_policy,
}
