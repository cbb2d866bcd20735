"""Provides DALI's `plugin.jax.fn`: turns functions of `jax.Array`s into operators of a pipeline."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from jax.sharding import Sharding

from jdali._operators.record import REGISTRY
from jdali.graph import DataNode, call_operator

__all__ = ["jax_function"]


def jax_function(
    function: Callable[..., object] | None = None,
    num_outputs: int = 1,
    output_layouts: str | Sequence[str] | None = None,
    sharding: Sharding | None = None,
    device: str | None = None,
    preserve: bool = True,
) -> Any:
    """Turns a function of `jax.Array`s into a function of `DataNode`s, to call in a pipeline definition.

    The function gets whole batches, [N, ...], so all samples must have the same size. It may use `jax.jit`, `jax.vmap` and so
    on. It runs in the pipeline's thread, on the device of its inputs, and may keep the arrays.

    Args:
        function: takes an array for each input; returns an array, a tuple of `num_outputs` arrays, or None if `num_outputs`
            is 0.
        num_outputs: number of arrays that the function returns.
        output_layouts: a layout of samples for each output, or one layout for all. None: an output has the layout of the
            input with the same index, if both have the same number of axes.
        sharding: sharding of the global arrays that the function gets.
        device: "cpu" or "gpu", to which the inputs are moved first; None leaves them where they are.
        preserve: call the function even if nothing uses its outputs.
    """

    def decorate(wrapped: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(wrapped)
        def call(*inputs: DataNode) -> Any:
            moved = [getattr(node, device)() for node in inputs] if device is not None else inputs
            arguments = {
                "function": wrapped,
                "num_outputs": num_outputs,
                "output_layouts": output_layouts,
                "sharding": sharding,
            }
            op = REGISTRY["_jax_function"]
            result = call_operator(op, moved, arguments, device=device, preserve=preserve)
            return result if num_outputs else None

        return call

    return decorate(function) if function is not None else decorate
