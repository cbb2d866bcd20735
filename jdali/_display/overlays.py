"""Draws boxes with labels, polygons, points and masks over a picture."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jdali._display.markup import data_uri, escape
from jdali._display.pictures import Pixels, fit, png

COLOURS = ("#ff4d4d", "#2f9bff", "#2fc26a", "#ffb300", "#b46bff", "#00c2c2", "#ff7ac6", "#9bd11f")
_MOST_SHAPES = 200


@dataclasses.dataclass(frozen=True)
class Overlay:
    """Shapes over a picture, in pixels or relative to its width and height.

    Attributes:
        boxes: [n, 4]; each row is (left, top, right, bottom).
        labels: a label for each box.
        polygons: arrays [k, 2] of (x, y).
        points: array [k, 2] of (x, y).
        mask: integers [H, W]; pixels with 0 stay uncoloured.
        relative: which of "boxes", "polygons" and "points" have relative coordinates, from 0 to 1.
    """

    boxes: NDArray[np.floating] | None = None
    labels: Sequence[str] = ()
    polygons: Sequence[NDArray[np.floating]] = ()
    points: NDArray[np.floating] | None = None
    mask: NDArray[np.generic] | None = None
    relative: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        return self.boxes is None and self.points is None and self.mask is None and not self.polygons


def overlay_html(overlay: Overlay, height: int, width: int, side: int) -> str:
    """Draws shapes as HTML to lay over a picture.

    Args:
        height, width: size of the picture in pixels.
        side: maximum height and width of the mask's image, pixels.
    """
    parts = []
    if overlay.mask is not None:
        uri = data_uri(png(fit_mask(overlay.mask, side)), "image/png")
        parts.append(f'<img class="jd-over" src="{uri}" alt="mask">')
    shapes = _shapes(overlay, height, width)
    if shapes:
        stroke, size = max(max(height, width) / 160, 0.5), max(max(height, width) / 12, 2)
        parts.append(
            f'<svg viewBox="0 0 {width} {height}" preserveAspectRatio="none" fill="none" stroke-width="{stroke:.2f}" '
            f'font-size="{size:.1f}">{"".join(shapes)}</svg>'
        )
    return "".join(parts)


def _shapes(overlay: Overlay, height: int, width: int) -> list[str]:
    size, one = np.array([width, height], np.float64), np.ones(2)
    boxes, polygons, points = (
        size if kind in overlay.relative else one for kind in ("boxes", "polygons", "points")
    )
    shapes = []
    for i, box in enumerate([] if overlay.boxes is None else overlay.boxes[:_MOST_SHAPES]):
        colour = COLOURS[i % len(COLOURS)]
        (left, top), (right, bottom) = (np.asarray(box, np.float64).reshape(2, 2) * boxes).tolist()
        shapes.append(
            f'<rect x="{left:.2f}" y="{top:.2f}" width="{max(right - left, 0):.2f}" height="{max(bottom - top, 0):.2f}" '
            f'stroke="{colour}"/>'
        )
        if i < len(overlay.labels):
            label = escape(overlay.labels[i])
            look = 'fill="#fff" stroke="#000" stroke-opacity=".7" paint-order="stroke"'
            shapes.append(f'<text x="{left:.2f}" y="{top:.2f}" dy="1em" {look}>{label}</text>')
    for i, polygon in enumerate(overlay.polygons[:_MOST_SHAPES]):
        ring = " ".join(f"{x:.2f},{y:.2f}" for x, y in (np.asarray(polygon, np.float64) * polygons).tolist())
        colour = COLOURS[i % len(COLOURS)]
        shapes.append(f'<polygon points="{ring}" stroke="{colour}" fill="{colour}" fill-opacity=".25"/>')
    for x, y in [] if overlay.points is None else (overlay.points[:_MOST_SHAPES, :2] * points).tolist():
        radius = max(height, width) / 80
        shapes.append(
            f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{radius:.2f}" fill="{COLOURS[0]}" stroke="#fff"/>'
        )
    return shapes


def mask_pixels(mask: NDArray[np.generic]) -> Pixels:
    """Maps each value of a mask [H, W], except 0, to a half transparent colour; returns uint8 [H, W, 4]."""
    values = mask.astype(np.int64)
    colours = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in COLOURS], np.uint8)
    pixels = np.zeros((*mask.shape, 4), np.uint8)
    pixels[..., :3] = colours[(values - 1) % len(colours)]
    pixels[..., 3] = np.where(values != 0, 128, 0)
    return pixels


def fit_mask(mask: NDArray[np.generic], side: int) -> Pixels:
    """Colours a mask. Shrinks it to `side` by dropping rows and columns, because averaging would mix colours."""
    step = max(-(-max(mask.shape) // side), 1)
    return fit(mask_pixels(mask[::step, ::step]), side)
