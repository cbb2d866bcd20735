from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jdali import types
from jdali._batches import BatchSpec, PaddedBlock, Store, of_batch_axis, place
from jdali._numerics.narrow import narrow
from jdali._operators.record import HostOutputs, Static, host_batch_operator
from jdali.tensors import TensorList


@host_batch_operator(
    name="_jax_function", outputs=lambda arguments: int(arguments.get("num_outputs", 1)),
    in_place=True, joins=True, whole_batch=lambda arguments: True,
)  # fmt: skip
def jax_function(
    *batches: TensorList,
    function: Static[Callable[..., Any]],
    num_outputs: Static[int] = 1,
    output_layouts: Static[tuple[str, ...] | str | None] = None,
    sharding: Static[Any] = None,
) -> HostOutputs:
    """Calls a function of `jax.Array`s on whole batches.

    Args:
        function: takes an array [N, ...] for each input and returns one array, or a tuple of `num_outputs`.
        num_outputs: number of arrays that the function returns.
        output_layouts: a layout for all outputs, or a list with one per output; None: an output takes the layout of the
            input with the same index, if both have the same number of axes.
        sharding: sharding of the global arrays that the function takes; None: the function takes local arrays.

    Returns: the function's results.
    """
    for i, batch in enumerate(batches):
        if not batch.is_dense_tensor():
            shapes = ", ".join(dict.fromkeys(map(str, batch.shape())))
            raise RuntimeError(
                "jax_function: JAX Python function inputs must be batches of uniform shape, so that the input batch can be "
                f"represented as a tensor. Input {i} is a batch of samples with different shapes ({shapes}). "
                "Pad, resize or crop them to one shape"
            )
    arrays = [narrow(batch.as_jax(), f"jax_function: input {i}") for i, batch in enumerate(batches)]
    if sharding is not None:
        arrays = [place(f"input {i} of jax_function", [a], sharding) for i, a in enumerate(arrays)]
    result = function(*arrays)
    if num_outputs == 0:
        if result is not None:
            raise TypeError(f"jax_function: num_outputs is 0, the function returned {type(result).__name__}")
        return HostOutputs((), {})
    results = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    if len(results) != num_outputs or not all(isinstance(r, jax.Array) for r in results):
        got = ", ".join(type(r).__name__ for r in results)
        raise TypeError(
            f"jax_function: The Python callback was expected to return (a tuple of) `num_outputs={num_outputs}` outputs, but "
            f"returned {sum(r is not None for r in results)}; each must be a jax.Array, and it returned {got}"
        )
    for result_array in results:
        types.to_dali_type(result_array.dtype)  # raises for types that DALI does not have, such as bfloat16
    layouts = _layouts(output_layouts, results, batches)
    size = len(batches[0]) if batches else None
    columns = tuple(_column(local_rows(a), name, size) for a, name in zip(results, layouts, strict=True))
    return HostOutputs(columns, {})


def _column(array: Any, layout: str, size: int | None) -> Store:
    """Makes an output from an array [N, ...]. Raises an error if `size` is given and differs from N."""
    if size is not None and (array.ndim == 0 or len(array) != size):
        raise ValueError(
            "jax_function: The Python callback should return a tensor representing a batch of samples. It returned an array "
            f"of shape {array.shape} for a batch of {size}: its first axis must be that of the samples"
        )
    extents = np.tile(np.array(array.shape[1:], np.int64), (array.shape[0], 1))
    return Store.of_block(PaddedBlock(array), BatchSpec(extents, array.dtype, layout))


def _layouts(
    declared: Sequence[str] | str | None, results: Sequence[jax.Array], batches: Sequence[TensorList]
) -> list[str]:
    if isinstance(declared, str):
        return [declared] * len(results)
    if declared is not None:
        if len(declared) != len(results):
            raise ValueError(
                "jax_function: The number of `output_layouts` must match the `num_outputs` argument: "
                f"{len(declared)} layouts for {len(results)} outputs"
            )
        return list(declared)
    layouts = []
    for i, result in enumerate(results):
        alike = i < len(batches) and batches[i].ndim() == result.ndim - 1
        layouts.append(batches[i].layout() if alike else "")
    return layouts


def local_rows(array: jax.Array) -> jax.Array:
    """Returns the rows of an array that are in this process; these are all rows unless the array spans several processes."""
    if array.is_fully_addressable:
        return array
    # So that each device has whole rows. This moves no data if only the rows are split.
    array = jax.device_put(array, of_batch_axis(array.sharding))
    rows = {shard.index[0].start or 0: shard.data for shard in array.addressable_shards}
    first, *others = (rows[start] for start in sorted(rows))
    return jnp.concatenate([first, *(jax.device_put(other, first.sharding) for other in others)])
