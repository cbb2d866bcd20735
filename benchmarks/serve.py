"""Measures servers with requests of one JPEG from several clients: jdali's server, Triton with jdali, Triton with DALI.

    make triton                     # once, to install Triton's server, and DALI for the rival
    python benchmarks/serve.py --requests 1000 --clients 8

Every answer must equal the output of the same library's pipeline bit for bit. The rivals take turns, so that a change
of the machine's load affects all of them. Processor time is the time of the server's processes.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import io
import itertools
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tritonclient.http
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.triton_server import distribution, triton_server

from jdali import fn, pipeline_def, types
from jdali.plugin.triton import model_repository

SIDE, SHORTER = 224, 256
MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]
RIVALS = ("serve", "triton", "triton_dali")
_TICKS = os.sysconf("SC_CLK_TCK")

# A model with DALI's pipeline for the same Python backend. All requests of a call form one batch.
DALI_MODEL = f"""
import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
import triton_python_backend_utils as triton
from nvidia.dali import pipeline_def

@pipeline_def(device_id=None, prefetch_queue_depth=1, exec_pipelined=False, exec_async=False)
def serving():
    pictures = fn.decoders.image(fn.external_source(name="files"))
    resized = fn.resize(pictures, resize_shorter={SHORTER})
    return fn.crop_mirror_normalize(resized, crop=({SIDE}, {SIDE}), mean={MEAN}, std={STD}, dtype=types.FLOAT)

class TritonPythonModel:
    def initialize(self, args):
        self.pipe = serving(batch_size=BATCH, num_threads=THREADS)
        self.pipe.build()

    def execute(self, requests):
        files = [triton.get_input_tensor_by_name(r, "files").as_numpy().reshape(-1)[0] for r in requests]
        self.pipe.feed_input("files", [np.frombuffer(one, np.uint8) for one in files])
        (pixels,) = self.pipe.run()
        return [
            triton.InferenceResponse([triton.Tensor("pixels", np.array(pixels.at(i))[None])])
            for i in range(len(requests))
        ]
"""


class Turn(NamedTuple):
    """Results of a turn: requests to one server."""

    latencies: list[float]
    seconds: float
    processor_seconds: float


class Rival:
    """A server, its expected answers, and the results of its turns."""

    def __init__(
        self, name: str, address: str, model: str, process: int, want: Sequence[np.ndarray], axes: int
    ):
        self.name, self.address, self.model, self.want = name, address, model, want
        self._process, self._axes = process, axes
        self.turns: list[Turn] = []

    def turn(self, files: Sequence[bytes], requests: int, clients: int) -> None:
        """Sends requests from several clients; raises AssertionError if an answer differs from the expected one."""
        numbers, lock = iter(range(requests)), threading.Lock()
        latencies: list[float] = []

        def ask() -> None:
            with tritonclient.http.InferenceServerClient(self.address) as client:
                while True:
                    with lock:
                        number = next(numbers, None)
                    if number is None:
                        return
                    which = number % len(files)
                    tensor = tritonclient.http.InferInput("files", [1] * self._axes, "BYTES")
                    tensor.set_data_from_numpy(np.array(files[which], object).reshape([1] * self._axes))
                    begun = time.perf_counter()
                    answer = client.infer(self.model, [tensor]).as_numpy("pixels")
                    latencies.append(time.perf_counter() - begun)
                    assert np.array_equal(answer[0], self.want[which]), f"{self.name}: another answer"

        used, begun = processor_seconds(self._process), time.perf_counter()
        with concurrent.futures.ThreadPoolExecutor(clients) as pool:
            for one in [pool.submit(ask) for _ in range(clients)]:
                one.result()
        seconds = time.perf_counter() - begun
        self.turns.append(Turn(latencies, seconds, processor_seconds(self._process) - used))

    def row(self) -> str:
        """Returns the results of all turns as a row of a Markdown table."""
        latencies = np.array([ms * 1e3 for turn in self.turns for ms in turn.latencies])
        rate = statistics.median(len(t.latencies) / t.seconds for t in self.turns)
        used = statistics.median(t.processor_seconds / len(t.latencies) for t in self.turns)
        p50, p99 = np.percentile(latencies, [50, 99])
        return f"| {self.name} | {p50:.1f} | {p99:.1f} | {rate:.0f} | {used * 1e3:.2f} |"


def processor_seconds(root: int) -> float:
    """Returns the processor seconds of a process and its descendants."""
    parents: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(folder.name))
            used[int(folder.name)] = (int(fields[11]) + int(fields[12])) / _TICKS
    total, waiting = 0.0, [root]
    while waiting:
        one = waiting.pop()
        total += used.get(one, 0.0)
        waiting += parents.get(one, [])
    return total


def pictures(count: int) -> list[bytes]:
    """Generates small JPEG files of smooth noise with some grain."""
    found = []
    for number in range(count):
        random = np.random.default_rng(number)
        height, width = int(random.integers(300, 480)), int(random.integers(340, 500))
        coarse = random.integers(0, 255, (height // 16, width // 16, 3), np.uint8)
        smooth = np.asarray(
            Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC), np.int16
        )
        grain = random.normal(0, 6, smooth.shape)
        file = io.BytesIO()
        Image.fromarray(np.clip(smooth + grain, 0, 255).astype(np.uint8)).save(file, "jpeg", quality=85)
        found.append(file.getvalue())
    return found


def jdali_pipeline(files: Sequence[bytes]) -> Any:
    """Returns jdali's pipeline, whose batch has all files."""

    @pipeline_def(batch_size=len(files), num_threads=2, seed=1)
    def serving() -> Any:
        encoded = fn.external_source(
            lambda info: [np.frombuffer(f, np.uint8) for f in files], batch_info=True, name="files"
        )
        resized = fn.resize(fn.decoders.image(encoded, device="mixed"), resize_shorter=SHORTER)
        return fn.crop_mirror_normalize(
            resized, crop=(SIDE, SIDE), mean=MEAN, std=STD, dtype=types.FLOAT, name="pixels"
        )

    return serving()


def of_dali(files: Sequence[bytes], threads: int) -> list[np.ndarray]:
    """Returns the outputs of DALI's pipeline, run with batches of one sample."""
    from nvidia import dali

    @dali.pipeline_def(device_id=None, batch_size=1, num_threads=threads)
    def serving() -> Any:
        encoded = dali.fn.external_source(
            lambda info: np.frombuffer(files[info.idx_in_epoch % len(files)], np.uint8), batch=False
        )
        resized = dali.fn.resize(dali.fn.decoders.image(encoded), resize_shorter=SHORTER)
        return dali.fn.crop_mirror_normalize(
            resized, crop=(SIDE, SIDE), mean=MEAN, std=STD, dtype=dali.types.FLOAT
        )

    pipe = serving()
    return [np.array(pipe.run()[0].at(0)) for _ in files]


@contextlib.contextmanager
def own_server(folder: Path, options: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """Runs `python -m jdali serve`; yields its address and process id."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "jdali", "serve", str(folder), "--name", "preprocess", "--port", str(port),
        "--threads", str(options.threads), "--max-batch", str(options.batch), "--max-wait-ms", str(options.max_wait_ms),
    ]  # fmt: skip
    with subprocess.Popen(command) as process:
        try:
            while process.poll() is None:
                with contextlib.suppress(urllib.error.URLError, ConnectionError):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/health/ready").close()
                    break
                time.sleep(0.1)
            yield f"127.0.0.1:{port}", process.pid
        finally:
            process.terminate()


def dali_model(repository: Path, options: argparse.Namespace) -> None:
    """Writes the model with DALI to Triton's model repository."""
    folder = repository / "dali"
    (folder / "1").mkdir(parents=True)
    code = DALI_MODEL.replace("BATCH", str(options.batch)).replace("THREADS", str(options.threads))
    (folder / "1" / "model.py").write_text(code)
    (folder / "config.pbtxt").write_text(
        f"""name: "dali" backend: "python" max_batch_size: {options.batch}
        input [ {{ name: "files" data_type: TYPE_STRING dims: [ 1 ] }} ]
        output [ {{ name: "pixels" data_type: TYPE_FP32 dims: [ 3, {SIDE}, {SIDE} ] }} ]
        dynamic_batching {{ max_queue_delay_microseconds: {round(options.max_wait_ms * 1000)} }}
        instance_group [ {{ kind: KIND_CPU }} ]"""
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=1000, help="to each server")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5, help="in which the requests are sent")
    parser.add_argument("--pictures", type=int, default=32)
    parser.add_argument("--batch", type=int, default=8, help="samples in the largest batch")
    parser.add_argument("--threads", type=int, default=2, help="that decode")
    parser.add_argument("--max-wait-ms", type=float, default=0.0)
    parser.add_argument("--rivals", nargs="*", default=list(RIVALS), choices=RIVALS)
    options = parser.parse_args()
    if distribution() is None:
        parser.error("Triton's server is not installed: make triton")
    files = pictures(options.pictures)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        exported, repository = Path(folder, "exported"), Path(folder, "repository")
        with jdali_pipeline(files) as pipe:
            want = [np.asarray(one) for one in pipe.run()[0].to_samples()]
            pipe.export(exported, shapes=[(512, 512)], platforms=["cpu"])
        rivals = []
        if "serve" in options.rivals:
            address, process = stack.enter_context(own_server(exported, options))
            rivals.append(Rival("jdali serve", address, "preprocess", process, want, 1))
        if {"triton", "triton_dali"} & set(options.rivals):
            model_repository(
                exported, repository, max_batch=options.batch, threads=options.threads, max_wait_ms=options.max_wait_ms
            )  # fmt: skip
            dali_model(repository, options)
            address, process = stack.enter_context(triton_server(repository))
            if "triton" in options.rivals:
                rivals.append(Rival("Triton, jdali", address, "preprocess", process, want, 2))
            if "triton_dali" in options.rivals:
                expected = of_dali(files, options.threads)
                rivals.append(Rival("Triton, DALI", address, "dali", process, expected, 2))
        for rival in rivals:
            rival.turn(files, 4 * options.clients, options.clients)
            rival.turns.clear()
        each = options.requests // options.rounds
        for number, rival in itertools.product(range(options.rounds), rivals):
            rival.turn(files, each, options.clients)
            load = os.getloadavg()[0]
            print(f"round {number}: {rival.name}, load {load:.1f}", file=sys.stderr, flush=True)
        print(
            f"{options.rounds * each} requests to each, {options.clients} clients, every answer as the pipeline's"
        )
        print(
            "| server | p50, ms | p99, ms | requests a second | processor ms a request |\n|---|---|---|---|---|"
        )
        print("\n".join(rival.row() for rival in rivals))


if __name__ == "__main__":
    main()
