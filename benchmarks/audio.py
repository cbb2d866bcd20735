"""Measures the decoding of sounds in a pipeline, jdali against DALI (CPU): files a second.

    python benchmarks/audio.py [--threads 2] [--rounds 5] [--workload wav ...]

The script writes the files: speech-like noise of 2 to 12 seconds at 16 kHz. The rivals run in separate processes and
take turns. A row shows the median over the rounds. The ratio compares a rival's turn with DALI's turn of the same round
(median). `cpu` is the processor time of a file over all threads, in milliseconds; the load of the machine hardly
changes it.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import soundfile

sys.path.insert(0, str(Path(__file__).parent))
from _harness import arguments, compare, say, serve

BATCH = 16
FILES = 32
RIVALS = ("dali", "jdali")
FORMATS = {"wav": "PCM_16", "flac": "PCM_16", "ogg": "VORBIS"}
WORKLOADS = ("wav", "flac", "ogg", "wav-44100", "flac-44100", "ogg-44100", "wav-8000-int16")


def make(folder: Path) -> None:
    """Writes files of each format: noise with a slow rhythm, which compresses about as well as speech."""
    rng = np.random.default_rng(0)
    for i in range(FILES):
        count = int(16000 * (2 + 10 * i / FILES))
        noise = np.convolve(rng.normal(0, 1, count), np.hanning(12), "same")
        wave = noise * np.abs(np.sin(np.arange(count) / 4000)) ** 3
        for kind, subtype in FORMATS.items():
            (folder / kind).mkdir(exist_ok=True)
            file = folder / kind / f"{i:02}.{kind}"
            soundfile.write(
                file, (0.5 * wave / np.abs(wave).max()).astype(np.float32), 16000, subtype=subtype
            )


def pipeline(package: str, workload: str, folder: str, threads: int):
    """Defines the same pipeline for DALI and for jdali; only the imports differ."""
    root = importlib.import_module(package)
    fn = importlib.import_module(package + ".fn")
    types = importlib.import_module(package + ".types")
    kind, *rate = workload.split("-")
    options = {"sample_rate": float(rate[0]), "downmix": True} if rate else {}
    if workload.endswith("int16"):
        options["dtype"] = types.INT16

    @root.pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None, seed=1)
    def sounds():
        encoded, label = fn.readers.file(file_root=folder, file_filters=[f"*.{kind}"])
        wave, _ = fn.decoders.audio(encoded, **options)
        return wave, label

    return sounds()


def worker(rival: str, workload: str, folder: str, threads: int) -> None:
    try:
        start = time.perf_counter()
        pipe = pipeline({"dali": "nvidia.dali"}.get(rival, rival), workload, folder, threads)
        pipe.build()
        for _ in range(4):  # compiles programs for all shapes of an epoch
            pipe.run()
        first = time.perf_counter() - start
    except ImportError as error:
        say({"problem": str(error)})
        return
    spent: list[float] = []

    def run(batches: int) -> float:
        start, cpu = time.perf_counter(), time.process_time()
        for _ in range(batches):
            pipe.run()
        spent.append((time.process_time() - cpu) / batches / BATCH)
        return batches * BATCH / (time.perf_counter() - start)

    serve(first, run, lambda: {"cpu": float(np.median(spent)) * 1e3})


def main() -> None:
    parser = arguments(__doc__, batches=12, rivals=RIVALS, choices={"workload": WORKLOADS})
    options = parser.parse_args()
    if options.worker:
        rival, workload = options.worker
        worker(rival, workload, options.data, options.threads)
        return
    print("| sounds | rival | files/s, median (low to high) | ratio to DALI | cpu, ms a file |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as root:
        make(Path(root))
        for workload in options.workload:
            rows = compare(
                Path(__file__), options.rivals, workload, data=root, threads=options.threads,
                rounds=options.rounds, batches=options.batches,
            )  # fmt: skip
            for row in rows:
                print(
                    f"| {row['workload']} | {row['rival']} | {row['median']:.0f} ({row['low']:.0f} to "
                    f"{row['high']:.0f}) | {row['ratio']:.2f} | {row['cpu']:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
