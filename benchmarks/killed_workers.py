"""Measures the cost of workers' deaths: kill -9 ten times in an epoch, a codec that crashes, and every way to end.

    python benchmarks/killed_workers.py [--workers 2] [--kills 10] [--ray]

The script prints
* the longest wait for a batch, with and without kills, and whether the batches equal those of one process bit for bit;
* the time until a sample that crashes its worker raises an error;
* the time until the program has ended after `close`, an early `break`, an exception, Ctrl-C and kill -9, and the
  processes and names in /dev/shm that are left.

Targets: waits of at most 2 s, 10 s until the error, 2 s until the end. Times depend on the load of the machine, which
is printed, too.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import jdali
from jdali import fn

BATCH, FILES = 8, 320
EPOCH = 1_000_000  # samples; files are repeated, so that all kills happen in one epoch
WARM = 20  # batches that are not measured
CRASHING = 13  # number of the picture at which the codec crashes
PATIENCE = 60.0


def write_pictures(folder: Path) -> str:
    (folder / "0").mkdir(parents=True)
    rng = np.random.default_rng(0)
    for number in range(FILES):
        small = Image.fromarray(rng.integers(0, 255, (16, 16, 3), np.uint8))
        small.resize((256, 256)).save(folder / "0" / f"{number:03}.jpg")
    return str(folder)


def pictures(folder: str, workers: Any) -> jdali.Pipeline:
    @jdali.pipeline_def(batch_size=BATCH, num_threads=1, seed=3, workers=workers)
    def define() -> Any:
        files = [f"0/{number % FILES:03}.jpg" for number in range(EPOCH)]
        encoded, label = fn.readers.file(file_root=folder, files=files, random_shuffle=True, name="reader")
        return fn.random_resized_crop(fn.decoders.image(encoded), size=(224, 224)), label

    pipe: jdali.Pipeline = define()
    return pipe


def crashing(folder: str, workers: Any) -> jdali.Pipeline:
    def codec(name: Any) -> Any:
        if int(bytes(name).decode()[-7:-4]) == CRASHING:
            ctypes.string_at(0)
        return name[:1]

    @jdali.pipeline_def(batch_size=BATCH, num_threads=1, seed=3, workers=workers)
    def define() -> Any:
        encoded, _ = fn.readers.file(file_root=folder, name="reader")
        return fn.python_function(encoded.source_info(), function=codec)

    pipe: jdali.Pipeline = define()
    return pipe


def pids_of(pipe: Any) -> list[int]:
    """Returns the ids of the processes that run tasks: workers, or actors of a cluster."""
    workers = pipe.internals().engine.elsewhere.workers
    if hasattr(workers, "pids"):
        return list(workers.pids())
    places = [slot.place for slot in list(workers._slots.values())]
    return [place.pid for place in places if place is not None]


def is_whole(pipe: Any, died: int) -> bool:
    """Returns True if all workers are ready, and at least `died` deaths were noticed."""
    workers = pipe.internals().engine.elsewhere.workers
    counts = workers.counts()
    return counts.ready == workers.count and counts.deaths >= died


def stream(pipe: Any, batches: int, kills: int = 0) -> tuple[list[str], list[float]]:
    """Runs batches, and kills a worker whenever all workers are ready; returns digests of batches, and waiting times.

    Args:
        pipe: pipeline.
        batches: minimum number of batches; more batches run until all kills are done.
        kills: number of workers to kill, one after another.
    """
    digests: list[str] = []
    waits: list[float] = []
    died = 0
    while len(digests) < batches or kills:
        began = time.perf_counter()
        outputs = pipe.run()
        waits.append(time.perf_counter() - began)
        samples = [np.asarray(output.as_array()).tobytes() for output in outputs]
        digests.append(hashlib.sha256(b"".join(samples)).hexdigest())
        if kills and len(digests) > WARM and is_whole(pipe, died):
            pids = pids_of(pipe)
            os.kill(pids[kills % len(pids)], signal.SIGKILL)
            kills, died = kills - 1, died + 1
    return digests, waits[WARM:]


def deaths(folder: str, workers: Callable[[], Any], kills: int) -> None:
    for count in (0, kills):
        with contextlib.closing(pictures(folder, workers())) as pipe:
            found, waits = stream(pipe, 2 * WARM, count)
            died = pipe.internals().engine.elsewhere.workers.counts().deaths  # type: ignore[union-attr]
        with contextlib.closing(pictures(folder, 0)) as pipe:
            expected, _ = stream(pipe, len(found))
        print(
            f"{count} kills: {died} deaths noticed in {len(found)} batches, longest wait {max(waits):.2f} s, "
            f"median {np.median(waits):.3f} s, the stream of one process: {found == expected}",
            flush=True,
        )


def crash(folder: str, workers: Callable[[], Any]) -> None:
    with contextlib.closing(crashing(folder, workers())) as pipe:
        began = time.perf_counter()
        try:
            for _ in range(FILES):
                began = time.perf_counter()
                pipe.run()
        except RuntimeError as error:
            print(f"a sample that crashes: raised after {time.perf_counter() - began:.2f} s: {error}"[:180])


ENDS = {
    "close": "it.close(); print('over', flush=True); break",
    "break and exit": "break",
    "exception": "raise KeyError",
    "Ctrl-C": "time.sleep(0.01)",
    "kill -9": "time.sleep(0.01)",
}
PROGRAM = """
import contextlib, os, signal, sys, time
sys.path.insert(0, {here!r})
signal.signal(signal.SIGINT, signal.default_int_handler)
from jdali.iterator import DataIterator
from killed_workers import pictures, pids_of
pipe = pictures({folder!r}, {workers})
it = DataIterator(pipe, ["picture", "label"])
for step, batch in enumerate(it):
    if step == 3:
        print(*pids_of(pipe), flush=True)
    if step >= 3:
        {end}
"""


def ends(folder: str, count: int) -> None:
    """Ends programs in each way of `ENDS`; prints the time until they ended, and the processes and memory left."""
    for name, end in ENDS.items():
        before = set(os.listdir("/dev/shm"))
        text = PROGRAM.format(here=str(Path(__file__).parent), folder=folder, workers=count, end=end)
        with subprocess.Popen(
            [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            assert process.stdout is not None
            pids = [int(word) for word in process.stdout.readline().split()]
            began = time.perf_counter()
            if name == "Ctrl-C":
                process.send_signal(signal.SIGINT)
            if name == "kill -9":
                process.kill()
            if name == "close":
                process.stdout.readline()
            else:
                process.wait(PATIENCE)
            ended = time.perf_counter() - began
            process.wait(PATIENCE)
            while alive := [pid for pid in pids if os.path.exists(f"/proc/{pid}")]:
                if time.perf_counter() - began > PATIENCE:
                    break
                time.sleep(0.01)
            gone = time.perf_counter() - began
        left = {entry for entry in set(os.listdir("/dev/shm")) - before if "jdali" in entry}
        print(
            f"{name}: over after {ended:.2f} s, {len(pids)} workers gone after {gone:.2f} s, left: {len(alive)} processes, "
            f"{len(left)} names in /dev/shm",
            flush=True,
        )


@contextlib.contextmanager
def on_ray(count: int) -> Iterator[Callable[[], Any]]:
    """Starts a cluster of one node; yields a function that returns workers of it."""
    import ray

    from jdali.plugin.ray import Workers

    ray.init(
        address="local",
        num_cpus=count,
        object_store_memory=1 << 28,
        include_dashboard=False,
        log_to_driver=False,
    )
    yield lambda: Workers(count)
    ray.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--ray", action="store_true", help="actors of a cluster in place of processes")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as name:
        folder = write_pictures(Path(name) / "all")
        with (
            on_ray(options.workers)
            if options.ray
            else contextlib.nullcontext(lambda: options.workers) as workers
        ):
            deaths(folder, workers, options.kills)
            crash(folder, workers)
        if not options.ray:
            ends(folder, options.workers)


if __name__ == "__main__":
    main()
