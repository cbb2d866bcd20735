"""Measures the reading of frame sequences, jdali against DALI (CPU) and handwritten code on PyAV: frames a second.

    python benchmarks/video.py [--threads 2] [--rounds 5] [--clip vp9 h264 ...] [--access sequential random]

The script encodes the clips. The rivals run in separate processes and take turns. A row shows the median over the
rounds; the ratio compares a turn with PyAV's turn of the same round (median).

pyav         a loop over `container.decode` with the same number of threads, by FFmpeg. Frames are converted to RGB with
             interpolated chroma, as in `readers.video`. For random access, it seeks, and decodes up to the frame.
pyav-rough   the same with `frame.to_ndarray(format="rgb24")`, which takes the nearest chroma sample. This is cheaper;
             pixels at coloured edges differ by up to 90 of 255.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from _harness import arguments, compare, say, serve

LENGTH = 8
BATCH = 4
FRAMES = 192
HEIGHT, WIDTH = 360, 640
CLIPS = {
    "h264": ("mp4", "libx264", "yuv420p", {"g": "24", "bf": "2", "preset": "veryfast"}),
    "vp9": (
        "webm",
        "libvpx-vp9",
        "yuv420p",
        {"g": "24", "cpu-used": "8", "deadline": "realtime", "b": "800k"},
    ),
    "mjpeg": ("avi", "mjpeg", "yuvj420p", {"q": "5"}),
}
RIVALS = ("pyav", "pyav-rough", "dali", "jdali")


def make(path: Path, clip: str) -> None:
    """Encodes a clip of a moving textured picture with noise."""
    import av

    container, codec, pix_fmt, options = CLIPS[clip]
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (HEIGHT // 8 + 32, WIDTH // 8 + 64, 3))
    texture = np.kron(coarse, np.ones((8, 8, 1))) * 0.7 + rng.integers(0, 50, (8, 8, 1)).repeat(3, 2).mean()
    with av.open(str(path), "w", format=container) as file:
        stream = file.add_stream(codec, rate=25, options=options)
        stream.height, stream.width, stream.pix_fmt = HEIGHT, WIDTH, pix_fmt
        for number in range(FRAMES):
            window = texture[number % 200 :, (number * 2) % 400 :][:HEIGHT, :WIDTH]
            picture = np.clip(window + rng.integers(-6, 7, window.shape), 0, 255).astype(np.uint8)
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        file.mux(stream.encode(None))


# --- handwritten code on PyAV -------------------------------------------------------------------
def by_hand(path: str, *, rough: bool, threads: int, random: bool) -> Iterator[np.ndarray]:
    """Yields batches of sequences endlessly, with code as a user of PyAV would write it."""
    import av
    from av.video.reformatter import Interpolation, VideoReformatter

    smooth = Interpolation.BILINEAR | Interpolation.ACCURATE_RND | Interpolation.FULL_CHR_H_INT
    reformatter = VideoReformatter()

    def rgb(frame: av.VideoFrame) -> np.ndarray:
        if rough:
            return frame.to_ndarray(format="rgb24")
        return reformatter.reformat(frame, format="rgb24", interpolation=smooth).to_ndarray()

    container = av.open(path)
    stream = container.streams.video[0]
    stream.thread_count, stream.thread_type = threads, "AUTO"
    rng = np.random.default_rng(0)
    batch = np.empty((BATCH, LENGTH, HEIGHT, WIDTH, 3), np.uint8)
    tick = 1 / (stream.average_rate * stream.time_base)
    while True:
        if not random:
            container.seek(0)
            for number, frame in enumerate(container.decode(stream)):
                batch[number // LENGTH % BATCH, number % LENGTH] = rgb(frame)
                if number % (LENGTH * BATCH) == LENGTH * BATCH - 1:
                    yield batch
            continue
        for sample in range(BATCH):
            first = int(rng.integers(FRAMES // LENGTH)) * LENGTH
            container.seek(round(first * tick), stream=stream)
            frame_number = 0
            for frame in container.decode(stream):
                if frame.pts >= round((first + frame_number) * tick) - 1:
                    batch[sample, frame_number] = rgb(frame)
                    frame_number += 1
                    if frame_number == LENGTH:
                        break
        yield batch


def pipeline(package: str, path: str, threads: int, random: bool) -> Callable[[], object]:
    """Builds the same pipeline for DALI and for jdali, where only the imports differ; returns its `run`."""
    root = importlib.import_module(package)
    fn = importlib.import_module(package + ".fn")

    @root.pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None, seed=1)
    def frames():
        return fn.experimental.readers.video(
            filenames=[path], sequence_length=LENGTH, random_shuffle=random, initial_fill=FRAMES // LENGTH
        )

    pipe = frames()
    pipe.build()
    return pipe.run


def worker(rival: str, workload: str, data: str, threads: int) -> None:
    _, access = workload.split()
    try:
        start = time.perf_counter()
        if rival.startswith("pyav"):
            batches = by_hand(data, rough=rival == "pyav-rough", threads=threads, random=access == "random")
            step: Callable[[], object] = lambda: next(batches)  # noqa: E731
        else:
            step = pipeline({"dali": "nvidia.dali"}.get(rival, rival), data, threads, access == "random")
        step()
        first = time.perf_counter() - start
    except (ImportError, RuntimeError) as error:  # DALI has no H.264 on a CPU
        say({"problem": str(error)[:200]})
        return

    processor = [0.0, 0]

    def run(batches: int) -> float:
        start, busy = time.perf_counter(), time.process_time()
        for _ in range(batches):
            step()
        processor[0] += time.process_time() - busy
        processor[1] += batches * BATCH * LENGTH
        return batches * BATCH * LENGTH / (time.perf_counter() - start)

    serve(first, run, lambda: {"busy_ms": processor[0] / processor[1] * 1000})


def main() -> None:
    parser = arguments(
        __doc__, batches=6, rivals=RIVALS, choices={"clip": CLIPS, "access": ("sequential", "random")}
    )
    options = parser.parse_args()
    if options.worker:
        rival, workload = options.worker
        worker(rival, workload, options.data, options.threads)
        return
    print(
        f"{WIDTH}x{HEIGHT}, sequences of {LENGTH} frames, batches of {BATCH}, {options.threads} threads\n\n"
        "| clip, access | rival | frames/s, median (low to high) | ratio to pyav | processor time a frame, ms |\n"
        "|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as root:
        for clip in options.clip:
            path = Path(root) / f"{clip}.{CLIPS[clip][0]}"
            make(path, clip)
            for access in options.access:
                for row in compare(
                    Path(__file__), options.rivals, f"{clip} {access}", data=str(path), threads=options.threads,
                    rounds=options.rounds, batches=options.batches,
                ):  # fmt: skip
                    print(
                        f"| {row['workload']} | {row['rival']} | {row['median']:.0f} ({row['low']:.0f} to "
                        f"{row['high']:.0f}) | {row['ratio']:.2f} | {row['busy_ms']:.2f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
