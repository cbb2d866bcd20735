"""Pipelines over several readers at once, to be killed and resumed.

    python -m support.killed CASES STATE LOG STEPS

goes on from STATE if that file is there, writes it after each step, and a line of hashes to LOG.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import jdali
from support.every_reader import digests, pipeline
from support.resuming import kept_for_the_kill

Cases = dict[str, tuple[str, dict[str, Any], dict[str, Any]]]
"""For each case the reader, its arguments, and options of its pipeline."""


def opened(cases: Cases, stack: contextlib.ExitStack, **options: Any) -> dict[str, jdali.Pipeline]:
    """A pipeline for each case."""
    return {
        case: stack.enter_context(pipeline(reader, args, **own, **options))
        for case, (reader, args, own) in cases.items()
    }


def main(cases: str, state: str, log: str, steps: str) -> None:
    with contextlib.ExitStack() as stack:
        pipes = opened(pickle.loads(Path(cases).read_bytes()), stack)
        lines = stack.enter_context(open(log, "a"))
        lines.write("\n")  # the last one may have been cut off
        first = 0
        if os.path.exists(state):
            first, states = json.loads(Path(state).read_text())
            for case, pipe in pipes.items():
                pipe.set_state(states[case])
        written = itertools.count()
        for step in range(first, int(steps)):
            for case, pipe in pipes.items():
                kept_for_the_kill(next(written))
                lines.write(json.dumps([step, case, digests(pipe, 1)]) + "\n")
                lines.flush()
            # Either the old state is there or the new one, whenever the process dies.
            Path(state + ".new").write_text(
                json.dumps([step + 1, {case: pipe.get_state() for case, pipe in pipes.items()}])
            )
            os.replace(state + ".new", state)


if __name__ == "__main__":
    main(*sys.argv[1:])
