"""Computes the windows of `crop`, `slice`, `crop_mirror_normalize` and the decoders.

Functions work in NumPy on a whole batch of samples with the true sizes `extents`, [N, ndim]. They convert DALI's arguments
to anchors and sizes, int64 [N, ndim]. `take_window` takes a window out of a padded sample.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from jdali._batches import size_text
from jdali._errors import check_samples
from jdali._numerics.rounding import np_round_half_away
from jdali._operators.record import is_traced, refused_layout

POLICIES = ("error", "pad", "trim_to_shape")
BORDERS = ("clamp", "reflect_101", "reflect_1001", "wrap")  # further policies of `crop` and `slice`
ROUNDINGS = ("round", "truncate")
# Border modes by jdali's names and DALI's, in lower case.
_BORDER_NAMES = {name: name for name in (*BORDERS, "constant")} | {
    "edge": "clamp", "101": "reflect_101", "reflect101": "reflect_101", "1001": "reflect_1001",
    "reflect1001": "reflect_1001", "reflect": "reflect_1001", "fill": "constant", "pad": "constant",
}  # fmt: skip
_DEFAULT_LAYOUTS = {2: "HW", 3: "HWC", 4: "DHWC", 5: "FDHWC"}


def default_layout(layout: str, ndim: int) -> str:
    return layout or _DEFAULT_LAYOUTS.get(ndim, "")


def border_of(name: str) -> str:
    """Translates DALI's name of a border to one of `BORDERS` or "constant"; returns an unknown name unchanged."""
    return _BORDER_NAMES.get(name.lower(), name)


def policy_of(name: str) -> str:
    """Translates an `out_of_bounds_policy` as `border_of` does, with "pad" for a constant border."""
    border = border_of(name)
    return "pad" if border == "constant" else border


def check_choice(name: str, argument: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(
            f"{name}: Not supported {argument}: {value}. Supported values are {', '.join(map(repr, choices))}"
        )


def check_spatial(name: str, layout: str, ndim: int) -> None:
    if "H" not in layout or "W" not in layout:
        raise refused_layout(name, layout, ndim, "it has no H and W to crop; fn.slice cuts along any axis")


def crop_sizes(
    name: str,
    extents: np.ndarray,
    layout: str,
    crop: np.ndarray | None = None,
    crop_d: np.ndarray | None = None,
    crop_h: np.ndarray | None = None,
    crop_w: np.ndarray | None = None,
) -> np.ndarray:
    """Returns the sizes of crop windows, before any bounds policy.

    Args:
        layout: has H and W.
        crop: [N, 2] (height, width) or [N, 3] (depth, height, width); fractions are truncated.
        crop_d, crop_h, crop_w: [N] each, in place of `crop`. An axis whose value is 0 or negative is not cropped.

    Returns: int64 [N, ndim].
    """
    check_spatial(name, layout, extents.shape[1])
    single = {"D": crop_d, "H": crop_h, "W": crop_w}
    if crop is not None:
        if any(v is not None and np.any(v) for v in single.values()):
            raise ValueError(
                f"{name}: `crop` argument is not compatible with `crop_h`, `crop_w`, `crop_d`; give one or the others"
            )
        crop = np.asarray(crop)
        if crop.ndim != 2 or crop.shape[1] not in (2, 3):
            raise ValueError(
                f"{name}: `crop` argument should have 2 or 3 elements depending on the input data shape, got "
                f"{size_text(crop.shape[1:])}"
            )
        single = dict(zip("DHW"[3 - crop.shape[1] :], crop.T, strict=True))
    sizes = np.array(extents, np.int64)
    for letter, value in single.items():
        axis = _spatial_axis(layout, letter)
        if value is None or axis < 0:
            continue
        whole = np.trunc(np.asarray(value)).astype(np.int64)
        sizes[:, axis] = np.where(whole > 0, whole, sizes[:, axis])
    return sizes


def _spatial_axis(layout: str, letter: str) -> int:
    """Returns the axis of D, H or W. For a video, D is the axis of frames."""
    axis = layout.find(letter)
    return layout.find("F") if axis < 0 and letter == "D" else axis


def crop_positions(layout: str, x: object, y: object, z: object) -> list[Any]:
    """Returns the position argument of each axis of the layout; None for an axis that is never cropped."""
    positions: list[Any] = [None] * len(layout)
    for letter, value in (("D", z), ("H", y), ("W", x)):
        axis = _spatial_axis(layout, letter)
        if axis >= 0:
            positions[axis] = value
    return positions


def crop_window(
    name: str, extents: np.ndarray, sizes: np.ndarray, positions: Sequence[object], rounding: str = "round"
) -> np.ndarray:
    """Computes anchors of crop windows: position × (extent - size), rounded half away from zero or truncated.

    Args:
        sizes: [N, ndim], from `crop_sizes`.
        positions: result of `crop_positions`: for each axis float32 [N], 0 to 1, or None.
        rounding: "round" or "truncate".

    Returns: int64 [N, ndim].
    """
    check_choice(name, "rounding", rounding, ROUNDINGS)
    anchors = np.zeros_like(sizes)
    round_function = np.trunc if rounding == "truncate" else np_round_half_away
    for axis, position in enumerate(positions):
        if position is None:
            continue
        share = np.asarray(position, np.float32).astype(np.float64)
        # The product of a float32 and a size is exact in float64, so that halves are recognized.
        free = (extents[:, axis] - sizes[:, axis]).astype(np.float64)
        anchors[:, axis] = round_function(share * free).astype(np.int64)
    return anchors


def check_positions(name: str, changed: np.ndarray, positions: Sequence[object], letters: str) -> None:
    """Raises for a position outside of 0 to 1 on an axis that is cropped.

    Args:
        changed: bool [N, axes], True if the axis is cropped.
        positions: for each axis [N], or None; tracers are not checked.
        letters: letter of each axis; an error for H names `crop_pos_y`, for example.
    """
    for axis, position in enumerate(positions):
        if position is None or is_traced(position):
            continue
        value = np.asarray(position)
        wrong = changed[:, axis] & ~((value >= 0) & (value <= 1))
        argument = {"H": "crop_pos_y", "W": "crop_pos_x"}.get(letters[axis], "crop_pos_z")
        check_samples(wrong, functools.partial(_anchor_text, name, axis, value, argument), argument=argument)


def _anchor_text(name: str, axis: int, values: np.ndarray, argument: str, i: int) -> str:
    return f"{name}: Anchor for dimension {axis} ({values[i]:f}) is out of range [0.0, 1.0]; it is {argument}"


def crop_extents(
    name: str,
    extents: np.ndarray,
    layout: str,
    sizes: np.ndarray,
    positions: Sequence[object],
    policy: str,
    rounding: str,
    policies: tuple[str, ...] = POLICIES,
) -> np.ndarray:
    """Checks the arguments of `crop`, and computes the true sizes of its output.

    A crop window is out of bounds only if it is larger than the sample. So this check needs no positions, which the
    host might not know; `check_positions` checks known positions.

    Args:
        sizes: [N, ndim], from `crop_sizes`.
        positions: from `crop_positions`.
        rounding: only checked.

    Returns: int64 [N, ndim].
    """
    check_choice(name, "rounding", rounding, ROUNDINGS)
    check_positions(name, sizes != extents, positions, layout)
    check_choice(name, "out_of_bounds_policy", policy, policies)
    if policy == "error":
        check_samples(
            (sizes > extents).any(axis=1),
            lambda i: (
                f"{name}: Slice can't be placed out of bounds with current policy. Got: window {sizes[i].tolist()}, which "
                f"does not fit in an extent of {extents[i].tolist()} ({layout}); resize or pad it first, or set "
                "out_of_bounds_policy to 'pad' or 'trim_to_shape'"
            ),
        )
    return np.minimum(sizes, extents) if policy == "trim_to_shape" else sizes


def check_fill_values(
    name: str, policy: str, fill_values: Any, layout: str, channels: np.ndarray | None
) -> None:
    """Raises unless `fill_values` has one value, or one per channel of the output.

    Args:
        policy: `out_of_bounds_policy`; values are checked for "pad" only.
        layout: layout of the output.
        channels: [N], number of channels of the output; None if the layout has no C.
    """
    count = np.size(fill_values)
    if policy != "pad" or count == 1:
        return
    if channels is None:
        raise ValueError(
            f"{name}: Multi-channel fill_values was provided but channel dimension could not be found in layout {layout!r}: "
            f"there are {count} fill_values"
        )
    if (channels != count).any():
        raise ValueError(
            f"{name}: Multi-channel fill value does not match the number of channels in the output. The number of "
            "per-channel arguments should match the number of channels in the output slice: "
            f"{count} fill_values for {channels[channels != count][0]} channels"
        )


def check_border(name: str, policy: str, extents: np.ndarray, sizes: np.ndarray) -> None:
    """Raises if a border policy is applied to an empty sample, which has no border to repeat."""
    if policy in BORDERS:
        check_samples(
            ((extents == 0) & (sizes > 0)).any(axis=1),
            lambda i: (
                f"{name}: extent {extents[i].tolist()} is empty, so out_of_bounds_policy {policy!r} has nothing to repeat"
            ),
        )


def apply_bounds(
    name: str,
    policy: str,
    extents: np.ndarray,
    anchors: np.ndarray,
    sizes: np.ndarray,
    policies: tuple[str, ...] = POLICIES,
) -> tuple[np.ndarray, np.ndarray]:
    """Applies `out_of_bounds_policy`: raises an error, lets windows extend past the sample, or trims them to the sample.

    Returns: anchors and sizes, int64 [N, ndim].
    """
    check_choice(name, "out_of_bounds_policy", policy, policies)
    if policy == "pad" or policy in BORDERS:
        return anchors, sizes
    ends = anchors + sizes
    if policy == "trim_to_shape":
        low, high = np.clip(anchors, 0, extents), np.clip(ends, 0, extents)
        return low, np.maximum(high - low, 0)
    outside = ((anchors < 0) | (anchors > extents) | (ends > extents)).any(axis=1)
    check_samples(
        outside,
        lambda i: (
            f"{name}: Slice can't be placed out of bounds with current policy. Got: the window at "
            f"{anchors[i].tolist()} of size {sizes[i].tolist()}, which reaches out of sample {i} of extent "
            f"{extents[i].tolist()}; move it, or set out_of_bounds_policy to 'pad' or 'trim_to_shape'"
        ),
    )
    return anchors, sizes
