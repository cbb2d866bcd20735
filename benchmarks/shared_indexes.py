"""Measures the memory and time of a worker for a large data set, whose names and indexes it maps from the trainer.

    python benchmarks/shared_indexes.py [--kinds file_list files coco ...] [--count 1000000]

For each kind of reader, the script opens a data set of `--count` samples and one of a thousand samples, with one
worker. It measures the worker once it is ready: its anonymous memory, which is not shared (`RssAnon`), and its
processor time. Results are the differences between the two data sets. No samples are read, so most files of the data
sets are sparse or missing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SMALL = 1000
BLOCK = 512  # block size of a tar archive, bytes


def _names(count: int) -> list[str]:
    return [f"folder_{i // 1000:05}/picture_{i:09}.jpg" for i in range(count)]


def _file_list(folder: Path, count: int) -> dict[str, Any]:
    lines = [f"{name} {i % 1000}\n" for i, name in enumerate(_names(count))]
    (folder / "list.txt").write_text("".join(lines))
    return {"file_list": f"{folder}/list.txt"}


def _files(folder: Path, count: int) -> dict[str, Any]:
    return {"file_root": str(folder), "files": _names(count), "labels": [i % 1000 for i in range(count)]}


def _numpy(folder: Path, count: int) -> dict[str, Any]:
    return {"file_root": str(folder), "files": _names(count)}


def _annotations(folder: Path, count: int) -> str:
    images = [
        {"id": i, "file_name": name, "width": 640, "height": 480} for i, name in enumerate(_names(count))
    ]
    outline = [round(1.37 * i, 2) for i in range(40)]
    annotations = [
        {"image_id": i, "category_id": 1, "bbox": [0, 0, 50, 50], "segmentation": [outline]} for i in range(count)
    ]  # fmt: skip
    path = folder / "objects.json"
    path.write_text(json.dumps({"images": images, "annotations": annotations, "categories": [{"id": 1}]}))
    return str(path)


def _coco(folder: Path, count: int) -> dict[str, Any]:
    return {"file_root": str(folder), "annotations_file": _annotations(folder, count)}


def _coco_images(folder: Path, count: int) -> dict[str, Any]:
    return {**_coco(folder, count), "images": _names(count)}


def _coco_polygons(folder: Path, count: int) -> dict[str, Any]:
    return {**_coco(folder, count), "polygon_masks": True}


def _record(payload: bytes) -> bytes:
    import crc32c

    def masked(data: bytes) -> bytes:
        crc = crc32c.crc32c(data)
        return (((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF).to_bytes(4, "little")

    size = len(payload).to_bytes(8, "little")
    return size + masked(size) + payload + masked(payload)


def _tfrecord(folder: Path, count: int) -> dict[str, Any]:
    from jdali import tfrecord

    record = _record(b"\n\x00")  # an example without features
    (folder / "data.tfrecord").write_bytes(record * count)
    lines = [f"{len(record) * i} {len(record)}\n" for i in range(count)]
    (folder / "data.idx").write_text("".join(lines))
    features = {"label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1)}
    return {"path": f"{folder}/data.tfrecord", "index_path": f"{folder}/data.idx", "features": features}


def _mxnet(folder: Path, count: int) -> dict[str, Any]:
    payload = np.array([0, 0, 0, 0, 0, 0], "<u4").tobytes() + b"jpeg"
    record = np.array([0xCED7230A, len(payload)], "<u4").tobytes() + payload
    (folder / "data.rec").write_bytes(record * count)
    (folder / "data.idx").write_text("".join(f"{i}\t{len(record) * i}\n" for i in range(count)))
    return {"path": f"{folder}/data.rec", "index_path": f"{folder}/data.idx"}


def _webdataset(folder: Path, count: int) -> dict[str, Any]:
    import tarfile

    path = folder / "data.tar"
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        info = tarfile.TarInfo("000000000.jpg")
        info.size = BLOCK
        with open("/dev/zero", "rb") as zeros:
            tar.addfile(info, zeros)
    os.truncate(path, 2 * BLOCK * (count + 1))  # the other members are a hole
    lines = [f"jpg {2 * BLOCK * i + BLOCK} {BLOCK} {i:09}.jpg\n" for i in range(count)]
    (folder / "data.idx").write_text(f"v1.2 {count}\n" + "".join(lines))
    return {"paths": str(path), "index_paths": f"{folder}/data.idx", "ext": ["jpg"]}


KINDS: dict[str, tuple[str, Callable[[Path, int], dict[str, Any]]]] = {
    "file_list": ("file", _file_list),
    "files": ("file", _files),
    "numpy": ("numpy", _numpy),
    "coco": ("coco", _coco),
    "coco images=": ("coco", _coco_images),
    "coco polygons": ("coco", _coco_polygons),
    "tfrecord": ("tfrecord", _tfrecord),
    "recordio": ("mxnet", _mxnet),
    "webdataset": ("webdataset", _webdataset),
}


def work(kind: str, count: int) -> None:
    """Opens a data set, and prints the memory and processor time of its worker."""
    import jdali
    from jdali import fn

    reader, make = KINDS[kind]

    with tempfile.TemporaryDirectory() as name:
        arguments = make(Path(name), count)

        @jdali.pipeline_def(batch_size=4, num_threads=1, seed=1, workers=1)
        def define() -> Any:
            read = getattr(fn.readers, reader)(**arguments, random_shuffle=True)
            return read["label"] if isinstance(read, dict) else read

        pipe = define()
        before = time.process_time()
        pipe.build()
        workers: Any = pipe.internals().engine.elsewhere.workers  # type: ignore[union-attr]
        while not workers.counts().ready:
            time.sleep(0.05)
        spent = time.process_time() - before
        (pid,) = workers.pids()
        print(json.dumps({**_taken(pid), "trainer": spent}), flush=True)
        pipe.close()


def _taken(pid: int) -> dict[str, float]:
    """Returns a process's anonymous memory and mapped shared memory, MB, and its processor seconds."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if line.endswith("kB")}
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    ticks = int(fields[11]) + int(fields[12])
    return {"anon": sizes["RssAnon"], "shared": sizes["RssShmem"], "cpu": ticks / os.sysconf("SC_CLK_TCK")}


def measured(kind: str, count: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--worker", kind, str(count)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker[0], int(options.worker[1]))
        return
    print(
        "| kind | worker's own memory more, MB | its processor time more, s | trainer's processor time, s |"
    )
    print("|---|---|---|---|")
    for kind in options.kinds:
        small, large = (measured(kind, count) for count in (SMALL, options.count))
        more = {name: large[name] - small[name] for name in small}
        print(f"| {kind} | {more['anon']:.0f} | {more['cpu']:.2f} | {large['trainer']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
