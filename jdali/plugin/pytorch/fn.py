"""DALI's `plugin.pytorch.fn`: functions on `torch.Tensor`s as operators of a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jdali import fn
from jdali.plugin.pytorch._torch import torch
from jdali.plugin.pytorch.torch_utils import as_torch

__all__ = ["TorchPythonFunction", "torch_python_function"]


def torch_python_function(
    *inputs: Any,
    function: Callable[..., Any],
    num_outputs: int = 1,
    batch_processing: bool = False,
    output_layouts: str | Sequence[str] | None = None,
    device: str | None = None,
    name: str | None = None,
    bytes_per_sample_hint: Any = None,
    preserve: bool = False,
) -> Any:
    """Calls a function on `torch.Tensor`s; `fn.python_function` with tensors in place of arrays.

    Args:
        inputs: DataNodes.
        function: takes a tensor for each input and returns one tensor, or a tuple of `num_outputs`. It must
            not write to its inputs.
        num_outputs: how many tensors the function returns.
        batch_processing: the function takes lists of all samples of the batch and returns lists.
        output_layouts: layout of the outputs, one for each or one for all; those without one have none.
        device: "gpu": tensors come on PyTorch's CUDA device, where there is one; else in host memory.
        name: of the operator.
        bytes_per_sample_hint: without effect.
        preserve: without effect: the function is always called, also if nothing uses its outputs.
    """
    place = "cuda" if device == "gpu" and torch.cuda.is_available() else "cpu"

    def given(value: Any) -> Any:
        if isinstance(value, list):
            return [given(v) for v in value]
        return as_torch(value, copy=False).to(place)

    def taken(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(taken(v) for v in value)
        return value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value

    def call(*arrays: Any) -> Any:
        return taken(function(*map(given, arrays)))

    return fn.python_function(
        *inputs, function=call, num_outputs=num_outputs, batch_processing=batch_processing,
        output_layouts=output_layouts, device=device, name=name, preserve=preserve,
    )  # fmt: skip


class TorchPythonFunction:
    """`torch_python_function` as an object that is made first and called on inputs later.

    Args:
        function, num_outputs, device, batch_processing: as for `torch_python_function`.
        kwargs: its other arguments.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        num_outputs: int = 1,
        device: str = "cpu",
        batch_processing: bool = False,
        **kwargs: Any,
    ):
        self._arguments: dict[str, Any] = {
            "function": function, "num_outputs": num_outputs, "device": device,
            "batch_processing": batch_processing, **kwargs,
        }  # fmt: skip

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """Adds the operator to the pipeline that is being defined; gives its outputs."""
        return torch_python_function(*inputs, **{**self._arguments, **kwargs})
