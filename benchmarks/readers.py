"""Measures readers of records, jdali against DALI (CPU): samples a second from a pipeline.

    python benchmarks/readers.py [--threads 2] [--rounds 5] [--workload tfrecord ...] [--sizes 1000 100000]
        [--shuffle [--fill 1024]]

The script writes the data: records of random bytes with a label. The rivals run in separate processes and take turns. A
row shows the median over the rounds; the ratio compares a turn with DALI's turn of the same round (median). The files
are in the page cache, so the disk is not measured.
"""

from __future__ import annotations

import importlib
import io
import json
import struct
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from _harness import arguments, compare, say, serve

BATCH = 256
FORMATS = ("tfrecord", "mxnet", "caffe", "caffe2", "webdataset", "coco", "numpy", "file")
RIVALS = ("dali", "jdali")
TOTAL_BYTES = 64 << 20
MOST_RECORDS = 20_000
# Maximum number of records in formats with a file for each sample.
MOST_FILES = 2_000
# Maximum bytes and samples of a turn.
TURN_BYTES = 200 << 20
TURN_SAMPLES = 60_000


def field(number: int, value: bytes | int) -> bytes:
    """Encodes a field of a protocol buffer."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value: int) -> bytes:
    digits = bytearray()
    while value >= 0x80:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def make(folder: Path, kind: str, size: int) -> None:
    """Writes a data set of one format, with an index file if the format has one."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    makers = {
        "tfrecord": make_tfrecord, "mxnet": make_mxnet, "caffe": make_caffe, "caffe2": make_caffe2,
        "webdataset": make_webdataset, "coco": make_coco, "numpy": make_numpy, "file": make_file,
    }  # fmt: skip
    most = MOST_FILES if kind in ("coco", "numpy", "file") else MOST_RECORDS
    records = [(rng.bytes(size), i % 1000) for i in range(min(TOTAL_BYTES // size, most))]
    makers[kind](folder, records)


def make_tfrecord(folder: Path, records: list[tuple[bytes, int]]) -> None:
    from jdali.readers.tfrecord import masked_crc

    index = []
    with open(folder / "data", "wb") as file:
        for image, label in records:
            features = {
                b"image/encoded": field(1, field(1, image)),
                b"image/class/label": field(3, field(1, varint(label))),
                b"image/width": field(3, field(1, varint(256))),
                b"image/height": field(3, field(1, varint(256))),
            }
            example = field(1, b"".join(field(1, field(1, k) + field(2, v)) for k, v in features.items()))
            length = struct.pack("<Q", len(example))
            index.append(f"{file.tell()} {len(example) + 16}\n")
            crc = struct.pack("<I", masked_crc(example))
            file.write(length + struct.pack("<I", masked_crc(length)) + example + crc)
    (folder / "index").write_text("".join(index))


def make_mxnet(folder: Path, records: list[tuple[bytes, int]]) -> None:
    index = []
    with open(folder / "data", "wb") as file:
        for i, (image, label) in enumerate(records):
            data = struct.pack("<IfQQ", 0, label, i, 0) + image
            index.append(f"{i}\t{file.tell()}\n")
            file.write(struct.pack("<II", 0xCED7230A, len(data)) + data + bytes(-len(data) % 4))
    (folder / "index").write_text("".join(index))


def make_caffe(folder: Path, records: list[tuple[bytes, int]]) -> None:
    make_lmdb(folder, [field(4, image) + field(5, label) + field(7, 1) for image, label in records])


def make_caffe2(folder: Path, records: list[tuple[bytes, int]]) -> None:
    def protos(image: bytes, label: int) -> bytes:
        return field(1, field(2, 4) + field(6, image)) + field(1, field(2, 2) + field(4, varint(label)))

    make_lmdb(folder, [protos(image, label) for image, label in records])


def make_lmdb(folder: Path, values: list[bytes]) -> None:
    import lmdb

    with (
        lmdb.open(str(folder / "data"), map_size=1 << 30, lock=False) as database,
        database.begin(write=True) as change,
    ):
        for i, value in enumerate(values):
            change.put(f"{i:08}".encode(), value)


def make_file(folder: Path, records: list[tuple[bytes, int]]) -> None:
    for i, (image, label) in enumerate(records):
        path = folder / "data" / f"{label % 10}" / f"{i:08}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(image)


def make_webdataset(folder: Path, records: list[tuple[bytes, int]]) -> None:
    lines = []
    with tarfile.open(folder / "data", "w") as archive:
        for i, (image, label) in enumerate(records):
            words = []
            for extension, content in (("jpg", image), ("cls", str(label).encode())):
                entry = tarfile.TarInfo(f"{i:08}.{extension}")
                entry.size = len(content)
                words += [extension, archive.offset + 512, len(content), entry.name]
                archive.addfile(entry, io.BytesIO(content))
            lines.append(" ".join(map(str, words)) + "\n")
    (folder / "index").write_text(f"v1.2 {len(lines)}\n" + "".join(lines))


def make_coco(folder: Path, records: list[tuple[bytes, int]]) -> None:
    images, annotations = [], []
    for i, (image, label) in enumerate(records):
        (folder / f"{i:08}.jpg").write_bytes(image)
        images.append({"id": i, "file_name": f"{i:08}.jpg", "width": 640, "height": 480})
        for box in range(4):
            annotations.append(
                {
                    "id": 4 * i + box, "image_id": i, "category_id": label % 80, "iscrowd": 0, "area": 9000,
                    "bbox": [10.5 * box, 20, 90, 100],
                }
            )  # fmt: skip
    categories = [{"id": i, "name": str(i)} for i in range(80)]
    content = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "index").write_text(json.dumps(content))


def make_numpy(folder: Path, records: list[tuple[bytes, int]]) -> None:
    for i, (image, _) in enumerate(records):
        np.save(folder / f"{i:08}.npy", np.frombuffer(image, np.float32, len(image) // 4))


def pipeline(package: str, kind: str, data: str, threads: int, fill: int):
    """Defines the same pipeline for DALI and for jdali; only the imports differ."""
    root = importlib.import_module(package)
    fn = importlib.import_module(package + ".fn")
    records = importlib.import_module(package + ".tfrecord")
    path, index = f"{data}/data", f"{data}/index"
    order = {"random_shuffle": True, "initial_fill": fill} if fill else {}

    @root.pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None, seed=1)
    def tfrecord():
        features = {
            "image/encoded": records.FixedLenFeature((), records.string, ""),
            "image/class/label": records.FixedLenFeature((), records.int64, -1),
        }
        return tuple(fn.readers.tfrecord(path=path, index_path=index, features=features, **order).values())

    @root.pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None, seed=1)
    def mxnet():
        return tuple(fn.readers.mxnet(path=path, index_path=index, **order))

    @root.pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None, seed=1)
    def caffe():
        return tuple(fn.readers.caffe(path=path, **order))

    @root.pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None, seed=1)
    def caffe2():
        return tuple(fn.readers.caffe2(path=path, **order))

    @root.pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None, seed=1)
    def file():
        return tuple(fn.readers.file(file_root=path, **order))

    @root.pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None, seed=1)
    def webdataset():
        return tuple(fn.readers.webdataset(paths=path, index_paths=index, ext=["jpg", "cls"], **order))

    @root.pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None, seed=1)
    def coco():
        return tuple(fn.readers.coco(file_root=data, annotations_file=index, ratio=True, **order))

    @root.pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None, seed=1)
    def numpy():
        return fn.readers.numpy(file_root=data, file_filter="*.npy", **order)

    return {
        "tfrecord": tfrecord,
        "mxnet": mxnet,
        "caffe": caffe,
        "caffe2": caffe2,
        "file": file,
        "webdataset": webdataset,
        "coco": coco,
        "numpy": numpy,
    }[kind]()


def worker(rival: str, workload: str, data: str, threads: int) -> None:
    try:
        start = time.perf_counter()
        kind, _, *order = workload.split()
        fill = int(order[1]) if order else 0
        pipe = pipeline({"dali": "nvidia.dali"}.get(rival, rival), kind, data, threads, fill)
        pipe.build()
        pipe.run()
        first = time.perf_counter() - start
    except ImportError as error:
        say({"problem": str(error)})
        return

    def run(batches: int) -> float:
        start = time.perf_counter()
        for _ in range(batches):
            pipe.run()
        return batches * BATCH / (time.perf_counter() - start)

    serve(first, run, dict)


def main() -> None:
    # 0 batches: the number depends on the size of the records.
    parser = arguments(__doc__, batches=0, rivals=RIVALS, choices={"workload": FORMATS})
    parser.add_argument("--shuffle", action="store_true", help="in random order")
    parser.add_argument("--fill", type=int, default=1024, help="of the buffer for the random order, samples")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 100_000], help="bytes of a record")
    options = parser.parse_args()
    if options.worker:
        rival, workload = options.worker
        worker(rival, workload, options.data, options.threads)
        return
    print(
        "| reader, bytes a record | rival | samples/s, median (low to high) | ratio to DALI | first "
        "batch, s |"
    )
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as root:
        for kind in options.workload:
            for size in options.sizes:
                data = Path(root) / f"{kind}-{size}"
                make(data, kind, size)
                batches = options.batches or max(min(TURN_BYTES // size, TURN_SAMPLES) // BATCH, 4)
                name = f"{kind} {size} shuffled {options.fill}" if options.shuffle else f"{kind} {size}"
                rows = compare(
                    Path(__file__), options.rivals, name, data=str(data), threads=options.threads,
                    rounds=options.rounds, batches=batches,
                )  # fmt: skip
                for row in rows:
                    print(
                        f"| {row['workload']} | {row['rival']} | {row['median']:.0f} ({row['low']:.0f} to "
                        f"{row['high']:.0f}) | {row['ratio']:.2f} | {row['first_batch_s']:.1f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
