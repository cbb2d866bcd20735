"""Makes the translations of policies and suites, in pixels or in shares of the image's size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jdali.auto_aug import augmentations as a
from jdali.auto_aug.core._args import MissingArgException
from jdali.auto_aug.core._augmentation import Augmentation
from jdali.auto_aug.core._choice import select
from jdali.data_node import DataNode


def get_translations(
    use_shape: bool,
    default_translate_abs: float,
    default_translate_rel: float,
    max_translate_abs: object,
    max_translate_rel: object,
) -> list[Augmentation]:
    """Makes [translate_x, translate_y].

    Args:
        use_shape: True if limits are shares of the image's height and width, False if they are pixels.
        default_translate_abs, default_translate_rel: values that replace None in the next two arguments.
        max_translate_abs: limit in pixels: a number for both axes, or (height, width); None: `default_translate_abs`.
        max_translate_rel: limit as a share: a number for both axes, or (height, width); None: `default_translate_rel`.

    Raises:
        TypeError: `use_shape` is not a bool.
        ValueError: `max_translate_abs` is given with `use_shape`, or `max_translate_rel` without.
    """
    if not isinstance(use_shape, bool):
        raise TypeError(
            f"The `use_shape` is a flag that should be set to either True or False, got {use_shape!r}."
        )
    if use_shape and max_translate_abs is not None:
        raise ValueError(
            "The argument `max_translate_abs` cannot be used with image shapes. You may use `max_translate_rel` instead."
        )
    if not use_shape and max_translate_rel is not None:
        raise ValueError(
            "The argument `max_translate_rel` cannot be used without image shapes. You may use `max_translate_abs` instead."
        )
    limit = max_translate_rel if use_shape else max_translate_abs
    if limit is None:
        limit = default_translate_rel if use_shape else default_translate_abs
    height, width = limit if isinstance(limit, (tuple, list)) else (limit, limit)
    x, y = (a.translate_x, a.translate_y) if use_shape else (a.translate_x_no_shape, a.translate_y_no_shape)
    return [x.augmentation((0, width), True), y.augmentation((0, height), True)]


def pretty_select(
    augmentations: Sequence[Augmentation],
    aug_ids: DataNode,
    op_kwargs: Mapping[str, object],
    auto_aug_name: str,
    ref_suite_name: str,
) -> DataNode:
    """Applies the chosen augmentation to each sample. If `shape` is missing, the error explains what to do."""
    try:
        return select(augmentations, aug_ids, **op_kwargs)
    except MissingArgException as error:
        translations = (a.translate_x.op, a.translate_y.op)
        if error.missing_args != ["shape"] or error.augmentation.op not in translations:
            raise
        raise TypeError(
            f"{auto_aug_name}: The augmentation `{error.augmentation.name}` requires `shape` argument that describes image shape "
            f"(in HWC layout). Please provide it as `shape` argument to `{auto_aug_name}` call; `fn.peek_image_shape` "
            "gives it for encoded images. Translations by pixels, `translate_x_no_shape` and `translate_y_no_shape`, "
            f"need none: `{ref_suite_name}` with `use_shape=False` has them."
        ) from error
