"""Measures the decoding of windows of photographs, as ResNet-50 draws them: whole, without the rows below, by tiles.

    python benchmarks/windows.py [--data DIR] [--rounds 7]

A tile is the part of a JPEG between two restart markers. The script adds the markers, as `python -m jdali convert
--windows` does. Results are milliseconds of thread time of a window: the mean over the windows of the minimum over the
rounds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from pipelines import default_data, files_of

from jdali.cli.conversion.restart_markers import with_markers
from jdali.codecs import image as codec
from jdali.codecs.jpeg_tiles import cut_tiles

WINDOWS = 6
AREA, RATIO = (0.08, 1.0), (3 / 4, 4 / 3)


def draw(rng: np.random.Generator, height: int, width: int) -> tuple[int, int, int, int]:
    """Draws y, x, height and width of a window."""
    while True:
        area = height * width * rng.uniform(*AREA)
        ratio = np.exp(rng.uniform(*np.log(RATIO)))
        rows, columns = round(np.sqrt(area / ratio)), round(np.sqrt(area * ratio))
        if 0 < rows <= height and 0 < columns <= width:
            y, x = rng.integers(0, height - rows + 1), rng.integers(0, width - columns + 1)
            return int(y), int(x), rows, columns


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", default=default_data(), help="folder of photographs")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--photographs", type=int, default=14)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    jobs = []
    sizes = np.zeros(2)
    files = files_of(options.data)
    for path in files[:: max(len(files) // options.photographs, 1)][: options.photographs]:
        plain = Path(path).read_bytes()
        tiled = with_markers(plain)
        sizes += len(plain), len(tiled)
        before, after = codec.probe(plain), codec.probe(tiled)
        windows = [draw(rng, before.height, before.width) for _ in range(WINDOWS)]
        jobs += [(plain, before, tiled, after, window) for window in windows]

    def measure(scale: int, run: Callable[..., object]) -> float:
        least = np.full(len(jobs), np.inf)
        for _ in range(options.rounds):
            for i, job in enumerate(jobs):
                start = time.thread_time()
                run(scale, *job)
                least[i] = min(least[i], time.thread_time() - start)
        return float(least.mean() * 1e3)

    print(f"{len(jobs)} windows; files with markers have {sizes[1] / sizes[0] - 1:+.1%} bytes")
    for scale in (1, 2):
        figures = ", ".join(f"{name} {measure(scale, run):.2f}" for name, run in RUNS.items())
        print(f"1/{scale}: {figures} ms")


def decode_whole(scale: int, plain: bytes, info: codec.ImageInfo, *_: object) -> np.ndarray:
    return codec.decode(plain, info=info, denominator=scale)


def decode_rows(scale: int, plain: bytes, info: codec.ImageInfo, *others: Any) -> np.ndarray:
    return codec.decode(plain, info=info, denominator=scale, window=others[-1])


def decode_tiles(scale: int, *job: Any) -> np.ndarray:
    _, _, tiled, info, window = job
    return codec.decode(tiled, info=info, denominator=scale, window=window)


def cut(scale: int, *job: Any) -> object:
    _, _, tiled, info, (y, x, height, width) = job
    window = y // scale, x // scale, height // scale, width // scale
    return cut_tiles(memoryview(tiled), info.detail.coded, (info.height, info.width), window, scale)


RUNS = {
    "whole": decode_whole,
    "rows below left out": decode_rows,
    "tiles": decode_tiles,
    "cutting them out": cut,
}


if __name__ == "__main__":
    main()
