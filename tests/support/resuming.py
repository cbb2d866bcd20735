"""A small augmenting pipeline over pictures, to be interrupted and resumed; also run as a program.

    python -m support.resuming FOLDER STATE LOG THREADS DEPTH STEPS

goes on from STATE if that file is there, writes it after each batch and a line of hashes to LOG.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import jdali
from jdali import fn, types
from jdali.iterator import DataIterator

COUNT = 13


def write_pictures(folder: Path, count: int = COUNT) -> None:
    """JPEG files of random noise, named by number."""
    from PIL import Image

    for i in range(count):
        pixels = np.random.default_rng(i).integers(0, 256, (14 + i % 3, 12 + i % 4, 3), np.uint8)
        Image.fromarray(pixels).save(folder / f"{i:02d}.jpg")


@jdali.pipeline_def(seed=7)
def augmenting(folder: Path, reader: dict[str, Any] | None = None) -> Any:
    """Pictures 8 by 8, random in five ways; a random number; the number of the file."""
    files = sorted(map(str, Path(folder).glob("*.jpg")))
    data, labels = fn.readers.file(
        files=files, labels=list(range(len(files))), random_shuffle=True, name="Reader", **(reader or {})
    )
    images = fn.decoders.image_random_crop(data, random_area=[0.5, 1.0])
    nearest = types.INTERP_NN  # compiles quickly
    images = fn.rotate(
        images, angle=fn.random.uniform(range=[-30.0, 30.0]), fill_value=0, interp_type=nearest
    )
    images = fn.resize(images, size=[8, 8], interp_type=nearest)
    images = fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip(), mean=[120.0])
    return images, fn.random.uniform(range=[0.0, 1.0]), labels


@jdali.pipeline_def(seed=7)
def drawing(folder: Path, reader: dict[str, Any] | None = None) -> Any:
    """Only the random number and the number of the file: quick to compile."""
    files = sorted(map(str, Path(folder).glob("*.jpg")))
    _, labels = fn.readers.file(
        files=files, labels=list(range(len(files))), random_shuffle=True, name="Reader", **(reader or {})
    )
    return fn.random.uniform(range=[0.0, 1.0]), labels


def light_iterator(folder: Path, *, reader: dict[str, Any] | None = None, **options: Any) -> DataIterator:
    """Of `drawing`."""
    of_iterator = {k: options.pop(k) for k in ("last_batch_policy",) if k in options}
    pipe = drawing(folder, reader, **{"num_threads": 1, **options})
    return DataIterator(pipe, ["value", "label"], reader_name="Reader", auto_reset=True, **of_iterator)


def iterator(folder: Path, *, reader: dict[str, Any] | None = None, **options: Any) -> DataIterator:
    """Of `augmenting`: with its own options for the iterator and the pipeline."""
    of_iterator = {k: options.pop(k) for k in ("last_batch_policy",) if k in options}
    pipe = augmenting(folder, reader, **{"batch_size": 4, "num_threads": 2, **options})
    return DataIterator(
        pipe, ["image", "value", "label"], reader_name="Reader", auto_reset=True, **of_iterator
    )


def digest(batch: dict[str, Any]) -> str:
    """Hash of all arrays of a batch."""
    return hashlib.sha256(b"".join(np.asarray(batch[k]).tobytes() for k in sorted(batch))).hexdigest()[:16]


def forever(it: DataIterator) -> Any:
    """Batches of epoch after epoch."""
    while True:
        for batch in it:  # noqa: UP028  `yield from` would close the iterator
            yield batch


def kept_for_the_kill(written: int) -> None:
    """Sleeps once MOST_LINES lines are written: a kill that comes late must not find this process ended."""
    if written >= int(os.environ.get("MOST_LINES", sys.maxsize)):
        time.sleep(600)


def goes_on(it: DataIterator, state: str, log: str, steps: int) -> None:
    """Goes on after the last state that is there; notes each batch, then the state after it."""
    if os.path.exists(state):
        it.set_state(json.loads(Path(state).read_text()))
    with open(log, "a") as lines:
        for written, batch in enumerate(forever(it)):
            kept_for_the_kill(written)
            step = it.get_state()["steps"]
            lines.write(f"{step} {digest(batch)}\n")
            lines.flush()
            # Either the old state is there or the new one, whenever the process dies.
            Path(state + ".new").write_text(json.dumps(it.get_state()))
            os.replace(state + ".new", state)
            if step >= steps:
                break


def main(folder: str, state: str, log: str, threads: str, depth: str, steps: str) -> None:
    options = {"num_threads": int(threads), "prefetch_queue_depth": int(depth)}
    with iterator(Path(folder), **options) as it:
        goes_on(it, state, log, int(steps))


if __name__ == "__main__":
    main(*sys.argv[1:])
