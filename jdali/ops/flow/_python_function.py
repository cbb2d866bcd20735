from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from jdali._batches import data_array, sample_arrays
from jdali._errors import OperatorError
from jdali._operators.record import HostOutputs, Static, column, host_batch_operator, host_operator


def output_count(args: Mapping[str, Any]) -> int:
    return int(args.get("num_outputs", 1))


def layouts_of(args: Mapping[str, Any], name: str = "python_function") -> tuple[str, ...]:
    """Returns the layout of each output of operator `name`, "" if none is given."""
    layouts, count = args.get("output_layouts"), output_count(args)
    if layouts is None or isinstance(layouts, str):
        return (layouts or "",) * count
    if len(layouts) > count:
        error = ValueError(
            f"{name}: The length of the ``output_layouts`` (={len(layouts)}) is greater than the number of outputs (={count})."
        )
        raise OperatorError.of(error, name)
    return (*layouts, *[""] * (count - len(layouts)))


@host_operator(outputs=output_count, effects=True, output_layouts=layouts_of, work="user code")
def python_function(
    *samples: np.ndarray,
    function: Static[Callable[..., object]],
    num_outputs: Static[int] = 1,
    batch_processing: Static[bool] = False,
    output_layouts: Static[tuple[str, ...] | str | None] = None,
    parallel: Static[bool] = False,
) -> tuple[np.ndarray, ...]:
    """Calls a Python function on NumPy arrays.

    The function is called for one sample after another, in order, even if its outputs are not used.

    Args:
        function: takes an array for each input and returns one array, or a tuple of `num_outputs`. It must
            not write to its inputs.
        num_outputs: number of arrays that the function returns; with 0, its result is ignored.
        batch_processing: the function takes lists of all samples of the batch and returns lists.
        output_layouts: a layout for all outputs, or a list with one per output; outputs past the list's end have no layout.
            Outputs do not get the layouts of inputs.
        parallel: run the function in worker processes (see `py_num_workers` of `Pipeline`), on several samples at
            the same time, in any order, and only if an output is used. This is faster for functions that hold the GIL. Not
            allowed with `batch_processing`.

    Returns: copies of the function's results.

    Example: doubled = fn.python_function(numbers, function=lambda array: array * 2)
    """
    results = as_outputs(function(*samples), num_outputs)
    _check_returned(results)
    return tuple(data_array(result, copy=True) for result in results)


def _check_returned(results: Sequence[object]) -> None:
    if len(results) == 1 and results[0] is None:
        raise TypeError("Python function returned 0 outputs and 1 were expected: it returned None")


@host_batch_operator(
    name="_python_function",
    outputs=output_count,
    effects=True,
    whole_batch=lambda arguments: True,
    work="user code",
)
def python_function_batch(
    *batches: Sequence[np.ndarray],
    function: Static[Callable[..., object]],
    num_outputs: Static[int] = 1,
    batch_processing: Static[bool] = True,
    output_layouts: Static[tuple[str, ...] | str | None] = None,
    parallel: Static[bool] = False,
) -> HostOutputs:
    """Runs `python_function` with `batch_processing=True`: the function gets whole batches."""
    results = as_outputs(function(*batches), num_outputs)
    layouts = layouts_of({"num_outputs": num_outputs, "output_layouts": output_layouts})
    return columns_of(results, len(batches[0]) if batches else None, layouts)


def columns_of(
    results: Sequence[Any], expected: int | None, layouts: Sequence[str], name: str = "python_function"
) -> HostOutputs:
    """Checks and copies the results of a function of whole batches.

    Args:
        results: a list of samples for each output.
        expected: size of the batch; None: not known.
    """
    _check_returned(results)
    for i, samples in enumerate(results):
        if not hasattr(samples, "__len__"):
            raise TypeError(
                f"{name}: the function must return a list of samples, output {i} is {type(samples).__name__}"
            )
        if expected is not None and len(samples) != expected:
            raise ValueError(
                f"{name}: Function called by {name} returned tensor list of wrong size at idx {i}. Returned list is of a size "
                f"{len(samples)} and should be of size {expected}"
            )
    columns = tuple(
        column(sample_arrays(s, copy=True), layout) for s, layout in zip(results, layouts, strict=True)
    )
    return HostOutputs(columns, {})


class FunctionOfRows(Protocol):
    """Protocol of a function that is called for several samples at a time, in other processes."""

    def each(self, rows: Sequence[Sequence[np.ndarray]]) -> tuple[list[Any], dict[int, Exception]]:
        """Calls the function for each row (inputs of one sample). Returns the results, and errors by row index."""


@host_batch_operator(name="_parallel_python_function", outputs=output_count, work="user code")
def parallel_python_function(
    *batches: Sequence[np.ndarray],
    function: Static[FunctionOfRows],
    num_outputs: Static[int] = 1,
    batch_processing: Static[bool] = False,
    output_layouts: Static[tuple[str, ...] | str | None] = None,
    parallel: Static[bool] = True,
) -> HostOutputs:
    """Runs `python_function` with `parallel=True`: the function runs in worker processes."""
    results, failures = function.each(list(zip(*batches, strict=True)))
    layouts = layouts_of({"num_outputs": num_outputs, "output_layouts": output_layouts})
    return HostOutputs.of_samples(results, failures, layouts)


def as_outputs(result: object, count: int, name: str = "python_function") -> tuple[Any, ...]:
    """Returns the result of a function as a tuple of `count` outputs; raises if their number is different."""
    if count == 0:
        return ()
    if count == 1 and not isinstance(result, tuple):
        result = (result,)
    if not isinstance(result, tuple) or len(result) != count:
        if not isinstance(result, tuple):
            raise TypeError(
                f"{name}: The output from a multi-output Pythonfunction operator must be a tuple, got: {type(result)}. "
                f"num_outputs is {count}"
            )
        raise TypeError(
            f"{name}: Unexpected number of outputs from Python function operator - got {len(result)}, expected {count}"
        )
    return result
