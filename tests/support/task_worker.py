"""A pipeline whose tasks are made in another process: `python -m support.task_worker FOLDER ON_ERROR TASKS RESULTS`.

The process builds the pipeline of the folder anew and makes the batches of pickled tasks, last ones first.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np

import jdali
from jdali import fn
from jdali.engine import Engine

BATCH, BAD = 4, (1, 5, 6)


def build(folder: Path, on_error: str) -> jdali.Pipeline:
    """A shuffling reader, an external source that gives other values in each process, random values."""
    rng = np.random.default_rng()
    pipe = jdali.Pipeline(batch_size=BATCH, num_threads=1, seed=7, on_error=on_error)
    with pipe:
        files, labels = fn.readers.file(file_root=str(folder), random_shuffle=True, name="pictures")
        offsets = fn.external_source(source=lambda: rng.random(BATCH, np.float32), name="offsets")
        pictures = fn.decoders.image(files)
        pictures = fn.flip(pictures, horizontal=fn.random.coin_flip()) * fn.random.uniform(range=(0.5, 1.0))
        pipe.set_outputs(fn.noise.gaussian(pictures, stddev=3.0) + offsets, labels, offsets)
    return pipe


def engine_of(pipe: jdali.Pipeline) -> Engine:
    """The engine of a pipeline."""
    return pipe.internals().engine


def samples(outputs: tuple[jdali.tensors.TensorList, ...]) -> list[list[np.ndarray]]:
    """The outputs of a batch as arrays."""
    return [output.as_cpu().to_samples() for output in outputs]


def main() -> None:
    folder, on_error, tasks, results = sys.argv[1:]
    made = []
    with build(Path(folder), on_error) as pipe:
        engine = engine_of(pipe)
        for task in reversed(pickle.loads(Path(tasks).read_bytes())):
            made.append(samples(engine.make(task).outputs))
    Path(results).write_bytes(pickle.dumps(made[::-1]))


if __name__ == "__main__":
    main()
