"""Draws the picture of README and of the landing page: a photograph, and the results of operators on it."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

_SHOWN = [
    "decoders-image", "rotate", "color_twist", "random_resized_crop", "warp_affine", "water",
    "flip", "grid_mask", "gaussian_blur", "noise-gaussian", "equalize", "erase",
]  # fmt: skip
_TILE = (148, 96)  # width and height, pixels
_COLUMNS, _GAP = 6, 6


def write_strip(pictures: Path, file: Path) -> None:
    """Writes the picture.

    Args:
        pictures: folder with the drawings of the operators' examples.
        file: path of the PNG file to write.
    """
    rows = -(-len(_SHOWN) // _COLUMNS)
    size = (_COLUMNS * (_TILE[0] + _GAP) - _GAP, rows * (_TILE[1] + _GAP) - _GAP)
    strip = Image.new("RGBA", size)
    for number, name in enumerate(_SHOWN):
        picture = Image.open(pictures / f"{name}-images.png").convert("RGB")
        scale = max(_TILE[0] / picture.width, _TILE[1] / picture.height)
        picture = picture.resize(
            (round(picture.width * scale), round(picture.height * scale)), Image.Resampling.LANCZOS
        )
        left, top = (picture.width - _TILE[0]) // 2, (picture.height - _TILE[1]) // 2
        picture = picture.crop((left, top, left + _TILE[0], top + _TILE[1]))
        row, column = divmod(number, _COLUMNS)
        strip.paste(picture, (column * (_TILE[0] + _GAP), row * (_TILE[1] + _GAP)))
    strip.quantize(200, Image.Quantize.FASTOCTREE).save(file, optimize=True)
