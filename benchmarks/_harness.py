"""Times rivals in turns. Each rival has its own process, which waits between its turns.

Machines are shared and noisy, so absolute rates drift. Ratios of consecutive turns do not drift.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

# After its turn, a rival still prefetches some batches. The next rival's turn begins after this time.
SETTLE_SECONDS = 1.5


def arguments(
    doc: str,
    *,
    batches: int,
    rivals: Iterable[str],
    choices: Mapping[str, Iterable[str]],
    data: str = argparse.SUPPRESS,
) -> argparse.ArgumentParser:
    """Builds the argument parser of a benchmark in which rivals take turns; the rivals' processes use it, too.

    Args:
        doc: docstring of the script; its first line is the description.
        batches: default number of batches in a turn.
        rivals: names of all rivals.
        choices: possible values of further arguments, by argument name.
        data: help of --data; SUPPRESS hides the argument, if only the rivals' processes get it.
    """
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=batches, help="batches in a turn")
    for name, known in {**choices, "rivals": rivals}.items():
        parser.add_argument(f"--{name}", nargs="*", default=list(known), choices=list(known))
    parser.add_argument("--data", help=data)
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    return parser


class Worker:
    """Controls the process of a rival, which runs batches on request."""

    def __init__(self, script: Path, rival: str, workload: str, data: str, threads: int, python: str):
        command = [
            python,
            str(script),
            "--worker",
            rival,
            workload,
            "--data",
            data,
            "--threads",
            str(threads),
        ]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.name = rival
        self.first: float | None = None
        self.rates: list[float] = []
        self.problem = ""

    def start(self) -> bool:
        """Waits for the first batch; returns False and sets `problem` if the rival cannot run."""
        answer = self._read()
        self.problem = answer.get("problem", "")
        self.first = answer.get("first_batch_s")
        return not self.problem

    def turn(self, batches: int) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{batches}\n")
        self.process.stdin.flush()
        self.rates.append(self._read()["rate"])
        time.sleep(SETTLE_SECONDS)

    def stop(self) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write("0\n")
        self.process.stdin.flush()
        facts = self._read()
        self.process.wait(30)
        return facts

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("@"):
                return json.loads(line[1:])
        return {"problem": f"the process ended with {self.process.wait()}"}


def serve(first_batch_s: float, run: Callable[[int], float], facts: Callable[[], dict]) -> None:
    """Serves turns in the process of a rival: each line of the input is a number of batches to run; 0 ends the loop.

    Args:
        first_batch_s: seconds from the start to the first batch.
        run: runs a number of batches and returns images a second.
        facts: returns further results to report at the end.
    """
    say({"first_batch_s": first_batch_s})
    for line in sys.stdin:
        count = int(line)
        if not count:
            say(facts())
            return
        say({"rate": run(count)})


def serve_batches(
    open_batches: Callable[[], Iterator[Any]], samples: int, clock: Callable[[], float] = time.perf_counter
) -> None:
    """Serves turns with an iterator over batches; reports a problem if the rival's libraries are missing.

    Args:
        open_batches: returns the iterator.
        samples: number of samples in a batch.
        clock: clock for the rates: wall time or processor time.
    """
    start = time.perf_counter()
    try:
        batches = open_batches()
        next(batches)
    except ImportError as error:
        say({"problem": str(error)})
        return

    def run(count: int) -> float:
        start = clock()
        for _ in range(count):
            next(batches)
        return count * samples / (clock() - start)

    serve(time.perf_counter() - start, run, dict)


def print_row(row: Mapping[str, Any]) -> None:
    """Prints a row of `compare`: a rival's rates, their ratio, and the time to the first batch."""
    print(
        f"| {row['workload']} | {row['rival']} | {row['median']:.0f} ({row['low']:.0f} to {row['high']:.0f}) | "
        f"{row['ratio']:.2f} | {row['first_batch_s']:.1f} |",
        flush=True,
    )


def say(answer: dict[str, Any]) -> None:
    print("@" + json.dumps(answer), flush=True)


def compare(
    script: Path, rivals: Sequence[str], workload: str, *, data: str, threads: int, rounds: int, batches: int,
    pythons: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Returns a row for each rival that runs: the median rate, and the median of its ratios to the first rival's rates.

    A ratio compares the turns of the same round.

    Args:
        pythons: paths of Python interpreters by rival; a rival that is missing here uses the current interpreter.
    """
    workers = []
    for rival in rivals:
        python = (pythons or {}).get(rival, sys.executable)
        worker = Worker(script, rival, workload, data, threads, python)
        if worker.start():
            workers.append(worker)
        else:
            print(f"  {rival}: left out: {worker.problem}", file=sys.stderr)
    for worker in workers:
        worker.turn(batches)  # not counted
    for worker in workers:
        worker.rates.clear()
    for _ in range(rounds):
        for worker in workers:
            worker.turn(batches)
    rows = []
    for worker in workers:
        ratios = [a / b for a, b in zip(worker.rates, workers[0].rates, strict=True)]
        rows.append(
            {
                "workload": workload, "rival": worker.name, "median": statistics.median(worker.rates),
                "low": min(worker.rates), "high": max(worker.rates), "ratio": statistics.median(ratios),
                "first_batch_s": worker.first, **worker.stop(),
            }
        )  # fmt: skip
    return rows
