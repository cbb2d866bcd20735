"""The user's own Python in the middle of a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jdali._operator import Static, operator


def _count(args: Mapping[str, Any]) -> int:
    return int(args.get("num_outputs", 1))


@operator(kind="host", outputs=_count)
def python_function(
    *samples: np.ndarray,
    function: Static[Callable[..., Any]],
    num_outputs: Static[int] = 1,
    batch_processing: Static[bool] = False,
    output_layouts: Static[tuple[str, ...] | str | None] = None,
) -> tuple[np.ndarray, ...]:
    """Calls a Python function on NumPy arrays.

    Args:
        function: takes an array for each input and returns one array, or a tuple of `num_outputs`.
        num_outputs: how many arrays the function returns.
        batch_processing: the function takes lists of all samples of the batch and returns lists.
        output_layouts: layout of the outputs, one for each or one for all.

    Returns: what the function returned, copied only if it is no NumPy array.
    """
    return as_outputs("python_function", function(*samples), num_outputs)


@operator(kind="host", name="_python_function", batched=True, outputs=_count)
def python_function_batch(
    *batches: Sequence[np.ndarray],
    function: Static[Callable[..., Any]],
    num_outputs: Static[int] = 1,
    batch_processing: Static[bool] = True,
    output_layouts: Static[tuple[str, ...] | str | None] = None,
) -> tuple[list[np.ndarray], ...]:
    """`python_function` with `batch_processing=True`: the function sees whole batches."""
    results = as_outputs("python_function", function(*batches), num_outputs, convert=list)
    expected = len(batches[0]) if batches else None
    for samples in results:
        if expected is not None and len(samples) != expected:
            raise ValueError(
                f"python_function: the function returned {len(samples)} samples for a batch of {expected}"
            )
    return tuple([np.asarray(s) for s in samples] for samples in results)


def as_outputs(
    name: str, result: Any, count: int, convert: Callable[[Any], Any] = np.asarray
) -> tuple[Any, ...]:
    """A function's result as a tuple of `count` outputs."""
    if count == 0:
        return ()
    if count == 1 and not isinstance(result, tuple):
        result = (result,)
    if not isinstance(result, tuple) or len(result) != count:
        got = f"{len(result)} values" if isinstance(result, tuple) else type(result).__name__
        raise TypeError(f"{name}: the function must return a tuple of {count} arrays, it returned {got}")
    return tuple(convert(r) for r in result)
