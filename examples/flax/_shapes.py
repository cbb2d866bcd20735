"""A small detection data set that needs no download: squares, discs and triangles on textured pictures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from _made_once import made_once
from PIL import Image

CLASSES = ("square", "disc", "triangle")
QUALITY = 90  # of the JPEG files


def shapes_folder(train: int = 640, val: int = 96) -> Path:
    """Folder with `train` and `val` and their annotations; made on the first call, then reused."""

    def write(making: Path, _: Path) -> None:
        rng = np.random.default_rng(0)
        write_shapes(making, "train", train, rng)
        write_shapes(making, "val", val, rng)

    return made_once(f"shapes-{train}-{val}", write)


def write_shapes(
    folder: Path, split: str, count: int, rng: np.random.Generator, sizes: tuple[int, int] = (96, 144)
) -> Path:
    """Writes pictures to `<split>/` and their annotations, in COCO's format, to `<split>.json`; see `draw`."""
    (folder / split).mkdir(parents=True)
    images: list[dict[str, object]] = []
    annotations: list[dict[str, object]] = []
    for number in range(count):
        picture, objects = draw(rng, sizes)
        name = f"{number:05d}.jpg"
        Image.fromarray(picture).save(folder / split / name, quality=QUALITY)
        height, width = picture.shape[:2]
        images.append({"id": number, "file_name": name, "height": height, "width": width})
        for kind, (x, y, w, h) in objects:
            annotations.append({
                "id": len(annotations), "image_id": number, "category_id": kind + 1, "bbox": [x, y, w, h],
                "area": w * h, "iscrowd": 0,
            })  # fmt: skip
    categories = [{"id": i + 1, "name": name} for i, name in enumerate(CLASSES)]
    file = folder / f"{split}.json"
    file.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))
    return file


def draw(
    rng: np.random.Generator, sizes: tuple[int, int] = (96, 144)
) -> tuple[np.ndarray, list[tuple[int, tuple[int, int, int, int]]]]:
    """uint8 [height, width, 3] picture, and the class and (x, y, width, height) of each shape in it.

    Args:
        rng: of the picture.
        sizes: least height and width, and the first that is too large.
    """
    height, width = rng.integers(*sizes, 2)
    picture = _texture(height, width, rng)
    objects: list[tuple[int, tuple[int, int, int, int]]] = []
    taken = np.zeros((height, width), bool)
    for _ in range(rng.integers(1, 5)):
        kind, size = int(rng.integers(len(CLASSES))), int(rng.integers(sizes[0] // 6, sizes[0] * 7 // 12))
        x, y = int(rng.integers(width - size)), int(rng.integers(height - size))
        if taken[y : y + size, x : x + size].any():
            continue  # no shape hides another
        taken[y : y + size, x : x + size] = True
        inside = _outline(kind, size)
        colour = rng.integers(0, 256, 3)
        region = picture[y : y + size, x : x + size]
        region[inside] = 0.15 * region[inside] + 0.85 * colour
        objects.append((kind, (x, y, size, size)))
    noisy = picture + rng.normal(0, 6, picture.shape)
    return np.clip(np.round(noisy), 0, 255).astype(np.uint8), objects


def _texture(height: int, width: int, rng: np.random.Generator) -> np.ndarray:
    """float64 [height, width, 3]: soft stripes in two directions, in two colours."""
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(rng.uniform(-0.3, 0.3) * x + rng.uniform(-0.3, 0.3) * y) for _ in range(2)]
    mixed = (0.5 + 0.25 * (waves[0] + waves[1]))[..., None]
    return mixed * rng.uniform(0, 255, 3) + (1 - mixed) * rng.uniform(0, 255, 3)


def _outline(kind: int, size: int) -> np.ndarray:
    """bool [size, size]: which pixels belong to the shape."""
    y, x = (np.mgrid[0:size, 0:size] + 0.5) / size
    if CLASSES[kind] == "square":
        return np.ones((size, size), bool)
    if CLASSES[kind] == "disc":
        return np.asarray((x - 0.5) ** 2 + (y - 0.5) ** 2 <= 0.25)
    return np.asarray(np.abs(x - 0.5) <= y / 2)
