"""Calls the user's Python on DLPack capsules, for libraries that take only capsules."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from jdali._batches import data_array
from jdali._numerics.rounding import x64_context
from jdali._operators.record import HostOutputs, Static, host_batch_operator, host_operator
from jdali._system.devices import accelerator
from jdali.ops.flow._python_function import as_outputs, columns_of, layouts_of, output_count

_NAME = "dl_tensor_python_function"
_UNUSED = b"dltensor"  # name of an unused capsule in DLPack's specification


class _Capsule:
    """Wraps a capsule in DLPack's Python protocol, in which an object must report its device."""

    def __init__(self, capsule: object):
        self._capsule = capsule

    def __dlpack__(self, **_: object) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        # A DLManagedTensor begins with the pointer to the data, followed by the device's type and number.
        fields = ctypes.cast(pointer(self._capsule, _UNUSED) + 8, ctypes.POINTER(ctypes.c_int32))
        return fields[0], fields[1]


def to_capsule(value: np.ndarray | jax.Array) -> Any:
    """Makes a DLPack capsule that shares the memory of an array; read-only NumPy arrays are copied."""
    if isinstance(value, np.ndarray) and not value.flags.writeable:  # DLPack has no read-only arrays
        value = value.copy()
    return value.__dlpack__()


def from_capsule(value: object) -> Any:
    """Converts a capsule to an array; returns other objects unchanged."""
    if type(value).__name__ != "PyCapsule":
        return value
    tensor = _Capsule(value)
    try:
        device, _ = tensor.__dlpack_device__()
    except ValueError as error:
        raise TypeError(
            f"{_NAME}: the capsule is not a DLPack tensor, or has been taken by others: {error}"
        ) from None
    if device == 1:
        return np.from_dlpack(tensor)
    with x64_context(True):  # without it, JAX refuses 64-bit types
        return jax.dlpack.from_dlpack(tensor)


def on_accelerator(function: Callable[..., object]) -> Callable[..., Any]:
    """Wraps `function` so that it gets capsules on the accelerator; capsules in host memory are moved there."""

    def moved(value: object) -> object:
        if isinstance(value, list):
            return [moved(one) for one in value]
        with x64_context(True):
            return to_capsule(jax.device_put(from_capsule(value), accelerator()))

    return lambda *values: function(*map(moved, values))


@host_operator(
    name=_NAME,
    outputs=output_count,
    effects=True,
    output_layouts=functools.partial(layouts_of, name=_NAME),
    work="user code",
)
def dl_tensor_python_function(
    *samples: np.ndarray,
    function: Static[Callable[..., object]],
    num_outputs: Static[int] = 1,
    batch_processing: Static[bool] = True,
    output_layouts: Static[tuple[str, ...] | str | None] = None,
    synchronize_stream: Static[bool] = True,
) -> tuple[np.ndarray, ...]:
    """Calls a Python function on DLPack capsules.

    With `device="gpu"` the tensors are on the accelerator. Prefer `python_function` and `plugin.jax.fn.jax_function`
    for libraries that take arrays, as most do.

    Args:
        function: takes a capsule for each input and returns one capsule (or anything with `__dlpack__`, or an
            array), or a tuple of `num_outputs`. It must not write to its inputs.
        num_outputs: number of tensors that the function returns; with 0, its result is ignored.
        batch_processing: the function takes lists with the capsules of all samples of the batch, and returns lists.
        output_layouts: a layout for all outputs, or a list with one per output; outputs past the list's end have no layout.
        synchronize_stream: without effect: data are complete before the function is called.

    Returns: copies of the function's results, in host memory.

    Parity: DALI documents False as the default of `batch_processing`; its code uses True.

    Example:
        numbers = fn.dl_tensor_python_function(
            numbers, function=lambda capsule: capsule, batch_processing=False
        )
    """
    results = as_outputs(function(*map(to_capsule, samples)), num_outputs, _NAME)
    return tuple(data_array(from_capsule(result), copy=True) for result in results)


@host_batch_operator(
    name=f"_{_NAME}", outputs=output_count, effects=True, whole_batch=lambda arguments: True, work="user code"
)
def dl_tensor_python_function_batch(
    *batches: Sequence[np.ndarray],
    function: Static[Callable[..., object]],
    num_outputs: Static[int] = 1,
    batch_processing: Static[bool] = True,
    output_layouts: Static[tuple[str, ...] | str | None] = None,
    synchronize_stream: Static[bool] = True,
) -> HostOutputs:
    """Runs `dl_tensor_python_function` with `batch_processing=True`: the function gets whole batches."""
    lists = [[to_capsule(sample) for sample in samples] for samples in batches]
    results = as_outputs(function(*lists), num_outputs, _NAME)
    arrays = [
        list(map(from_capsule, samples)) if isinstance(samples, (list, tuple)) else samples
        for samples in results
    ]
    layouts = layouts_of({"num_outputs": num_outputs, "output_layouts": output_layouts}, _NAME)
    return columns_of(arrays, len(batches[0]) if batches else None, layouts, _NAME)
