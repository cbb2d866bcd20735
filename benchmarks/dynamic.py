"""Compares dynamic mode with DALI's: the time of a call on small data, which is mostly overhead of the call.

    python benchmarks/dynamic.py [--rounds 150] [--calls 5] [--workloads pair resize]

Both libraries run in this process, in short turns. A call ends when its values are in host memory. Flags, factors and
angles change with every call. Results are medians over the turns, of wall time and of the processor time of all
threads.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

IMAGE = (np.arange(64 * 64 * 3) % 251).astype(np.uint8).reshape(64, 64, 3)
BATCH = 8


def angle(i: int) -> float:
    """Returns an angle in degrees that differs for each call number."""
    return i * 0.618034 % 1 * 90


# Title, whether the input is a batch, and the call; its arguments: library, picture or batch, number of the call.
WORKLOADS: dict[str, tuple[str, bool, Callable[[Any, Any, int], Any]]] = {
    "pair": (
        "flip, brightness", False,
        lambda m, x, i: m.brightness(m.flip(x, horizontal=i % 2), brightness=1 + i % 7 / 8),
    ),
    "pair_batch": (
        "flip, brightness", True,
        lambda m, x, i: m.brightness(m.flip(x, horizontal=i % 2), brightness=1 + i % 7 / 8),
    ),
    "resize": ("resize to 48×48", False, lambda m, x, i: m.resize(x, resize_x=48, resize_y=48)),
    "rotate": ("rotate, all of it kept", False, lambda m, x, i: m.rotate(x, angle=angle(i))),
    "rotate_keep": (
        "rotate, size kept", False, lambda m, x, i: m.rotate(x, angle=angle(i), keep_size=True)
    ),
    "arithmetic": ("x * 0.5 + 3", False, lambda m, x, i: x * 0.5 + 3),
    "uniform": ("random.uniform", False, lambda m, x, i: m.random.uniform(range=[-1.0, 1.0])),
    "uniform_batch": (
        "random.uniform", True, lambda m, x, i: m.random.uniform(range=[-1.0, 1.0], batch_size=BATCH)
    ),
}  # fmt: skip


def libraries() -> dict[str, Any]:
    """Returns the modules of dynamic mode: jdali's, and DALI's if it is installed."""
    import jdali.dynamic

    found = {"jdali": jdali.dynamic}
    try:
        import nvidia.dali.experimental.dynamic as dali
    except ImportError:
        print("DALI is not installed: no ratios")
    else:
        found["DALI"] = dali
    return found


def caller(library: Any, workload: str) -> Callable[[int], None]:
    """Returns a function that runs a number of calls, and reads the values of each call."""
    _, several, call = WORKLOADS[workload]
    data = (
        library.as_batch([IMAGE] * BATCH, layout="HWC") if several else library.as_tensor(IMAGE, layout="HWC")
    )
    done = 0

    def run(count: int) -> None:
        nonlocal done
        for i in range(done, done + count):
            result = call(library, data, i)
            for one in result.tensors if several else [result]:
                np.asarray(one)
        done += count

    return run


def measure(run: Callable[[int], None], calls: int) -> tuple[float, float]:
    """Returns the wall time and the processor time of a call, ms."""
    wall, processor = time.perf_counter(), time.process_time()
    run(calls)
    return (time.perf_counter() - wall) / calls * 1e3, (time.process_time() - processor) / calls * 1e3


def compare(workload: str, rounds: int, calls: int) -> list[str]:
    """Measures a workload; returns a row of the table for each library."""
    rivals = {name: caller(library, workload) for name, library in libraries().items()}
    for run in rivals.values():
        run(100)  # compiles, and is not counted
    turns: dict[str, list[tuple[float, float]]] = {name: [] for name in rivals}
    for _ in range(rounds):
        for name, run in rivals.items():
            turns[name].append(measure(run, calls))
    title, several, _ = WORKLOADS[workload]
    lines = []
    for name, times in turns.items():
        wall, processor = (statistics.median(column) for column in zip(*times, strict=True))
        ratio = " | "
        if "DALI" in turns:
            pairs = list(zip(turns["DALI"], times, strict=True))
            ratio = " | ".join(f"{statistics.median(d[i] / o[i] for d, o in pairs):.2f}" for i in (0, 1))
        lines.append(
            f"| {title} | {BATCH if several else 1} | {name} | {wall:.3f} | {processor:.3f} | {ratio} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=150)
    parser.add_argument("--calls", type=int, default=5, help="calls in a turn")
    parser.add_argument("--workloads", nargs="*", default=list(WORKLOADS), choices=list(WORKLOADS))
    options = parser.parse_args()
    print("| calls | pictures | library | wall ms | processor ms | ratio, wall | ratio, processor |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for workload in options.workloads:
        print("\n".join(compare(workload, options.rounds, options.calls)), flush=True)


if __name__ == "__main__":
    main()
