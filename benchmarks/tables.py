"""Compares jdali with `datasets` on Parquet, and with Grain on ArrayRecord: samples a second, in batches of arrays.

    python benchmarks/tables.py [--threads 1] [--rounds 5] [--workload records pictures "array records" "array pictures"]

Records are 1 kB of random bytes, in Parquet with a label. Pictures are JPEG of 320 x 240, and are decoded to arrays: by
`datasets` and Grain with Pillow, by jdali with `fn.decoders.image`. Parquet is read in order, by `datasets` in its
streaming mode. ArrayRecord (`group_size:1`, not compressed) is read in random order. The rivals run in separate
processes and take turns. A row shows the median over the rounds; the ratio compares a turn with the other library's
turn of the same round (median). With `--processor`, seconds are processor time of all threads.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from _harness import arguments, compare, print_row, serve_batches

BATCH = 256
ROWS = {"records": 50_000, "pictures": 2_000, "array records": 50_000, "array pictures": 2_000}
ROW_GROUP = {"records": 5_000, "pictures": 200}
BATCHES = {"records": 150, "pictures": 6, "array records": 150, "array pictures": 6}


def make(folder: Path, kind: str) -> None:
    """Writes a file in the form that is common on the Hugging Face Hub."""
    from PIL import Image

    rng = np.random.default_rng(0)

    def content(number: int) -> bytes:
        if "records" in kind:
            return rng.bytes(1000)
        small = rng.integers(0, 256, (12, 16, 3), np.uint8)
        out = io.BytesIO()
        Image.fromarray(small).resize((320, 240), Image.Resampling.BICUBIC).save(out, "jpeg", quality=90)
        return out.getvalue()

    folder.mkdir(parents=True)
    if kind.startswith("array"):
        from array_record.python.array_record_module import ArrayRecordWriter

        writer = ArrayRecordWriter(str(folder / "data"), "group_size:1,uncompressed")
        for i in range(ROWS[kind]):
            writer.write(content(i))
        writer.close()
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    images = [{"bytes": content(i), "path": f"{i}.jpg"} for i in range(ROWS[kind])]
    table = pa.table({"image": images, "label": [i % 1000 for i in range(ROWS[kind])]})
    pq.write_table(table, folder / "data", row_group_size=ROW_GROUP[kind])


def with_jdali(kind: str, path: str, threads: int) -> Iterator[Any]:
    from jdali import fn, pipeline_def, storage

    storage.configure(bytes_ahead=1 << 24)  # small, so that passes share as little as with larger data

    @pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None)
    def rows() -> Any:
        if kind.startswith("array"):
            record = fn.readers.array_record(paths=[path], shuffle_after_epoch=True)
            return fn.decoders.image(record, device="cpu") if "pictures" in kind else record
        image, label = fn.readers.parquet(paths=[path], columns=["image", "label"])
        return fn.decoders.image(image, device="cpu") if kind == "pictures" else image, label

    pipe = rows()
    while True:
        image, *labels = pipe.run()
        yield (
            (image.as_array() if "pictures" in kind else image.to_samples()),
            [label.as_array() for label in labels],
        )


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


def with_grain(kind: str, path: str, threads: int) -> Iterator[Any]:
    import grain
    from PIL import Image

    def parsed(record: bytes) -> Any:
        if kind == "array pictures":
            return np.asarray(Image.open(io.BytesIO(record)))
        return np.frombuffer(record, np.uint8)

    found = grain.MapDataset.source(grain.sources.ArrayRecordDataSource([path])).seed(1).shuffle().repeat()
    batches = found.map(parsed).batch(BATCH)
    yield from batches.to_iter_dataset(grain.ReadOptions(num_threads=threads, prefetch_buffer_size=2))


RIVALS = {"datasets": with_datasets, "grain": with_grain, "jdali": with_jdali}


def worker(rival: str, workload: str, data: str, threads: int) -> None:
    clock = time.process_time if "JDALI_BENCH_PROCESSOR" in os.environ else time.perf_counter
    serve_batches(lambda: RIVALS[rival](workload, f"{data}/data", threads), BATCH, clock)


def main() -> None:
    parser = arguments(__doc__, batches=0, rivals=RIVALS, choices={"workload": ROWS})
    parser.add_argument("--processor", action="store_true", help="count seconds of the processor")
    options = parser.parse_args()
    if options.worker:
        rival, workload = options.worker
        worker(rival, workload, options.data, options.threads)
        return
    if options.processor:
        os.environ["JDALI_BENCH_PROCESSOR"] = "1"
    print("| workload | rival | samples/s, median (low to high) | ratio to the other | first batch, s |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as root:
        for kind in options.workload:
            data = Path(root) / kind
            make(data, kind)
            other = "datasets" if kind.startswith("array") else "grain"
            rivals = [rival for rival in options.rivals if rival != other]
            rows = compare(
                Path(__file__), rivals, kind, data=str(data), threads=options.threads,
                rounds=options.rounds, batches=options.batches or BATCHES[kind],
            )  # fmt: skip
            for row in rows:
                print_row(row)


if __name__ == "__main__":
    main()
