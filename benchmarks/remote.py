"""Remote storage with a latency: jdali against a plain loop, and against itself on local files.

    python benchmarks/remote.py [--latency 0.05] [--seconds 3] [--threads 2] [--workload file ...]

A server in a process of its own answers each request after the latency. "loop" is what one would write by
hand: fsspec asked for one sample after another. The three take turns, the first batches are not counted; a
figure is the median of the turns, in samples a second. "cpu" is processor time of the reading process.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

BATCH = 32
TURNS = 3
WARM_UP = 4


def make(folder: Path) -> None:
    """Pictures as files, as records, and small records."""
    import simplejpeg

    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 255, (600, 12, 16, 3), np.uint8)
    pictures = [simplejpeg.encode_jpeg(c.repeat(32, 0).repeat(32, 1), quality=90) for c in coarse]
    (folder / "files" / "0").mkdir(parents=True)
    for i, picture in enumerate(pictures):
        (folder / "files" / "0" / f"{i:04}.jpg").write_bytes(picture)
    write_recordio(folder / "pictures.rec", pictures)
    write_recordio(folder / "small.rec", [rng.bytes(1000) for _ in range(30_000)])


def write_recordio(path: Path, records: list[bytes]) -> None:
    import struct

    with path.open("wb") as file:
        for data in records:
            record = struct.pack("<IfQQ", 0, 1.0, 0, 0) + data
            file.write(struct.pack("<II", 0xCED7230A, len(record)) + record + bytes(-len(record) % 4))


def serve(folder: Path, latency: float) -> None:
    """Serves a folder until standard input is closed; says where."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from support.servers import Server, tree

    with Server(tree(folder), latency=latency) as server:
        print(server.url, flush=True)
        sys.stdin.read()


# --- who reads ------------------------------------------------------------------------------
# For each: (reader, arguments, whether pictures are decoded), of where the data are.
WORKLOADS: dict[str, Callable[[str], tuple[str, dict[str, Any], bool]]] = {
    "files, decoded": lambda at: ("file", {"file_root": f"{at}/files", "random_shuffle": True}, True),
    "records, decoded": lambda at: ("mxnet", {"path": f"{at}/pictures.rec"}, True),
    "records, shuffled": lambda at: ("mxnet", {"path": f"{at}/pictures.rec", "random_shuffle": True}, False),
    "records of 1 kB": lambda at: ("mxnet", {"path": f"{at}/small.rec"}, False),
}


def batches(workload: str, at: str, threads: int) -> Iterator[int]:
    """Reads with jdali; the number of samples of each batch."""
    import jdali
    from jdali import fn

    name, arguments, decoded = WORKLOADS[workload](at)
    count = BATCH if decoded or "shuffled" in workload else 8 * BATCH

    @jdali.pipeline_def(batch_size=count, num_threads=threads, device_id=None)
    def reads() -> Any:
        data, _ = getattr(fn.readers, name)(**arguments)
        return fn.decoders.image(data) if decoded else data

    pipe = reads()
    pipe.build()
    try:
        while True:
            pipe.run()
            yield count
    finally:
        pipe.close()


def loop(workload: str, at: str) -> Iterator[int]:
    """Reads by hand, one sample after another; decodes as jdali does."""
    import fsspec
    import simplejpeg

    system, _ = fsspec.core.url_to_fs(at)
    name, arguments, _ = WORKLOADS[workload](at)
    size = 1032 if "1 kB" in workload else 20_000
    while True:
        if name == "file":
            for entry in system.ls(arguments["file_root"] + "/0/", detail=False):
                simplejpeg.decode_jpeg(system.cat_file(entry))
                yield 1
        else:
            # A record at a time: its offset is known from an index. (Without decoding: to the loop's favour.)
            for offset in range(0, 100 * size, size):
                system.cat_file(arguments["path"], start=offset, end=offset + size)
                yield 1


def measure(counts: Iterator[int], seconds: float, skip: int) -> tuple[float, float]:
    """Samples a second, and samples a second of processor time."""
    for _ in range(skip):
        next(counts)
    samples, begun, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - begun < seconds:
        samples += next(counts)
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    counts.close()  # type: ignore[attr-defined]
    return samples / wall, samples / max(cpu, 1e-6)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workload", nargs="*", default=list(WORKLOADS), choices=list(WORKLOADS))
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, given.latency)
        return
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder))
        command = [sys.executable, __file__, "--serve", folder, "--latency", str(given.latency)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            assert server.stdin is not None
            url = server.stdout.readline().strip()
            print(
                f"latency {given.latency * 1000:.0f} ms, {given.threads} threads, samples/s (median of {TURNS})"
            )
            print(
                f"{'':20} {'loop':>10} {'jdali':>10} {'local':>10} {'jdali/loop':>11} {'jdali/local':>12} {'cpu':>6}"
            )
            for workload in given.workload:
                rates: dict[str, list[tuple[float, float]]] = {"loop": [], "jdali": [], "local": []}
                for _ in range(TURNS):
                    rates["loop"].append(measure(loop(workload, url), given.seconds, 1))
                    for who, at in (("jdali", url), ("local", folder)):
                        counts = batches(workload, at, given.threads)
                        rates[who].append(measure(counts, given.seconds, WARM_UP))
                wall = {who: statistics.median(w for w, _ in turns) for who, turns in rates.items()}
                cpu = {who: statistics.median(c for _, c in turns) for who, turns in rates.items()}
                print(
                    f"{workload:20} {wall['loop']:10.0f} {wall['jdali']:10.0f} {wall['local']:10.0f} "
                    f"{wall['jdali'] / wall['loop']:10.1f}x {wall['jdali'] / wall['local']:11.2f}x "
                    f"{cpu['jdali'] / cpu['local']:5.2f}x",
                    flush=True,
                )
            server.stdin.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("jdali")]


if __name__ == "__main__":
    main()
