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
    """Runs a user's function in a worker process.

    Args:
        function: of the user.
        num_outputs: number of arrays that it returns.
    """

    alone = False

    def __init__(self, function: Callable[..., Any], num_outputs: int):
        self.callback, self._num_outputs = function, num_outputs

    def samples(self, rows: Sequence[Sequence[np.ndarray]]) -> tuple[Any, dict[int, Exception]]:
        """Calls the function on samples; returns the outputs of each as a list, and the errors of failed samples by index."""
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
    """Implements the function of `fn.python_function(..., parallel=True)`.

    Args:
        function: of the user.
        num_outputs: number of arrays that it returns.
    """

    def __init__(self, function: Callable[..., Any], num_outputs: int):
        self._function, self._num_outputs = function, num_outputs

    def __repr__(self) -> str:
        return f"{self._function!r} in worker processes"

    def remote(self) -> RemoteFunction:
        return RemoteFunction(self._function, self._num_outputs)

    def in_process(self) -> FunctionHere:
        """Returns a function that runs in this process; see `InWorkers.in_process`."""
        return FunctionHere(self._function, self._num_outputs)

    def remake(self) -> Callable[[], FunctionHere]:
        """Returns a function that a worker process calls to get the function to run in that process."""
        return functools.partial(FunctionHere, self._function, self._num_outputs)

    def anew(self) -> ParallelFunction:
        """Copies the function for another pipeline."""
        return ParallelFunction(self._function, self._num_outputs)

    def each(self, rows: Sequence[Sequence[np.ndarray]]) -> tuple[list[Any], dict[int, Exception]]:
        """Calls the function on samples in workers; returns the array or tuple of each sample, and failures by index."""
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
    """Calls the function like `ParallelFunction`, but in this process, for debug mode."""

    def __init__(self, function: Callable[..., Any], num_outputs: int):
        self._remote, self._num_outputs = RemoteFunction(function, num_outputs), num_outputs

    def each(self, rows: Sequence[Sequence[np.ndarray]]) -> tuple[list[Any], dict[int, Exception]]:
        """Calls the function on samples; see `ParallelFunction.each`."""
        results, failures = self._remote.samples(rows)
        return _by_sample(results, failures, self._num_outputs), failures


def _by_sample(results: Sequence[Any], failures: Mapping[int, Exception], num_outputs: int) -> list[Any]:
    """Returns for each sample an array, or a tuple of arrays."""
    if num_outputs == 1:
        return [None if i in failures else row[0] for i, row in enumerate(results)]
    return [tuple(row) for row in results]
