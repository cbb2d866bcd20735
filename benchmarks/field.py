"""Compares jdali with the loaders of 2026: pictures, sounds and video, decoded on two threads.

    pip install jdali[audio,video] torch torchvision torchcodec spdl grain datasets turboloader
    python benchmarks/field.py [--threads 2] [--rounds 5] [--workload pictures sounds h264 vp9] [--data DIR]

pictures   whole photographs to 224 x 224, uint8, batches of 32
sounds     speech-like noise in FLAC, 2 to 12 seconds at 16 kHz, to floats, batches of 16
h264, vp9  sequences of 8 frames of 640 x 360 at random places of a clip, batches of 4

The rivals run in separate processes and take turns, with the same files in the same order. Rivals that are not
installed are left out. A row shows medians over the rounds: samples a second, the ratio to jdali's turn of the same
round, processor time a sample (with child processes), and the number of busy cores. It also shows the mean and the
largest difference of the first batch from jdali's. Batches differ, because loaders resize and upsample chroma in
different ways. Torch's DataLoader uses processes in place of threads. SPDL needs FFmpeg's libraries.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import audio
import pipelines
import video
from _harness import arguments, compare, say, serve
from cluster import of_all_processes

SIDE, RATE = 224, 25  # height and width of pictures; frames a second, see `video.make`
BATCH = {"pictures": pipelines.BATCH, "sounds": audio.BATCH, "h264": video.BATCH, "vp9": video.BATCH}
BATCHES = {"pictures": 16, "sounds": 48, "h264": 12, "vp9": 12}  # number of batches in a turn
# Batches that are not timed, because a rival may have prefetched them before its turn.
DRAIN = 6
Batches = Iterator[Any]


def files_of(workload: str, data: str) -> list[str]:
    """Lists all files of an epoch in the order in which they are read."""
    if workload == "pictures":
        return pipelines.files_of(data)
    return sorted(map(str, Path(data, "flac").glob("*.flac")))


def batches_of(workload: str, data: str) -> Iterator[list[str]]:
    files = itertools.cycle(files_of(workload, data))
    while True:
        yield list(itertools.islice(files, BATCH[workload]))


def clips() -> Iterator[list[int]]:
    """Yields batches of the first frame numbers of sequences, endlessly."""
    rng = np.random.default_rng(0)
    while True:
        yield (rng.integers(video.FRAMES // video.LENGTH, size=video.BATCH) * video.LENGTH).tolist()


# --- rivals: each yields batches endlessly ---------------------------------------------------------
def with_jdali(workload: str, data: str, threads: int, package: str = "jdali", **options: Any) -> Batches:
    """Defines the same pipelines for DALI and for jdali; only the imports differ."""
    root = importlib.import_module(package)
    fn = importlib.import_module(package + ".fn")

    if options and workload != "pictures":
        raise ImportError("only pictures are scaled while they are decoded")

    def define() -> Any:
        if workload in video.CLIPS:
            return fn.experimental.readers.video(
                filenames=[data], sequence_length=video.LENGTH, random_shuffle=True,
                initial_fill=video.FRAMES // video.LENGTH,
            )  # fmt: skip
        encoded, _ = fn.readers.file(files=files_of(workload, data))
        if workload == "sounds":
            return fn.decoders.audio(encoded)[0]
        return fn.resize(fn.decoders.image(encoded), size=[SIDE, SIDE])

    options |= {"batch_size": BATCH[workload], "num_threads": threads, "device_id": None, "seed": 1}
    pipe = root.pipeline_def(**options)(define)()
    pipe.build()
    while True:
        (batch,) = pipe.run()
        if workload == "sounds":
            yield [np.asarray(batch.at(i)) for i in range(len(batch))]
        else:
            yield np.asarray(batch.as_tensor())  # a view of host memory


def with_spdl(workload: str, data: str, threads: int) -> Batches:
    import spdl.io
    from spdl.pipeline import PipelineBuilder

    scaled = spdl.io.get_video_filter_desc(
        scale_width=SIDE, scale_height=SIDE, scale_algo="bilinear", scale_mode=None
    )
    floats = spdl.io.get_audio_filter_desc(sample_fmt="flt")

    def pictures(paths: list[str]) -> Any:
        return spdl.io.to_numpy(spdl.io.load_image_batch(paths, width=None, height=None, filter_desc=scaled))

    def sound(path: str) -> Any:
        return spdl.io.to_numpy(spdl.io.load_audio(path, filter_desc=floats))

    def clip(first: int) -> Any:
        between = (first / RATE, (first + video.LENGTH) / RATE)
        wanted = spdl.io.get_video_filter_desc(timestamp=between, pix_fmt="rgb24")
        return spdl.io.to_numpy(spdl.io.load_video(data, between, filter_desc=wanted))[: video.LENGTH]

    if workload == "pictures":
        builder = PipelineBuilder().add_source(batches_of(workload, data))
        builder = builder.pipe(pictures, concurrency=threads, output_order="input")
    else:
        source, one = (batches_of(workload, data), sound) if workload == "sounds" else (clips(), clip)
        flat = itertools.chain.from_iterable(source)
        builder = PipelineBuilder().add_source(flat).pipe(one, concurrency=threads, output_order="input")
        builder = builder.aggregate(BATCH[workload])
        if workload != "sounds":
            builder = builder.pipe(lambda found: np.stack(found))
    pipeline = builder.add_sink(2).build(num_threads=threads)
    with pipeline.auto_stop():
        yield from pipeline


def with_torch(workload: str, data: str, threads: int) -> Batches:
    """Runs a DataLoader with `threads` processes, and the decoders of torchvision and torchcodec."""
    import torch
    from torch.utils.data import DataLoader, IterableDataset

    torch.set_num_threads(1)

    def pictures(paths: list[str]) -> Any:
        from torchvision.io import decode_jpeg, read_file
        from torchvision.transforms.v2 import functional

        sized = [functional.resize(decode_jpeg(read_file(path)), [SIDE, SIDE]) for path in paths]
        return torch.stack(sized)

    def sounds(paths: list[str]) -> Any:
        from torchcodec.decoders import AudioDecoder

        return [AudioDecoder(path).get_all_samples().data for path in paths]

    def frames(firsts: list[int]) -> Any:
        from torchcodec.decoders import VideoDecoder

        decoder = VideoDecoder(data, num_ffmpeg_threads=1)
        return torch.stack([decoder[first : first + video.LENGTH] for first in firsts])

    class Batched(IterableDataset):
        def __iter__(self) -> Batches:
            info = torch.utils.data.get_worker_info()
            assert info is not None
            source: Any = batches_of(workload, data) if workload in ("pictures", "sounds") else clips()
            work: Any = {"pictures": pictures, "sounds": sounds}.get(workload, frames)
            for mine in itertools.islice(source, info.id, None, info.num_workers):
                yield work(mine)

    yield from DataLoader(Batched(), batch_size=None, num_workers=threads)


def with_datasets(workload: str, data: str, threads: int) -> Batches:
    """Runs `datasets` with Pillow or soundfile in torch's DataLoader, as the documentation of `datasets` recommends."""
    import datasets
    from torch.utils.data import DataLoader

    if workload in video.CLIPS:
        raise ImportError("torchcodec decodes for it, see torch")
    files = files_of(workload, data)
    kind = datasets.Image() if workload == "pictures" else datasets.Audio()
    found = datasets.Dataset.from_dict({"it": files * (max(8192 // len(files), 1))}).cast_column("it", kind)

    def sized(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
        from PIL.Image import Resampling

        shape = (SIDE, SIDE)
        return {"it": [np.asarray(i.convert("RGB").resize(shape, Resampling.BILINEAR)) for i in rows["it"]]}

    def join(rows: list[dict[str, Any]]) -> Any:
        if workload == "pictures":
            return np.stack([row["it"] for row in rows])
        return [row["it"]["array"] for row in rows]

    if workload == "pictures":
        found = found.with_transform(sized)
    while True:
        yield from DataLoader(found, batch_size=BATCH[workload], num_workers=threads, collate_fn=join)


def with_grain(workload: str, data: str, threads: int) -> Batches:
    """Runs Grain with common decoders: simplejpeg and Pillow for pictures, soundfile for sounds."""
    import grain
    import simplejpeg
    import soundfile
    from PIL import Image

    if workload in video.CLIPS:
        raise ImportError("it has no video")

    def picture(path: str) -> Any:
        whole = Image.fromarray(simplejpeg.decode_jpeg(Path(path).read_bytes()))
        return np.asarray(whole.resize((SIDE, SIDE), Image.Resampling.BILINEAR))

    def sound(path: str) -> Any:
        return soundfile.read(path, dtype="float32")[0]

    found = grain.MapDataset.source(files_of(workload, data)).repeat()
    found = found.map(picture if workload == "pictures" else sound)
    join = np.stack if workload == "pictures" else list
    loaded = found.to_iter_dataset(
        grain.ReadOptions(num_threads=threads, prefetch_buffer_size=2 * BATCH[workload])
    )
    yield from loaded.batch(BATCH[workload], batch_fn=join)


def with_turboloader(workload: str, data: str, threads: int) -> Batches:
    """Runs TurboLoader's fast path with an antialiased resize; it reads a tar file, and returns floats from 0 to 1."""
    import tarfile

    import turboloader

    if workload != "pictures":
        raise ImportError("it has no decoder of sounds, and one of video for CUDA alone")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(f"{folder}/pictures.tar", "w") as tar:
            for number, path in enumerate(files_of(workload, data) * 32):
                tar.add(path, f"{number:06}.jpg")
        loader = turboloader.DataLoader(
            f"{folder}/pictures.tar", BATCH[workload], num_workers=threads, image_size=SIDE,
            output_format="numpy", antialias=True, prefetch_batches=2,
        )  # fmt: skip
        while True:
            yield from loader


def with_tfdata(workload: str, data: str, threads: int) -> Batches:
    import tensorflow as tf

    if workload != "pictures":
        raise ImportError("it decodes neither FLAC nor video without tensorflow-io")
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)

    def picture(path: Any) -> Any:
        whole = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        sized = tf.image.resize(whole, (SIDE, SIDE), antialias=True)
        return tf.saturate_cast(tf.round(sized), tf.uint8)

    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    found = tf.data.Dataset.from_tensor_slices(files_of(workload, data)).repeat()
    found = found.map(picture, num_parallel_calls=threads).batch(BATCH[workload]).prefetch(2)
    yield from found.with_options(options).as_numpy_iterator()


RIVALS: dict[str, Callable[[str, str, int], Batches]] = {
    "jdali": with_jdali,
    "jdali_scaled": functools.partial(with_jdali, scaled_decoding=True),
    "dali": functools.partial(with_jdali, package="nvidia.dali"),
    "spdl": with_spdl,
    "torch": with_torch,
    "datasets": with_datasets,
    "grain": with_grain,
    "turboloader": with_turboloader,
    "tfdata": with_tfdata,
}


# --- turns of the rivals ---------------------------------------------------------------------------
def samples_of(batch: Any) -> list[np.ndarray]:
    """Returns the samples of a batch as NumPy arrays, with channels last and pixels from 0 to 255."""
    found = []
    for sample in map(np.asarray, batch[0] if isinstance(batch, tuple) else batch):
        if sample.ndim > 2 and sample.shape[-1] != 3:
            sample = np.moveaxis(sample, -3, -1)
        pixels = sample.ndim > 2 and sample.dtype != np.uint8
        found.append(sample * 255 if pixels else sample)
    return found


def worker(rival: str, workload: str, data: str, threads: int) -> None:
    start = time.perf_counter()
    try:
        batches = RIVALS[rival](workload, data, threads)
        kept = samples_of(next(batches))
    except (ImportError, RuntimeError, OSError) as error:  # RuntimeError: DALI has no H.264 on a CPU
        say({"problem": " ".join(str(error).split())[:160]})
        return
    first = time.perf_counter() - start
    np.savez(Path(os.environ["JDALI_BENCH_FIRST"], f"{workload}-{rival}.npz"), *kept)
    used: list[tuple[float, float]] = []  # processor seconds, wall seconds

    def run(count: int) -> float:
        for _ in range(DRAIN):
            next(batches)
        start, busy = time.perf_counter(), of_all_processes()
        for _ in range(count):
            next(batches)
        used.append((of_all_processes() - busy, time.perf_counter() - start))
        return count * BATCH[workload] / used[-1][1]

    def facts() -> dict[str, float]:
        busy, wall = np.array(used[1:]).T
        return {"cores": float(np.median(busy / wall))}

    serve(first, run, facts)


def difference(folder: str, workload: str, rival: str) -> str:
    """Returns the mean and the largest difference of a rival's first batch from jdali's, as text."""
    if workload in video.CLIPS:
        return ""  # the rivals' random orders differ
    try:
        ours = np.load(Path(folder, f"{workload}-jdali.npz"))
    except FileNotFoundError:
        return ""
    theirs = np.load(Path(folder, f"{workload}-{rival}.npz"))
    apart = [
        np.abs(theirs[name].astype(np.float64).reshape(ours[name].shape) - ours[name]) for name in ours.files
    ]
    mean, most = sum(map(np.sum, apart)) / sum(a.size for a in apart), max(map(np.max, apart))
    return f"{mean:.2g}, {most:.2g}"


def main() -> None:
    parser = arguments(
        __doc__, batches=0, rivals=RIVALS, choices={"workload": BATCH}, data="folder of class folders of JPEG files"
    )  # fmt: skip
    options = parser.parse_args()
    if options.worker:
        rival, workload = options.worker
        worker(rival, workload, options.data, options.threads)
        # Exit without cleanup, because processes and threads of some loaders would keep this process alive.
        sys.stdout.flush()
        os._exit(0)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    print(
        "| workload | rival | samples/s, median (low to high) | ratio to the first | processor time, ms | cores | "
        "difference: mean, largest | first batch, s |\n|---|---|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        os.environ["JDALI_BENCH_FIRST"] = folder
        for workload in options.workload:
            for row in compare(
                Path(__file__), options.rivals, workload, data=made(workload, folder, options.data),
                threads=options.threads, rounds=options.rounds, batches=options.batches or BATCHES[workload],
            ):  # fmt: skip
                print(
                    f"| {workload} | {row['rival']} | {row['median']:.0f} ({row['low']:.0f} to {row['high']:.0f}) "
                    f"| {row['ratio']:.2f} | {row['cores'] / row['median'] * 1e3:.2f} | {row['cores']:.2f} "
                    f"| {difference(folder, workload, row['rival'])} | {row['first_batch_s']:.1f} |",
                    flush=True,
                )


def made(workload: str, folder: str, pictures: str | None) -> str:
    """Returns the path of a workload's files; writes them if necessary."""
    if workload == "pictures":
        return pictures or pipelines.default_data()
    if workload == "sounds":
        audio.make(Path(folder))
        return folder
    path = Path(folder, f"{workload}.{video.CLIPS[workload][0]}")
    video.make(path, workload)
    return str(path)


if __name__ == "__main__":
    main()
