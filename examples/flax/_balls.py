"""A small video data set that needs no download: a ball that moves left, right, up or down."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
from _made_once import made_once

# Pixels right and down for each pixel moved.
DIRECTIONS = {"down": (0, 1), "left": (-1, 0), "right": (1, 0), "up": (0, -1)}
SIZE = 56  # height and width of the clips
FRAMES = 16
RATE = 24  # frames a second


def balls_folder(train: int = 512, val: int = 64) -> Path:
    """Folder with `train/<direction>` and `val/<direction>`; made on the first call, then reused."""

    def write(making: Path, _: Path) -> None:
        rng = np.random.default_rng(0)
        write_clips(making / "train", train, rng)
        write_clips(making / "val", val, rng)

    return made_once(f"balls-{train}-{val}", write)


def write_clips(folder: Path, count: int, rng: np.random.Generator, frames: int = FRAMES) -> None:
    """Writes `count` clips, in turn of each direction, to `<folder>/<direction>/`."""
    for number in range(count):
        name = list(DIRECTIONS)[number % len(DIRECTIONS)]
        (folder / name).mkdir(parents=True, exist_ok=True)
        encode(folder / name / f"{number:04d}.mp4", clip(DIRECTIONS[name], frames, rng))


def clip(direction: tuple[int, int], frames: int, rng: np.random.Generator) -> np.ndarray:
    """uint8 [frames, SIZE, SIZE, 3]. What leaves on one side comes back on the other, so no position tells
    the direction."""
    start, speed = rng.uniform(0, SIZE, 2), rng.uniform(1, 3)
    radius, colour = rng.uniform(5, 9), rng.uniform(0, 60, 3) + rng.choice([0, 195])
    texture = np.repeat(np.repeat(rng.uniform(90, 165, (SIZE // 4, SIZE // 4, 3)), 4, axis=0), 4, axis=1)
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    pictures = np.empty((frames, SIZE, SIZE, 3))
    for number in range(frames):
        centre = start + speed * number * np.array(direction)
        # The shortest way to the centre may lead over a border.
        across, along = ((p - c + SIZE / 2) % SIZE - SIZE / 2 for p, c in zip((x, y), centre, strict=True))
        ball = np.clip(radius - np.hypot(across, along) + 0.5, 0, 1)[..., None]
        pictures[number] = texture * (1 - ball) + colour * ball
    noisy = pictures + rng.normal(0, 8, pictures.shape)
    return np.clip(np.round(noisy), 0, 255).astype(np.uint8)


def encode(path: Path, pictures: np.ndarray) -> None:
    """Writes pictures [F, H, W, 3] as a video."""
    with av.open(str(path), "w") as file:
        stream = file.add_stream("libx264", rate=RATE, options={"preset": "ultrafast", "crf": "18"})
        stream.height, stream.width = pictures.shape[1:3]
        stream.pix_fmt = "yuv420p"
        for picture in pictures:
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        file.mux(stream.encode())
