"""Measures pipelines with much work on the host: tiny pictures, speech, SSD training; jdali against DALI (CPU).

    python benchmarks/host.py [--threads 2] [--rounds 5] [--workload tiny ...]

The loop calls `pipe.run()` repeatedly, with two prefetched batches. The rivals run in separate processes and take
turns. A row shows the median over the rounds; ratios compare a turn with DALI's turn of the same round (median). `cpu`
is the processor time of a sample over all threads, in microseconds. The load of the machine hardly changes it or its
ratio (above 1: jdali takes less).
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from _harness import arguments, compare, say, serve

RIVALS = ("dali", "jdali")
MEAN, STD = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]
# Samples in a batch, and batches in a turn, by workload.
BATCHES = {"tiny": (256, 60), "speech": (16, 12), "ssd": (16, 12)}
SECONDS = (0.5, 11.0)
COCO = Path(__file__).resolve().parents[2] / "shared" / "data" / "coco"


# --- data -----------------------------------------------------------------------------------
def make_tiny(folder: Path, count: int = 2048) -> None:
    """Writes JPEG files of 8×8 pixels to four folders."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for i in range(count):
        path = folder / str(i % 4) / f"{i:05}.jpg"
        path.parent.mkdir(exist_ok=True, parents=True)
        Image.fromarray(rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)).save(path)


def make_speech(folder: Path, count: int = 72) -> None:
    """Writes sounds at 16 kHz, as FLAC, OGG and WAV: noise with the rhythm of syllables, lengths within `SECONDS`."""
    import soundfile

    rng = np.random.default_rng(0)
    (folder / "0").mkdir(parents=True)
    for i, seconds in enumerate(np.linspace(*SECONDS, count)):
        size = int(16000 * seconds)
        noise = np.convolve(rng.normal(0, 1, size), np.hanning(12), "same")
        wave = noise * np.abs(np.sin(np.arange(size) / 4000)) ** 3
        kind = ("flac", "ogg", "wav")[i % 3]
        soundfile.write(folder / "0" / f"{i:03}.{kind}", 0.5 * wave / np.abs(wave).max(), 16000)


# --- pipelines ------------------------------------------------------------------------------
def pipeline(package: str, workload: str, folder: str, threads: int) -> Any:
    """Builds the same pipeline for DALI and for jdali; only the imports differ."""
    root = importlib.import_module(package)
    fn = importlib.import_module(package + ".fn")
    build = {"tiny": tiny, "speech": speech, "ssd": ssd}[workload]
    pipe = root.Pipeline(
        batch_size=BATCHES[workload][0], num_threads=threads, device_id=None, seed=1, prefetch_queue_depth=2
    )
    with pipe:
        pipe.set_outputs(*build(fn, folder))
    pipe.build()
    return pipe


def tiny(fn: Any, folder: str) -> tuple[Any, ...]:
    jpegs, labels = fn.readers.file(file_root=folder, random_shuffle=True)
    return fn.crop_mirror_normalize(fn.decoders.image(jpegs), mean=MEAN, std=STD), labels


def speech(fn: Any, folder: str) -> tuple[Any, ...]:
    encoded, labels = fn.readers.file(file_root=folder, random_shuffle=True)
    wave, _ = fn.decoders.audio(encoded, downmix=True)
    wave = fn.preemphasis_filter(wave)
    power = fn.spectrogram(wave, nfft=512, window_length=400, window_step=160)
    mel = fn.mel_filter_bank(power, nfilter=80, sample_rate=16000)
    return fn.pad(fn.normalize(fn.to_decibels(mel), axes=(1,))), labels


def ssd(fn: Any, folder: str) -> tuple[Any, ...]:
    images, boxes, labels = fn.readers.coco(
        file_root=folder + "/images", annotations_file=folder + "/instances.json", ltrb=True, ratio=True,
        random_shuffle=True,
    )  # fmt: skip
    images = fn.decoders.image(images)
    begin, size, boxes, labels = fn.random_bbox_crop(
        boxes, labels, aspect_ratio=[0.5, 2.0], thresholds=[0.0, 0.1, 0.3, 0.5, 0.7, 0.9], scaling=[0.3, 1.0],
        bbox_layout="xyXY", allow_no_crop=True, num_attempts=50,
    )  # fmt: skip
    images = fn.resize(fn.slice(images, begin, size), resize_x=300, resize_y=300)
    flip = fn.random.coin_flip()
    images = fn.crop_mirror_normalize(images, mirror=flip, mean=MEAN, std=STD)
    return images, fn.bb_flip(boxes, ltrb=True, horizontal=flip), labels


# --- measuring ------------------------------------------------------------------------------
def wait(outputs: Any) -> None:
    """Waits until all samples are computed, as a training step would."""
    for output in outputs:
        for block in output.store.blocks if hasattr(output, "store") else ():
            getattr(getattr(block, "array", None), "block_until_ready", int)()


def worker(rival: str, workload: str, folder: str, threads: int) -> None:
    start = time.perf_counter()
    try:
        pipe = pipeline({"dali": "nvidia.dali"}.get(rival, rival), workload, folder, threads)
    except ImportError as error:
        say({"problem": str(error)})
        return
    wait(pipe.run())
    first = time.perf_counter() - start
    for _ in range(12):  # compiles programs for the shapes of an epoch
        wait(pipe.run())
    size = BATCHES[workload][0]
    spent: list[float] = []

    def run(batches: int) -> float:
        for _ in range(3):  # batches that were prefetched before this turn
            wait(pipe.run())
        start, cpu = time.perf_counter(), time.process_time()
        for _ in range(batches):
            wait(pipe.run())
        spent.append((time.process_time() - cpu) / batches / size * 1e6)
        return batches * size / (time.perf_counter() - start)

    serve(first, run, lambda: {"cpu": spent[1:]})


def main() -> None:
    parser = arguments(__doc__, batches=0, rivals=RIVALS, choices={"workload": BATCHES})
    options = parser.parse_args()
    if options.worker:
        rival, workload = options.worker
        worker(rival, workload, options.data, options.threads)
        return
    print(
        "| workload | rival | samples/s, median (low to high) | ratio to DALI | cpu, µs a sample | DALI's / its |"
    )
    print("|---|---|---|---|---|---|")
    for workload in options.workload:
        if workload == "ssd" and not COCO.is_dir():
            print(f"  ssd: left out: there is no {COCO}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            if workload != "ssd":
                {"tiny": make_tiny, "speech": make_speech}[workload](Path(folder, "data"))
            report(workload, str(COCO) if workload == "ssd" else folder + "/data", options)


def report(workload: str, folder: str, options: Any) -> None:
    rows = compare(
        Path(__file__), options.rivals, workload, data=folder, threads=options.threads,
        rounds=options.rounds, batches=options.batches or BATCHES[workload][1],
    )  # fmt: skip
    for row in rows:
        cpu = np.median(row["cpu"])
        saved = np.median(np.divide(rows[0]["cpu"], row["cpu"]))
        print(
            f"| {workload} | {row['rival']} | {row['median']:.0f} ({row['low']:.0f} to {row['high']:.0f}) "
            f"| {row['ratio']:.2f} | {cpu:.0f} | {saved:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
