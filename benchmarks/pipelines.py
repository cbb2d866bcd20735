"""Measures whole image pipelines: jdali against DALI and other loaders that JAX users have.

    python benchmarks/pipelines.py [--data DIR] [--threads 2] [--rounds 5] [--workload train ...]

The rivals run in separate processes and take turns. A row shows the median over the rounds; the ratio compares a turn
with DALI's turn of the same round (median). Rivals that are not installed are left out.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from _harness import arguments, compare, say, serve

# Samples a batch, and of the rivals on a GPU.
BATCH, GPU_BATCH = 32, 128
MEAN, STD = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]
# Batches that are not timed, because a rival may have prefetched them before its turn.
DRAIN = 6
WORKLOADS = ("train", "val", "rotate", "colour")
ON_GPU = ("dali_gpu", "jdali_gpu")
RIVALS = ("dali", "jdali", "jdali_scaled", "torch", "grain", "tfdata", *ON_GPU)


def default_data() -> str:
    """Returns the folder of the photographs in shared/ if it exists, else a folder of generated pictures."""
    shared = Path(__file__).resolve().parents[2] / "shared" / "data" / "images" / "jpeg"
    if shared.is_dir():
        return str(shared)
    folder = Path(tempfile.gettempdir()) / "jdali-benchmark-jpegs"
    if not folder.is_dir():
        make_pictures(folder)
    return str(folder)


def make_pictures(folder: Path, count: int = 48) -> None:
    """Writes smooth noise of about 1 megapixel, as JPEG files in 4 class folders."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for i in range(count):
        height, width = rng.integers(600, 1200), rng.integers(700, 1400)
        small = rng.integers(0, 255, (height // 16, width // 16, 3), dtype=np.uint8)
        path = folder / str(i % 4) / f"{i:03}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(small).resize((int(width), int(height)), Image.Resampling.BICUBIC).save(
            path, quality=90
        )


def dali_like(package: str, workload: str, data: str, threads: int, gpu: bool = False, **options: Any):
    """Defines the same pipeline for DALI and for jdali; only the imports differ. `gpu`: only reading is on the CPU."""
    root = importlib.import_module(package)
    fn = importlib.import_module(package + ".fn")
    options |= {
        "batch_size": GPU_BATCH if gpu else BATCH,
        "num_threads": threads,
        "device_id": 0 if gpu else None,
        "seed": 1,
    }
    decoder = {"device": "mixed" if gpu else "cpu"}

    @root.pipeline_def(**options)
    def train():
        jpegs, labels = fn.readers.file(file_root=data, random_shuffle=True, name="Reader")
        images = fn.decoders.image_random_crop(jpegs, **decoder)
        images = fn.resize(images, size=[224, 224])
        mirror = fn.random.coin_flip()
        return fn.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD), labels

    @root.pipeline_def(**options)
    def val():
        jpegs, labels = fn.readers.file(file_root=data, name="Reader")
        images = fn.resize(fn.decoders.image(jpegs, **decoder), resize_shorter=256)
        return fn.crop_mirror_normalize(images, crop=(224, 224), mean=MEAN, std=STD), labels

    @root.pipeline_def(**options)
    def rotate():
        jpegs, labels = fn.readers.file(file_root=data, random_shuffle=True, name="Reader")
        images = fn.decoders.image(jpegs, **decoder)
        return fn.rotate(images, angle=fn.random.uniform(range=(-10.0, 10.0)), fill_value=0), labels

    @root.pipeline_def(**options)
    def colour():
        jpegs, labels = fn.readers.file(file_root=data, random_shuffle=True, name="Reader")
        images = fn.color_twist(fn.decoders.image(jpegs, **decoder), hue=20.0, saturation=1.2)
        return fn.normalize(fn.gaussian_blur(images, sigma=1.0), axes=[0, 1]), labels

    return {"train": train, "val": val, "rotate": rotate, "colour": colour}[workload]()


def work_dali(workload: str, data: str, threads: int, **options: Any) -> None:
    start = time.perf_counter()
    pipe = dali_like("nvidia.dali", workload, data, threads, **options)
    pipe.build()
    pipe.run()
    first = time.perf_counter() - start

    def run(batches: int) -> float:
        for _ in range(DRAIN):
            pipe.run()
        start = time.perf_counter()
        for _ in range(batches):
            pipe.run()
        return batches * pipe.max_batch_size / (time.perf_counter() - start)

    serve(first, run, dict)


def work_jdali(workload: str, data: str, threads: int, **options: Any) -> None:
    start = time.perf_counter()
    pipe = dali_like("jdali", workload, data, threads, **options)
    wait(pipe.run())
    first = time.perf_counter() - start

    def run(batches: int) -> float:
        for _ in range(DRAIN):
            wait(pipe.run())
        start = time.perf_counter()
        for _ in range(batches):
            wait(pipe.run())
        return batches * pipe.max_batch_size / (time.perf_counter() - start)

    serve(first, run, lambda: {"programs": pipe.executor_statistics()["programs"]})


def wait(outputs) -> None:
    """Waits until all samples are computed, as a training step would."""
    for output in outputs:
        for block in output.store.blocks:
            if hasattr(block, "array") and hasattr(block.array, "block_until_ready"):
                block.array.block_until_ready()


def pillow_sample(workload: str, path: str, rng: np.random.Generator) -> np.ndarray:
    """Loads a sample with handwritten code on Pillow and NumPy."""
    from PIL import Image

    with Image.open(path) as opened:
        image = opened.convert("RGB")
    width, height = image.size
    if workload == "train":
        area = width * height * rng.uniform(0.08, 1.0)
        ratio = np.exp(rng.uniform(np.log(3 / 4), np.log(4 / 3)))
        w, h = min(int(np.sqrt(area * ratio)), width), min(int(np.sqrt(area / ratio)), height)
        x, y = int(rng.integers(0, width - w + 1)), int(rng.integers(0, height - h + 1))
        image = image.resize((224, 224), Image.Resampling.BILINEAR, box=(x, y, x + w, y + h))
    elif workload == "val":
        scale = 256 / min(width, height)
        image = image.resize((round(width * scale), round(height * scale)), Image.Resampling.BILINEAR)
        x, y = (image.width - 224) // 2, (image.height - 224) // 2
        image = image.crop((x, y, x + 224, y + 224))
    else:
        return np.asarray(image.rotate(rng.uniform(-10, 10), Image.Resampling.BILINEAR, expand=True))
    value = (np.asarray(image, np.float32) - np.array(MEAN, np.float32)) / np.array(STD, np.float32)
    if workload == "train" and rng.random() < 0.5:
        value = value[:, ::-1]
    return np.ascontiguousarray(value.transpose(2, 0, 1))


def files_of(data: str) -> list[str]:
    return sorted(str(p) for p in Path(data).rglob("*") if p.suffix.lower() in (".jpg", ".jpeg"))


def serve_iterable(batches, start: float) -> None:
    """Serves turns with an endless iterator over batches."""
    next(batches)
    first = time.perf_counter() - start

    def run(count: int) -> float:
        for _ in range(DRAIN):
            next(batches)
        start = time.perf_counter()
        for _ in range(count):
            next(batches)
        return count * BATCH / (time.perf_counter() - start)

    serve(first, run, dict)


def work_grain(workload: str, data: str, threads: int) -> None:
    import grain

    start = time.perf_counter()
    dataset = (
        grain.MapDataset.source(files_of(data)).shuffle(1).repeat()
        .random_map(lambda path, rng: pillow_sample(workload, path, rng), seed=1)
    )  # fmt: skip
    options = grain.ReadOptions(num_threads=threads, prefetch_buffer_size=2 * BATCH)
    dataset = dataset.to_iter_dataset(options)
    batch = (lambda rows: rows) if workload == "rotate" else np.stack
    serve_iterable(iter(dataset.batch(BATCH, batch_fn=batch)), start)


def work_torch(workload: str, data: str, threads: int) -> None:
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Files(Dataset):
        def __init__(self):
            self.files = files_of(data)

        def __len__(self):
            return 1 << 20

        def __getitem__(self, i):
            return pillow_sample(workload, self.files[i % len(self.files)], np.random.default_rng(i))

    start = time.perf_counter()
    collate = (lambda rows: rows) if workload == "rotate" else (lambda rows: torch.from_numpy(np.stack(rows)))
    loader = DataLoader(Files(), BATCH, num_workers=threads, collate_fn=collate)
    serve_iterable(iter(loader), start)


def work_tfdata(workload: str, data: str, threads: int) -> None:
    import tensorflow as tf

    if workload == "rotate":
        raise ImportError("tf.data has no rotation")

    def load(path):
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        if workload == "train":
            begin, size, _ = tf.image.sample_distorted_bounding_box(
                tf.shape(image),
                tf.zeros((0, 0, 4)),
                area_range=(0.08, 1.0),
                use_image_if_no_bounding_boxes=True,
            )
            image = tf.image.resize(tf.slice(image, begin, size), (224, 224), antialias=True)
            image = tf.image.random_flip_left_right(image)
        else:
            shape = tf.cast(tf.shape(image)[:2], tf.float32)
            size = tf.cast(tf.round(shape * 256 / tf.reduce_min(shape)), tf.int32)
            image = tf.image.resize_with_crop_or_pad(tf.image.resize(image, size, antialias=True), 224, 224)
        return tf.transpose((image - MEAN) / STD, (2, 0, 1))

    start = time.perf_counter()
    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    dataset = tf.data.Dataset.from_tensor_slices(files_of(data)).shuffle(64, seed=1).repeat()
    dataset = dataset.map(load, num_parallel_calls=threads).batch(BATCH).prefetch(2).with_options(options)
    serve_iterable(dataset.as_numpy_iterator(), start)


def worker(rival: str, workload: str, data: str, threads: int) -> None:
    runs = {
        "dali": work_dali, "jdali": work_jdali, "torch": work_torch, "grain": work_grain, "tfdata": work_tfdata,
        "jdali_scaled": lambda *a: work_jdali(*a, scaled_decoding=True),
        "dali_gpu": lambda *a: work_dali(*a, gpu=True), "jdali_gpu": lambda *a: work_jdali(*a, gpu=True),
    }  # fmt: skip
    try:
        if rival in ON_GPU and not Path("/dev/nvidiactl").exists():
            raise ImportError("there is no NVIDIA GPU here")
        if workload == "colour" and "dali" not in rival:
            raise ImportError("Pillow and TensorFlow have no such operators")
        runs[rival](workload, data, threads)
    except ImportError as error:
        say({"problem": str(error)})


def main() -> None:
    parser = arguments(
        __doc__, batches=8, rivals=RIVALS, choices={"workload": WORKLOADS},
        data="folder of class folders of JPEG files",
    )  # fmt: skip
    options = parser.parse_args()
    data = options.data or default_data()
    if options.worker:
        rival, workload = options.worker
        worker(rival, workload, data, options.threads)
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    print("| workload | rival | images/s, median (low to high) | ratio to DALI | first batch, s | programs |")
    print("|---|---|---|---|---|---|")
    for workload in options.workload:
        rows = compare(
            Path(__file__), options.rivals, workload, data=data, threads=options.threads,
            rounds=options.rounds, batches=options.batches,
        )  # fmt: skip
        for row in rows:
            print(
                f"| {row['workload']} | {row['rival']} | {row['median']:.0f} ({row['low']:.0f} to {row['high']:.0f}) "
                f"| {row['ratio']:.2f} | {row['first_batch_s']:.1f} | {row.get('programs', '')} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
