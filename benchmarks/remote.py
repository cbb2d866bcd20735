"""Measures reading from remote storage with latency: jdali against a plain loop, and against jdali on local files.

    python benchmarks/remote.py [--latency 0.05] [--seconds 3] [--threads 2] [--workload file ...]
    python benchmarks/remote.py --bandwidth 40e6 [--latency 0.02] [--cache]

A server in a separate process answers each request after the latency. "loop" is simple handwritten code that requests
one sample after another with fsspec. The three rivals take turns; their first batches are not timed. A result is the
median of the turns, in samples a second. "cpu" is the ratio of jdali's samples a processor second, remote to local.

With `--bandwidth`, the server sends at most that many bytes a second over all connections together. "plain" is the
rate, in MB/s, at which 10 threads download a shard in parts of 4 MiB. "share" is the rate of jdali's records, as a
fraction of "plain", measured after half a pass. "requests" is the maximum number of requests in flight. With `--cache`,
data are also stored on disk, and "again" is the rate of another pass, from the disk.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

BATCH = 32
TURNS = 3
WARM_UP = 4


def make(folder: Path) -> None:
    """Writes pictures as files and as records, and small records."""
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
    with path.open("wb") as file:
        for data in records:
            record = struct.pack("<IfQQ", 0, 1.0, 0, 0) + data
            file.write(struct.pack("<II", 0xCED7230A, len(record)) + record + bytes(-len(record) % 4))


def make_shards(folder: Path) -> None:
    """Writes records of 100 kB as WebDataset, TFRecord, Parquet and ArrayRecord, in 4 shards of 50 MB each."""
    import io
    import tarfile

    import pyarrow as pa
    import pyarrow.parquet as pq
    from array_record.python.array_record_module import ArrayRecordWriter

    from jdali.readers.tfrecord import masked_crc

    rng = np.random.default_rng(0)
    records = [rng.bytes(100_000) for _ in range(500)]
    examples = []
    for record in records:
        value = field(1, field(1, record))  # a feature, which is a list of bytes
        value = field(1, field(1, field(1, b"x") + field(2, value)))  # an example with the feature "x"
        head = struct.pack("<Q", len(value))
        ends = struct.pack("<I", masked_crc(head)), struct.pack("<I", masked_crc(value))
        examples.append(head + ends[0] + value + ends[1])
    for shard in range(4):
        (folder / f"{shard}.tfrecord").write_bytes(b"".join(examples))
        with tarfile.open(folder / f"{shard}.tar", "w") as tar:
            for i, record in enumerate(records):
                member = tarfile.TarInfo(f"{i:04}.bin")
                member.size = len(record)
                tar.addfile(member, io.BytesIO(record))
        writer = ArrayRecordWriter(str(folder / f"{shard}.array_record"), "group_size:1,uncompressed")
        for record in records:
            writer.write(record)
        writer.close()
        table = pa.table({"x": pa.array(records, pa.binary())})
        pq.write_table(
            table, folder / f"{shard}.parquet", row_group_size=100, compression="none", use_dictionary=False
        )


def field(number: int, value: bytes) -> bytes:
    """Encodes a field of a protocol buffer."""
    return bytes([number << 3 | 2]) + varint(len(value)) + value


def varint(value: int) -> bytes:
    low = [value >> shift & 127 for shift in range(0, max(value.bit_length(), 1), 7)]
    return bytes([*(digit | 128 for digit in low[:-1]), low[-1]])


def serve(folder: Path, latency: float, bandwidth: float | None) -> None:
    """Serves a folder until standard input is closed; prints the address first.

    For each line of input, prints the maximum number of requests in flight since the last line.
    """
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from support.servers import Server, tree

    with Server(tree(folder), latency=latency, bandwidth=bandwidth) as server:
        print(server.url, flush=True)
        for _ in sys.stdin:
            print(server.busiest, flush=True)
            server.busiest = 0


# --- rivals ---------------------------------------------------------------------------------
# Each function takes the address of the data, and returns (reader, arguments, whether pictures are decoded).
WORKLOADS: dict[str, Callable[[str], tuple[str, dict[str, Any], bool]]] = {
    "files, decoded": lambda at: ("file", {"file_root": f"{at}/files", "random_shuffle": True}, True),
    "records, decoded": lambda at: ("mxnet", {"path": f"{at}/pictures.rec"}, True),
    "records, shuffled": lambda at: ("mxnet", {"path": f"{at}/pictures.rec", "random_shuffle": True}, False),
    "records of 1 kB": lambda at: ("mxnet", {"path": f"{at}/small.rec"}, False),
}


def batches(workload: str, at: str, threads: int) -> Iterator[int]:
    """Reads with jdali; yields the number of samples of each batch."""
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


SHARDED: dict[str, Callable[[list[str]], tuple[str, dict[str, Any]]]] = {
    "webdataset": lambda at: ("webdataset", {"paths": [f"{one}.tar" for one in at], "ext": ["bin"]}),
    "tfrecord": lambda at: ("tfrecord", {"path": [f"{one}.tfrecord" for one in at], "features": features()}),
    "parquet": lambda at: ("parquet", {"paths": [f"{one}.parquet" for one in at], "columns": ["x"]}),
    "array_record": lambda at: ("array_record", {"paths": [f"{one}.array_record" for one in at]}),
}


def features() -> dict[str, Any]:
    from jdali import tfrecord

    return {"x": tfrecord.FixedLenFeature((), tfrecord.string, "")}


def passes(name: str, url: str, threads: int, **order: Any) -> Generator[int]:
    """Reads shards with jdali; yields the bytes of each batch."""
    import jdali
    from jdali import fn

    reader, arguments = SHARDED[name]([f"{url}/{shard}" for shard in range(4)])

    @jdali.pipeline_def(batch_size=20, num_threads=threads, device_id=None)
    def reads() -> Any:
        found = getattr(fn.readers, reader)(**arguments, **order)
        return found["x"] if isinstance(found, dict) else found

    pipe = reads()
    pipe.build()
    try:
        while True:
            (batch,) = pipe.run()
            yield sum(len(sample) for sample in batch.to_samples())
    finally:
        pipe.close()


def plain(url: str) -> float:
    """Downloads 48 MiB of a shard with 10 threads; returns the bytes a second."""
    import fsspec

    part, total = 4 << 20, 48 << 20
    system, path = fsspec.core.url_to_fs(f"{url}/0.parquet")
    begun = time.perf_counter()
    with ThreadPoolExecutor(10) as pool:
        for future in [pool.submit(system.cat_file, path, at, at + part) for at in range(0, total, part)]:
            future.result()
    return total / (time.perf_counter() - begun)


def rate_of(counts: Iterator[int], warm: int, batches: int) -> float:
    """Returns the bytes a second over `batches` batches, after `warm` batches that are not timed."""
    for _ in range(warm):
        next(counts)
    begun = time.perf_counter()
    total = sum(next(counts) for _ in range(batches))
    return total / (time.perf_counter() - begun)


def loop(workload: str, at: str) -> Iterator[int]:
    """Reads one sample after another with fsspec; decodes files with jdali's decoder."""
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
            # Reads one record at a time, as if an index had given the offset. Does not decode, in the loop's favour.
            for offset in range(0, 100 * size, size):
                system.cat_file(arguments["path"], start=offset, end=offset + size)
                yield 1


def measure(counts: Iterator[int], seconds: float, skip: int) -> tuple[float, float]:
    """Returns the samples a wall second, and the samples a processor second."""
    for _ in range(skip):
        next(counts)
    samples, begun, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - begun < seconds:
        samples += next(counts)
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    counts.close()  # type: ignore[attr-defined]
    return samples / wall, samples / max(cpu, 1e-6)


def shares(given: argparse.Namespace) -> None:
    import jdali

    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as kept:
        os.environ["JDALI_CACHE_DIR"] = kept
        make_shards(Path(folder))
        options = ["--latency", str(given.latency), "--bandwidth", str(given.bandwidth)]
        command = [sys.executable, __file__, "--serve", folder, *options]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            assert server.stdin is not None
            url = server.stdout.readline().strip()
            print(
                f"latency {given.latency * 1000:.0f} ms, {given.bandwidth / 1e6:.0f} MB/s, {given.threads} threads"
            )
            print(
                f"{'':24} {'plain':>6} {'share':>6} {'requests':>9}"
                + (f" {'again':>12}" if given.cache else "")
            )
            for name in SHARDED:
                for order in ({}, {"random_shuffle": True, "initial_fill": 100}):
                    jdali.storage.configure(bytes_ahead=64 << 20, cache_bytes=(1 << 30) * given.cache)
                    next(made := passes(name, url, given.threads))  # writes the index of the shards
                    made.close()
                    shutil.rmtree(Path(kept, "remote"), ignore_errors=True)
                    jdali.storage.configure(bytes_ahead=64 << 20, cache_bytes=(1 << 30) * given.cache)
                    reference = plain(url)
                    counts = passes(name, url, given.threads, **order)
                    server.stdin.write("\n")
                    server.stdin.flush()
                    server.stdout.readline()
                    rate = rate_of(counts, 50, 50 if given.cache else 100)
                    server.stdin.write("\n")
                    server.stdin.flush()
                    busiest = server.stdout.readline().strip()
                    again = f" {rate_of(counts, 0, 100) / 1e6:7.0f} MB/s" if given.cache else ""
                    counts.close()
                    title = f"{name}{', shuffled' * bool(order)}"
                    print(
                        f"{title:24} {reference / 1e6:6.1f} {rate / reference:6.1%} {busiest:>9}{again}",
                        flush=True,
                    )
            server.stdin.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workload", nargs="*", default=list(WORKLOADS), choices=list(WORKLOADS))
    parser.add_argument("--bandwidth", type=float)
    parser.add_argument("--cache", action="store_true")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, given.latency, given.bandwidth)
        return
    if given.bandwidth:
        shares(given)
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
