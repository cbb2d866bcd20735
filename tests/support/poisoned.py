"""One element of an input replaced: which elements of the outputs change, by pipelines that are compiled once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import jdali
from jdali import fn
from jdali.graph import DataNode
from support.sweep import COUNT, SEED, Outputs, Row, apply

# Of each sample: the element that is replaced, as a share of all of them, and by what.
SHARES = (0.5, 0.3, 0.7, 0.0, 1.0, 0.0, 1.0, 0.62)
NOT_FINITE = (np.nan, np.inf, -np.inf, np.nan, np.inf, -np.inf, np.nan, np.inf)


def replaced(row: Row, number: int, values: Sequence[float]) -> Row:
    """A row with one element of each sample of an input replaced."""
    inputs = list(row.inputs)
    inputs[number] = [
        _with(sample, share, value)
        for sample, share, value in zip(inputs[number], SHARES, values, strict=True)
    ]
    return dataclasses.replace(row, inputs=inputs)


def _with(sample: np.ndarray, share: float, value: float) -> np.ndarray:
    changed = np.array(sample)
    if changed.size:
        changed.reshape(-1)[round(share * (changed.size - 1))] = value
    return changed


def run(rows: Sequence[Row], versions: Sequence[Sequence[Row]]) -> list[list[list[Outputs]]]:
    """The outputs of rows, for each version of them: by version, row and sample.

    All versions go through the same programs, and random operators draw the same numbers for each.

    Args:
        rows: one operator each.
        versions: of each of them, the same rows with other inputs.
    """

    def source(samples: Callable[[int], Sequence[np.ndarray]], **options: Any) -> DataNode:
        # A callback that takes the number of the batch may be set to any state.
        return fn.external_source(lambda _: list(samples(current[0])), batch_info=True, **options)

    current = [0]
    pipe = jdali.Pipeline(batch_size=COUNT, num_threads=1, seed=SEED, prefetch_queue_depth=1)
    with pipe:
        made = []
        for r, row in enumerate(rows):
            nodes = [
                source(lambda v, r=r, n=n: versions[v][r].inputs[n], layout=row.layouts[n] or None)
                for n in range(len(row.inputs))
            ]
            fed = {name: source(lambda _, values=values: values) for name, values in row.fed.items()}
            made.append(apply(row, nodes, fed))
        pipe.set_outputs(*(out for outs in made for out in outs))
    results = []
    with pipe:
        start = pipe.get_state()
        for version in range(len(versions)):
            current[0] = version
            pipe.set_state(start)
            rest = iter(pipe.run())
            of_rows = []
            for outs in made:
                samples = zip(*(next(rest).to_samples() for _ in outs), strict=True)
                of_rows.append([[np.asarray(value) for value in one] for one in samples])
            results.append(of_rows)
    return results


def differs(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """For each element whether its bits differ; any NaN is a NaN."""
    if a.dtype.kind != "f":
        return np.asarray(a != b)
    return np.asarray(~((np.isnan(a) & np.isnan(b)) | (a.view(f"u{a.itemsize}") == b.view(f"u{b.itemsize}"))))


def kinds(values: np.ndarray) -> np.ndarray:
    """0 for numbers, 1, 2, 3 for NaN, infinity, -infinity."""
    if values.dtype.kind != "f":
        return np.zeros(values.shape, int)
    return np.select([np.isnan(values), np.isposinf(values), np.isneginf(values)], [1, 2, 3], 0)
