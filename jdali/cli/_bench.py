"""Implements `python -m jdali bench train.py:training`, which measures a pipeline in a loop."""

from __future__ import annotations

import argparse
import contextlib
from typing import Any

from jdali._errors import OperatorError
from jdali._system.progress import progress_bar
from jdali._viewer.measure import measure_loop
from jdali.cli._failed import failed
from jdali.cli._named import PipelineNameError, add_arguments, factory, not_negative, positive, seconds


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "bench",
        help="measure a pipeline in a loop, and report its bottleneck",
        description="Takes batches of a pipeline in a loop that does nothing else, and prints a report with advice.",
    )
    add_arguments(parser)
    parser.add_argument("-n", "--batches", type=positive, default=100, help="most batches to measure; 100")
    parser.add_argument(
        "--warmup", type=not_negative, default=5, metavar="BATCHES", help="batches to take before; 5"
    )
    parser.add_argument(
        "--seconds", type=seconds, default=60.0, help="ends the measured loop after this time; 60"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        pipe = factory(options.pipeline, options.arg)()
        with contextlib.closing(pipe), progress_bar(options.batches, "batches", options.pipeline) as advance:

            def one(done: int, passed: float) -> bool:
                advance(1)
                return passed < options.seconds

            report = measure_loop(pipe, options.batches, one, options.warmup)
            size = pipe.max_batch_size
    except (PipelineNameError, OperatorError) as error:
        return failed("bench", error)
    if not report.batches:
        return failed("bench", f"{options.pipeline} ends before the loop is measured; take fewer --warmup")
    print(f"{report.batches * size / report.seconds:.1f} samples a second, in batches of {size}")
    print(report)
    return 0
