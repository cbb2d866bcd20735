"""Runs all measurements that need a GPU in at most eight minutes: values, times, copies, decoding, memory, pipelines.

    python benchmarks/gpu.py [PART ...] [--out FILE] [--rehearse]

Each part runs in a separate process with a time limit, so that the other parts still run if it hangs. The results are
written to one JSON file after each part, and are printed as a table for RESULTS.md. `--rehearse` uses a CPU device of
JAX in place of the GPU; its times have no meaning.
"""

from __future__ import annotations

import argparse
import dataclasses
import enum
import functools
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
PICTURES = REPOSITORY.parent / "shared" / "data" / "images" / "jpeg"
sys.path[:0] = [str(HERE), str(REPOSITORY / "tests"), str(REPOSITORY)]

# Maximum difference from the CPU's values, as a fraction of the largest value; integers may differ by one.
MOST = 1e-5
# Seconds of the part "operators" that compiling may take.
COMPILING = 60
# Samples in a call of an operator, and calls in flight, so that a kernel takes longer than its launch.
SAMPLES, CALLS = 128, 8
# A row of the output: name of the measurement, and results by name.
Row = tuple[str, dict[str, Any]]


def device() -> Any:
    """Returns the GPU; in a rehearsal, a second CPU device."""
    import jax

    return jax.devices("cpu")[1] if os.environ.get("GPU_REHEARSAL") else jax.devices("gpu")[0]


def seconds(run: Callable[[], Any], least: float = 0.2, calls: int = 1) -> float:
    """Returns the shortest time of a call after two warm-up runs. A run has `calls` in flight, which share its time."""
    import jax

    taken, end = [], 0.0
    for number in range(1000):
        start = time.perf_counter()
        jax.block_until_ready([run() for _ in range(calls)])
        if number == 1:
            end = time.perf_counter() + least
        if number > 1:
            taken.append((time.perf_counter() - start) / calls)
            if time.perf_counter() > end and len(taken) >= 3:
                break
    return min(taken)


# --- parts ------------------------------------------------------------------------------------------
def machine() -> Iterator[Row]:
    import jax
    import jax.numpy as jnp

    rehearsal = bool(os.environ.get("GPU_REHEARSAL"))
    card = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"],
        capture_output=True, text=True, check=False,
    ).stdout.strip() if not rehearsal else "none: a rehearsal"  # fmt: skip
    large = jax.device_put(np.ones((1 << (20 if rehearsal else 29)), np.float32), device())
    negated = jax.jit(jnp.negative)
    moved = 2 * large.nbytes / seconds(lambda: negated(large), calls=4)
    yield "machine", {
        "card": card, "jax": jax.__version__, "cores": os.cpu_count(), "date": time.strftime("%Y-%m-%d"),
        "memory_gb_a_second": round(moved / 1e9),
    }  # fmt: skip


def values() -> Iterator[Row]:
    """Compares the values of every example of `tests/ops/pure_cases.py` on the GPU and on the CPU."""
    import jax
    from ops.pure_calls import DEVICES, Sample, mapped, samples
    from ops.pure_cases import CASES

    host = jax.devices("cpu")[0]

    def compared(case: Any) -> tuple[str, bool]:
        stacked = samples(case, DEVICES)
        arrays = jax.tree.map(np.asarray, (stacked.inputs, stacked.traced, jax.random.key_data(stacked.key)))

        def call(inputs: Any, traced: Any, words: Any) -> Any:
            return mapped(case)(Sample(jax.random.wrap_key_data(words), inputs, traced))

        try:
            found, wanted = (
                jax.tree.leaves(jax.tree.map(np.asarray, jax.jit(call)(*jax.device_put(arrays, where))))
                for where in (device(), host)
            )
        except Exception as error:
            return f"{case}: {type(error).__name__} {str(error)[:200]}", False
        far = max(map(distance, found, wanted), default=0.0)
        same = all(a.tobytes() == b.tobytes() for a, b in zip(found, wanted, strict=True))
        return f"{case}: differs by {far:.2g}" if far > 1 else "", same

    wrong: list[str] = []
    other: list[str] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # most of the time is spent compiling
        for ran, (case, (said, same)) in enumerate(zip(CASES, pool.map(compared, CASES), strict=True), 1):
            wrong += [said] if said else []
            other += [] if said or same else [str(case)]
            if ran % 20 == 0 or ran == len(CASES):
                yield "values", {"examples": ran, "of": len(CASES), "wrong": wrong, "other bits": other}


def distance(found: np.ndarray, wanted: np.ndarray) -> float:
    """Returns the largest difference of two arrays, divided by the allowed difference."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return float("inf")
    if not found.size:
        return 0.0
    first, second = (
        np.nan_to_num(v.astype(np.complex128 if v.dtype.kind == "c" else np.float64)) for v in (found, wanted)
    )
    allowed = 1.0 if found.dtype.kind in "iub" else MOST * max(1.0, float(np.abs(second).max()))
    return float(np.abs(first - second).max()) / allowed


def tests() -> Iterator[Row]:
    """Runs the tests that are marked `gpu`."""
    files = [p for p in (REPOSITORY / "tests").rglob("test_*.py") if "mark.gpu" in p.read_text()]
    yield "tests marked gpu", tested(["-m", "gpu", *map(str, sorted(files))], PARTS["tests"][1])


def suite() -> Iterator[Row]:
    """Runs the tests of operators with the GPU as JAX's default device; they compare with DALI if it is installed."""
    arguments = ["-m", "not exhaustive and not gpu", str(REPOSITORY / "tests" / "ops")]
    yield "tests of operators", tested(arguments, PARTS["suite"][1])


def tested(arguments: list[str], limit: int) -> dict[str, Any]:
    """Runs pytest for at most `limit` seconds; returns the number of passed tests, and the failed tests."""
    platforms = "cpu" if os.environ.get("GPU_REHEARSAL") else "cuda,cpu"
    command = [
        sys.executable, "-m", "pytest", "-v", "--no-header", "-p", "no:cacheprovider", "-p", "no:benchmark", "--tb=line", "-rfE",
        "-n", str(min(12, os.cpu_count() or 1)), "--dist", "load", *arguments,
    ]  # fmt: skip
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            env={**os.environ, "JAX_PLATFORMS": platforms},
            stdout=output,
            stderr=output,
        )
        for wanted, patience in ((signal.SIGINT, limit - 25), (signal.SIGKILL, 20)):
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:  # an interrupted pytest still prints why tests failed
                process.send_signal(wanted)
        output.seek(0)
        lines = output.read().splitlines()
    passed = sum(" PASSED " in line for line in lines)
    failed = sorted({line for line in lines if re.search(r"^(FAILED|ERROR) | (FAILED|ERROR) ", line)})
    return {"passed": passed, "failed": [line[:300] for line in failed[:80]], "said": lines[-1:]}


def operators() -> Iterator[Row]:
    """Measures the microseconds of a sample for each operator, beside the lower bound of `gpu_cost.py`.

    The operators are compiled first, in threads, for at most `COMPILING` seconds, so that nothing else runs during a
    timing.
    """
    import gpu_cost
    import jax

    rehearsal = bool(os.environ.get("GPU_REHEARSAL"))
    rows = gpu_cost.rows()
    count = 1 if rehearsal else SAMPLES
    rows = {name: dataclasses.replace(row, samples=min(row.samples * 2, count)) for name, row in rows.items()}

    def filled(operand: Any) -> np.ndarray:
        if isinstance(operand, np.ndarray):
            return operand
        return np.random.default_rng(0).integers(0, 256, operand.shape).astype(operand.dtype)

    def made(row: Any) -> Any:
        try:
            stage, shapes = gpu_cost.program_of(row)
            function = jax.jit(gpu_cost.rounded(stage, "cpu" if rehearsal else "cuda"))
            shapes = [gpu_cost.MINUS_ZERO, *shapes]
            where = jax.sharding.SingleDeviceSharding(device())
            placed = jax.tree.map(lambda s: jax.ShapeDtypeStruct(s.shape, s.dtype, sharding=where), shapes)
            return function.lower(*placed).compile(), shapes
        except Exception as error:
            return f"{type(error).__name__} {str(error)[:120]}"

    pool = ThreadPoolExecutor(os.cpu_count())
    programs = [pool.submit(made, row) for row in rows.values()]
    wait(programs, timeout=COMPILING)
    pool.shutdown(wait=False, cancel_futures=True)
    for (name, row), program in zip(rows.items(), programs, strict=True):
        if program.cancelled() or not program.done():
            yield f"operator {name}", {"left out": f"not compiled in {COMPILING} s"}
            continue
        found = program.result()
        if isinstance(found, str):
            yield f"operator {name}", {"failed": found}
            continue
        compiled, shapes = found
        operands = [np.float32(-0.0), *jax.tree.map(filled, shapes[1:])]
        placed = jax.device_put(operands, device())
        taken = seconds(functools.partial(compiled, *placed), 0.1, calls=1 if rehearsal else CALLS)
        cost = gpu_cost.Program(compiled.as_text() or "").cost()
        best = max(cost.moved / gpu_cost.BANDWIDTH, cost.flops / gpu_cost.FLOPS)
        yield f"operator {name}", {
            "us_a_sample": round(taken / row.samples * 1e6, 2), "at_best": round(best / row.samples * 1e6, 2),
            "kernels": cost.kernels, "moved_gb_a_second": round(cost.moved / taken / 1e9),
            "temporary_mb": round(compiled.memory_analysis().temp_size_in_bytes / 1e6),
        }  # fmt: skip


def rivals() -> Iterator[Row]:
    """DALI's GPU backend with the same operators: microseconds a sample of a pipeline of one, on data that are on the card."""
    import gpu_cost
    from nvidia import dali
    from nvidia.dali import fn

    rehearsal = bool(os.environ.get("GPU_REHEARSAL"))
    if rehearsal:
        placed, count, device_id = np.asarray, 1, None
    else:
        placed, count, device_id = importlib.import_module("cupy").asarray, SAMPLES, 0

    def for_dali(value: Any) -> Any:
        if isinstance(value, enum.Enum):
            return getattr(dali.types, value.name)
        return np.ravel(value).tolist() if isinstance(value, np.ndarray) else value

    # DALI's GPU backend debayers by another algorithm than its CPU backend, and has no other.
    of_gpu = {} if rehearsal else {"debayer": {"algorithm": "default_npp"}}

    def called(row: Any, *inputs: Any) -> Any:
        where = next(package for package in (fn, fn.experimental) if hasattr(package, row.op.split(".")[0]))
        arguments = {name: for_dali(value) for name, value in {**row.args, **row.per_sample}.items()}
        arguments |= of_gpu.get(row.op, {})
        return functools.reduce(getattr, row.op.split("."), where)(*inputs, **arguments)

    def timed(row: Any, apply: Callable[..., Any]) -> float:
        data = [
            placed(np.random.default_rng(0).integers(0, 256, (count, *shape)).astype(dtype))
            for shape, dtype, _ in row.inputs
        ]
        pipe = dali.Pipeline(batch_size=count, num_threads=4, device_id=device_id)
        with pipe:
            inputs = [
                fn.external_source(
                    source=[batch],
                    cycle=True,
                    no_copy=not rehearsal,
                    layout=layout,
                    device="cpu" if rehearsal else "gpu",
                )
                for batch, (_, _, layout) in zip(data, row.inputs, strict=True)
            ]
            pipe.set_outputs(apply(*inputs))
        pipe.build()
        return seconds(lambda: [pipe.run() for _ in range(CALLS)] and None, 0.1) / CALLS / count * 1e6

    rows = gpu_cost.rows()
    yield "DALI, no operator", {"us_a_sample": round(timed(rows["flip"], lambda images: images), 2)}
    for name, row in rows.items():
        try:
            yield f"DALI {name}", {"us_a_sample": round(timed(row, functools.partial(called, row)), 2)}
        except Exception as error:
            yield (
                f"DALI {name}",
                {"left out": f"{type(error).__name__} {str(error).strip().splitlines()[0][:120]}"},
            )


def copies() -> Iterator[Row]:
    """Measures whether copies to the device overlap with its computation: times of each alone, and of both together."""
    import jax
    import jax.numpy as jnp

    where = device()
    batch = np.ones((128, 512, 512, 3), np.uint8)
    size = 256 if os.environ.get("GPU_REHEARSAL") else 4096
    work = jax.device_put(np.ones((size, size), np.float32), where)
    multiply = jax.jit(lambda x: jax.lax.fori_loop(0, 20, lambda _, y: jnp.tanh(x @ y), x))
    alone = seconds(lambda: jax.device_put(batch, where)), seconds(lambda: multiply(work))
    both = seconds(lambda: (multiply(work), jax.device_put(batch, where)))
    yield "copies to the device", {
        "gb_a_second": round(batch.nbytes / alone[0] / 1e9, 1), "copy_ms": round(alone[0] * 1e3, 2),
        "compute_ms": round(alone[1] * 1e3, 2), "both_ms": round(both * 1e3, 2),
        "overlapped": round((sum(alone) - both) / min(alone), 2),
    }  # fmt: skip


def decoding() -> Iterator[Row]:
    """Compares nvImageCodec with the host's decoder on all cores: pictures a second, and values."""
    import jdali
    import jdali.dynamic as jd
    from jdali import fn

    files = sorted(PICTURES.rglob("*.jp*g"))[:64]
    if not files:
        yield "decoding", {"left out": "the shared JPEG files are not here"}
        return
    encoded = [np.fromfile(file, np.uint8) for file in files]
    pixels = [np.asarray(jd.decoders.image(data)) for data in encoded]
    # Threads wait for the last picture of a batch: of three pictures for each of 16 threads they had a third of this rate.
    repeated = encoded * -(-SAMPLES // len(encoded))
    pipe = jdali.Pipeline(batch_size=len(repeated), num_threads=os.cpu_count(), device_id=None)
    with pipe:
        pipe.set_outputs(fn.decoders.image(fn.external_source([repeated], cycle=True)))
    rate = len(repeated) / seconds(pipe.run, 3)
    yield "decoding on the host", {
        "images_a_second": round(rate), "megapixels": round(sum(p.size / 3 for p in pixels) / 1e6 / len(files), 2)
    }  # fmt: skip
    if os.environ.get("GPU_REHEARSAL"):
        yield "decoding by nvImageCodec", {"left out": "it needs a GPU"}
        return
    try:
        from nvidia import nvimgcodec
    except ImportError as error:
        yield "decoding by nvImageCodec", {"left out": f"nvidia-nvimgcodec cannot be imported: {error}"}
        return
    on_card = jdali.Pipeline(batch_size=len(repeated), num_threads=4)
    with on_card:
        pictures = fn.decoders.image(fn.external_source([repeated], cycle=True), device="mixed")
        on_card.set_outputs(fn.crop(pictures, crop=(64, 64)))
    rate = len(repeated) / seconds(lambda: [v.as_jax() for v in on_card.run()], 3)
    yield "decoding on the card, in a pipeline", {"images_a_second": round(rate)}
    on_card.close()
    decoder, contents = nvimgcodec.Decoder(), [bytes(data) for data in repeated]
    decoded = decoder.decode(contents[: len(encoded)])
    rate = len(contents) / seconds(lambda: decoder.decode(contents) and None, 3)
    far = [
        int(np.abs(np.asarray(one.cpu()).astype(int) - other).max())
        if one is not None and tuple(one.shape) == other.shape
        else -1
        for one, other in zip(decoded, pixels, strict=True)
    ]
    yield (
        "decoding by nvImageCodec",
        {"images_a_second": round(rate), "largest differences": sorted(set(far))},
    )


def training() -> Iterator[Row]:
    """Measures the ResNet-50 pipeline after the decoder: alone, and with an equally long training step; peak memory."""
    import gpu_cost
    import jax
    import jax.numpy as jnp

    import jdali

    jax.config.update("jax_default_device", device())
    rehearsal = bool(os.environ.get("GPU_REHEARSAL"))
    size, batches = (64, 4) if rehearsal else (4096, 30)
    pipe = jdali.Pipeline(batch_size=128, num_threads=os.cpu_count())
    with pipe:
        pipe.set_outputs(gpu_cost.pipelines()["ResNet-50 training"]())

    # The number of iterations is static, because XLA otherwise asks the GPU before each iteration whether to continue.
    @functools.partial(jax.jit, static_argnums=2)
    def step(state: Any, images: Any, turns: int) -> Any:
        state = state + images.mean().astype(state.dtype)
        return jax.lax.fori_loop(0, turns, lambda _, y: jnp.tanh(y @ y), state)

    def taken(turns: int, *, images: Any = None) -> float:
        """Returns the seconds of a batch (`turns` is 0), of a step (`images` is given), or of both."""
        state, output = jax.device_put(np.ones((size, size), jnp.bfloat16), device()), images
        for number in range(batches + 6):
            if number == 6:
                jax.block_until_ready((state, output))
                start = time.perf_counter()
            output = pipe.run()[0].as_jax() if images is None else images
            state = step(state, output, turns) if turns else state
        jax.block_until_ready((state, output))
        return (time.perf_counter() - start) / batches

    alone = taken(0)
    batch = pipe.run()[0].as_jax()
    few = taken(10, images=batch)
    turns = max(1, round(alone / ((taken(110, images=batch) - few) / 100)))
    worked = taken(turns, images=batch)
    both = taken(turns)
    pipe.close()
    used = (device().memory_stats() or {}).get("peak_bytes_in_use", 0)
    yield "ResNet-50 training behind the decoder", {
        "images_a_second": round(128 / alone), "batch_ms": round(alone * 1e3, 2), "step_ms": round(worked * 1e3, 2),
        "both_ms": round(both * 1e3, 2), "peak_gb": round(used / 1e9, 2),
    }  # fmt: skip


def pipelines() -> Iterator[Row]:
    """Runs `pipelines.py` against DALI's GPU backend."""
    if os.environ.get("GPU_REHEARSAL"):
        yield "pipelines", {"left out": "DALI's GPU backend needs a GPU"}
        return
    command = [
        sys.executable,
        str(HERE / "pipelines.py"),
        *(
            "--workload",
            "val",
            "train",
            "--rivals",
            "dali_gpu",
            "jdali_gpu",
            "--rounds",
            "2",
            "--batches",
            "16",
        ),
        *("--threads", str(os.cpu_count())),
    ]
    environment = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) > 4 and cells[1] in ("dali_gpu", "jdali_gpu"):
                figures = {"images a second": cells[2], "ratio to DALI": cells[3], "first batch, s": cells[4]}
                yield f"pipeline {cells[0]}, {cells[1]}", figures


# Parts with their time limits in seconds; the most important parts run first.
PARTS: dict[str, tuple[Callable[[], Iterator[Row]], int]] = {
    "machine": (machine, 10),
    "values": (values, 50),
    "operators": (operators, 75),
    "rivals": (rivals, 80),
    "copies": (copies, 15),
    "training": (training, 30),
    "decoding": (decoding, 20),
    "tests": (tests, 40),
    "suite": (suite, 50),
    "pipelines": (pipelines, 110),
}


def run(name: str, limit: int, rehearse: bool) -> dict[str, Any]:
    """Runs a part in a separate process; returns its rows, including those printed before a crash or the time limit."""
    environment = dict(os.environ, XLA_PYTHON_CLIENT_PREALLOCATE="false", TF_CPP_MIN_LOG_LEVEL="3")
    environment["JAX_PLATFORMS"] = "cpu" if rehearse else "cuda,cpu"
    if rehearse:
        environment["GPU_REHEARSAL"] = "1"
        environment["XLA_FLAGS"] = (
            f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
        )
    start, ended = time.perf_counter(), ""
    rows: dict[str, Any] = {}
    with subprocess.Popen(
        [sys.executable, str(Path(__file__)), "--part", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=environment, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            said, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, errors = process.communicate()
            ended = f"cut off after {limit} s"
    if process.returncode and not ended:
        ended = errors.strip().splitlines()[-1][:300] if errors.strip() else f"exit {process.returncode}"
    for line in said.splitlines():
        if line.startswith("{"):
            rows |= json.loads(line)
    return {"rows": rows, "seconds": round(time.perf_counter() - start, 1)} | (
        {"ended": ended} if ended else {}
    )


def table(results: dict[str, Any]) -> str:
    lines = ["| part | what | figures |", "|---|---|---|"]
    for part, result in results.items():
        for what, figures in result["rows"].items():
            lines.append(f"| {part} | {what} | {', '.join(f'{k} {v}' for k, v in figures.items())} |")
        if "ended" in result:
            lines.append(f"| {part} | ended | {result['ended']} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; none: all")
    parser.add_argument("--out", type=Path, default=Path("build/gpu.json"))
    parser.add_argument("--rehearse", action="store_true", help="on a CPU device")
    parser.add_argument("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        for what, figures in PARTS[options.part][0]():
            print(json.dumps({what: figures}), flush=True)
        return 0
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(unknown)}")
    results: dict[str, Any] = {}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for name in options.parts or PARTS:
        results[name] = run(name, PARTS[name][1], options.rehearse)
        options.out.write_text(json.dumps(results, indent=1))
        print(
            f"{name}: {results[name]['seconds']} s {results[name].get('ended', '')}",
            file=sys.stderr,
            flush=True,
        )
    print(table(results))
    return int(any("ended" in result for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())
