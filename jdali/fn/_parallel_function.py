"""Runs a user's function in worker processes, on several samples of a batch at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches import data_array
from jdali._errors import contained
from jdali._sources import InWorkers
from jdali._workers import portable
from jdali.ops.flow._python_function import as_outputs


class RemoteFunction:
    """Runs a user's function, which returns `num_outputs` arrays, in a worker process."""

    alone = False

    def __init__(self, function: Callable[..., Any], num_outputs: int):
        self.callback, self._num_outputs = function, num_outputs

    def samples(self, rows: Sequence[Sequence[np.ndarray]]) -> tuple[Any, dict[int, Exception]]:
        """Calls the function on samples. Returns a list of outputs for each sample, and the errors by index of the sample."""
        results: list[Any] = []
        failures: dict[int, Exception] = {}
        for i, row in enumerate(rows):
            try:
                outputs = as_outputs(self.callback(*row), self._num_outputs)
                # A copy, because the function may reuse its memory.
                results.append([data_array(output, copy=True) for output in outputs])
            except BaseException as error:
                failures[i] = portable(contained(error))
                results.append([])
        return results, failures


class ParallelFunction(InWorkers):
    """Implements the function of `fn.python_function(..., parallel=True)`."""

    def __init__(self, function: Callable[..., Any], num_outputs: int):
        self._function, self._num_outputs = function, num_outputs

    def __repr__(self) -> str:
        return f"{self._function!r} in worker processes"

    def remote(self) -> RemoteFunction:
        return RemoteFunction(self._function, self._num_outputs)

    def in_process(self) -> FunctionHere:
        return FunctionHere(self._function, self._num_outputs)

    def remake(self) -> Callable[[], FunctionHere]:
        """Returns a picklable function that a worker process calls to get its copy of the user's function."""
        return functools.partial(FunctionHere, self._function, self._num_outputs)

    def anew(self) -> ParallelFunction:
        """Copies the function for another pipeline."""
        return ParallelFunction(self._function, self._num_outputs)

    def each(self, rows: Sequence[Sequence[np.ndarray]]) -> tuple[list[Any], dict[int, Exception]]:
        """Calls the function on samples in workers.

        Returns: an array, or a tuple of arrays, for each sample; then the errors by index of the sample.
        """
        parts = self._parts(len(rows))
        calls = [self._call("samples", [rows[i] for i in part]) for part in parts]
        results: list[Any] = []
        failures: dict[int, Exception] = {}
        for part, call in zip(parts, calls, strict=True):
            outputs, failed = call.result().result
            results += outputs
            failures |= {part.start + i: error for i, error in failed.items()}
        return _by_sample(results, failures, self._num_outputs), failures


class FunctionHere:
    """Calls the function like `ParallelFunction`, but in this process; for debug mode and workers that make batches."""

    def __init__(self, function: Callable[..., Any], num_outputs: int):
        self._remote, self._num_outputs = RemoteFunction(function, num_outputs), num_outputs

    def each(self, rows: Sequence[Sequence[np.ndarray]]) -> tuple[list[Any], dict[int, Exception]]:
        results, failures = self._remote.samples(rows)
        return _by_sample(results, failures, self._num_outputs), failures


def _by_sample(results: Sequence[Any], failures: Mapping[int, Exception], num_outputs: int) -> list[Any]:
    """Returns an array for each sample, or a tuple of arrays if there are several outputs."""
    if num_outputs == 1:
        return [None if i in failures else row[0] for i, row in enumerate(results)]
    return [tuple(row) for row in results]
