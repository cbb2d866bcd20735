"""Provides DALI's `plugin.pytorch.fn`: operators that run a function of `torch.Tensor`s."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import torch

from jdali import fn, ops
from jdali.data_node import DataNode
from jdali.plugin.pytorch.torch_utils import as_torch, to_torch_type

__all__ = ["TorchPythonFunction", "torch_python_function"]

Device: TypeAlias = Literal["cpu", "gpu", "mixed"]


def torch_python_function(
    *inputs: Any,
    function: Callable[..., Any],
    num_outputs: int = 1,
    batch_processing: bool = False,
    output_layouts: str | Sequence[str] | None = None,
    device: Device | None = None,
    name: str | None = None,
    bytes_per_sample_hint: Any = None,
    preserve: bool = False,
) -> tuple[DataNode, ...]:
    """Calls a function on `torch.Tensor`s, as `fn.python_function` does on arrays.

    Args:
        inputs: DataNodes.
        function: takes a tensor for each input; returns one tensor, or a tuple of `num_outputs` tensors, which must be dense
            and of a type in `to_torch_type`. It must not write to its inputs.
        num_outputs: number of tensors that the function returns.
        batch_processing: True if the function takes and returns lists of all samples in the batch.
        output_layouts: a layout for each output, or one layout for all; None: no layouts.
        device: with "gpu", tensors are on PyTorch's CUDA device if there is one; otherwise they are in host memory.
        name: name of the operator.
        bytes_per_sample_hint: without effect.
        preserve: has no effect, because the function is always called, even if nothing uses its outputs.
    """
    return fn.python_function(
        *inputs, function=functools.partial(_on_tensors, function, device), num_outputs=num_outputs,
        batch_processing=batch_processing, output_layouts=output_layouts, device=device, name=name, preserve=preserve,
    )  # fmt: skip


class TorchPythonFunction(ops.PythonFunction):
    """Holds the arguments of `torch_python_function`; a call with inputs adds a node.

    Args:
        function, num_outputs, device, batch_processing: see `torch_python_function`.

    Attributes:
        stream: always None; in DALI it is a CUDA stream.
    """

    stream = None
    schema_name = "TorchPythonFunction"

    def __init__(
        self,
        function: Callable[..., Any],
        num_outputs: int = 1,
        device: Device = "cpu",
        batch_processing: bool = False,
        **kwargs: Any,
    ):
        call = functools.partial(self.torch_wrapper, batch_processing, function, device)
        super().__init__(call, num_outputs, device, batch_processing, **kwargs)

    def torch_wrapper(
        self, batch_processing: bool, function: Callable[..., object], device: Device, *args: object
    ) -> object:
        """Converts arrays to tensors, calls the function, and converts its results to arrays; the pipeline calls this.

        Args:
            batch_processing: has no effect, because lists of arrays become lists of tensors in any case.
            function: a function of tensors.
            device: see `torch_python_function`.
            args: arrays, or lists of arrays.

        Returns: the results as arrays.
        """
        return _on_tensors(function, device, *args)


def _on_tensors(function: Callable[..., Any], device: str | None, *arrays: Any) -> object:
    target = "cuda" if device == "gpu" and torch.cuda.is_available() else "cpu"

    def moved(value: Any) -> Any:
        if isinstance(value, list):
            return [moved(v) for v in value]
        return as_torch(value, copy=False).to(target)

    def taken(value: object) -> Any:
        if isinstance(value, (list, tuple)):
            return (tuple if isinstance(value, tuple) else list)(map(taken, value))
        return _array(value) if isinstance(value, torch.Tensor) else value

    return taken(function(*map(moved, arrays)))


def _array(tensor: torch.Tensor) -> np.ndarray:
    if tensor.layout is not torch.strided or tensor.dtype not in to_torch_type.values():
        names = ", ".join(str(dtype).removeprefix("torch.") for dtype in to_torch_type.values())
        raise TypeError(
            f"the function returned a tensor of {tensor.dtype} and layout {tensor.layout}; it must be dense "
            f"(torch.strided) and of one of the types {names}: convert it in the function"
        )
    return tensor.numpy(force=True)  # also of a tensor with gradients, on a GPU, or negated lazily
