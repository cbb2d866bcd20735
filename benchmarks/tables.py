"""Rows of Parquet, jdali against Hugging Face's `datasets`, in one run: samples a second, as arrays in batches.

    python benchmarks/tables.py [--threads 1] [--rounds 5] [--workload records pictures]

Records are 1 kB of random bytes with a label. Pictures are JPEG of 320 x 240, and are decoded to arrays: by `datasets` with
Pillow, as it does by itself, and by jdali with `fn.decoders.image`. `datasets` streams, which reads the files as they lie.
Each rival is a process of its own and they take turns; a row is the median of the rounds, the ratio is that of each turn
to the turn of `datasets` of the same round (median).
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from _harness import arguments, compare, say, serve

BATCH = 256
ROWS = {"records": 50_000, "pictures": 2_000}
ROW_GROUP = {"records": 5_000, "pictures": 200}
BATCHES = {"records": 150, "pictures": 6}


def make(folder: Path, kind: str) -> None:
    """Writes one file, as the Hub has them."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from PIL import Image

    rng = np.random.default_rng(0)

    def content(number: int) -> bytes:
        if kind == "records":
            return rng.bytes(1000)
        small = rng.integers(0, 256, (12, 16, 3), np.uint8)
        out = io.BytesIO()
        Image.fromarray(small).resize((320, 240), Image.Resampling.BICUBIC).save(out, "jpeg", quality=90)
        return out.getvalue()

    images = [{"bytes": content(i), "path": f"{i}.jpg"} for i in range(ROWS[kind])]
    table = pa.table({"image": images, "label": [i % 1000 for i in range(ROWS[kind])]})
    folder.mkdir(parents=True)
    pq.write_table(table, folder / "data.parquet", row_group_size=ROW_GROUP[kind])


def with_jdali(kind: str, path: str, threads: int) -> Iterator[Any]:
    from jdali import fn, pipeline_def

    @pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None)
    def rows() -> Any:
        image, label = fn.readers.parquet(paths=[path], columns=["image", "label"])
        return fn.decoders.image(image, device="cpu") if kind == "pictures" else image, label

    pipe = rows()
    while True:
        image, label = pipe.run()
        yield (image.as_array() if kind == "pictures" else image.to_samples()), label.as_array()


def with_datasets(kind: str, path: str, _: int) -> Iterator[Any]:
    import datasets

    found = datasets.load_dataset("parquet", data_files=path, split="train", streaming=True)
    if kind == "pictures":
        found = found.cast_column("image", datasets.Image())
    while True:
        for batch in found.iter(batch_size=BATCH, drop_last_batch=True):
            if kind == "pictures":
                yield np.stack([np.asarray(image) for image in batch["image"]]), np.array(batch["label"])
            else:
                yield (
                    [np.frombuffer(one["bytes"], np.uint8) for one in batch["image"]],
                    np.array(batch["label"]),
                )


RIVALS = {"datasets": with_datasets, "jdali": with_jdali}


def worker(rival: str, workload: str, data: str, threads: int) -> None:
    try:
        start = time.perf_counter()
        batches = RIVALS[rival](workload, f"{data}/data.parquet", threads)
        next(batches)
        first = time.perf_counter() - start
    except ImportError as error:
        say({"problem": str(error)})
        return

    def run(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            next(batches)
        return count * BATCH / (time.perf_counter() - start)

    serve(first, run, dict)


def main() -> None:
    parser = arguments(__doc__, batches=0, rivals=RIVALS, choices={"workload": ROWS})
    options = parser.parse_args()
    if options.worker:
        rival, workload = options.worker
        worker(rival, workload, options.data, options.threads)
        return
    print("| workload | rival | samples/s, median (low to high) | ratio to datasets | first batch, s |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as root:
        for kind in options.workload:
            data = Path(root) / kind
            make(data, kind)
            rows = compare(
                Path(__file__), options.rivals, kind, data=str(data), threads=options.threads,
                rounds=options.rounds, batches=options.batches or BATCHES[kind],
            )  # fmt: skip
            for row in rows:
                print(
                    f"| {row['workload']} | {row['rival']} | {row['median']:.0f} ({row['low']:.0f} to {row['high']:.0f}) | "
                    f"{row['ratio']:.2f} | {row['first_batch_s']:.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
