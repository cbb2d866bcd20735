"""A small data set of real pictures that needs no download: scikit-learn's handwritten digits, as JPEGs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from _made_once import made_once
from PIL import Image
from sklearn.datasets import load_digits

SIZE = 32
# Every fifth picture of a class is for validation.
VALIDATION_STEP = 5


def digits_folder() -> Path:
    """Folder with `train/0` ... `train/9` and `val/0` ... `val/9`; made on the first call, then reused."""
    return made_once("digits", lambda making, _: _write_digits(making))


def _write_digits(folder: Path) -> None:
    pictures, labels = load_digits(return_X_y=True)
    seen = dict.fromkeys(range(10), 0)
    for picture, label in zip(pictures.reshape(-1, 8, 8), labels.tolist(), strict=True):
        split = "val" if seen[label] % VALIDATION_STEP == 0 else "train"
        target = folder / split / str(label) / f"{seen[label]:04d}.jpg"
        target.parent.mkdir(parents=True, exist_ok=True)
        seen[label] += 1
        pixels = np.round(picture * (255 / 16)).astype(np.uint8)  # the data set counts from 0 to 16
        large = Image.fromarray(pixels).resize((SIZE, SIZE), Image.Resampling.BICUBIC)
        large.convert("RGB").save(target, quality=95)
