"""Converts the batches that users pass, in any form, to the samples of a pipeline."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeAlias

import jax
import numpy as np

from jdali import types
from jdali._batches import (
    Provenance,
    check_alike,
    data_array,
    device_array,
    host_array,
    same_layout,
    sample_arrays,
)
from jdali._system.devices import is_local
from jdali.tensors import Tensor, TensorCPU, TensorList

# A list of samples in host memory, or a `TensorList` if the user's data is on a device.
Samples: TypeAlias = "list[np.ndarray[Any, Any]] | TensorList"


def in_host_memory(samples: Samples) -> list[np.ndarray[Any, Any]]:
    return samples.to_samples() if isinstance(samples, TensorList) else samples


def chosen(samples: Samples, rows: np.ndarray[Any, Any]) -> Samples:
    return samples.select(rows) if isinstance(samples, TensorList) else [samples[i] for i in rows.tolist()]


def copied(samples: Samples) -> Samples:
    return samples if isinstance(samples, TensorList) else [sample.copy() for sample in samples]


def kind_of(samples: Samples, i: int) -> tuple[np.dtype[Any], int]:
    """Returns the element type and the number of axes of a sample."""
    one = samples.spec if isinstance(samples, TensorList) else samples[i]
    return one.dtype, one.ndim


def batch_of(samples: Samples, layout: str, device: str, source: Provenance) -> TensorList:
    """Makes a batch from samples that a source returned; data on a device stays there, unless `device` is "cpu"."""
    if not isinstance(samples, TensorList):
        return TensorList.from_samples(samples, layout, device, source)
    store = dataclasses.replace(samples.store, spec=samples.spec.replace(layout=layout))
    return TensorList.from_store(store.to_host() if device == "cpu" else store, device, source)


def as_samples(value: object, *, copy: bool = True) -> Samples:
    """Converts a batch of any form: a list, an array [N, ...] of NumPy, JAX or torch, or a `TensorList`.

    Args:
        copy: copies samples whose memory the user could change.

    Returns: arrays in host memory; for data on a device a `TensorList`.

    Raises:
        SampleError: a sample is not an array, or has another type than the first.
        TypeError: the batch is not an array.
    """
    on_device = _on_device(value)
    if on_device is not None:
        return on_device
    if isinstance(value, TensorList):
        return [sample.copy() for sample in value.to_samples()] if copy else value.to_samples()
    if isinstance(value, (list, tuple)):
        return sample_arrays(value, copy=copy)
    whole = host_array(value, copy=copy)
    if whole.ndim == 0:
        raise TypeError(f"{type(value).__name__} {value!r:.60} is not a batch: it has no axis of samples")
    return [whole[i, ...] for i in range(len(whole))]  # with `...`, a scalar is an array, too


def _on_device(value: object) -> TensorList | None:
    """Converts a batch with data on a device, without copying to the host; returns None for a batch in host memory."""
    if isinstance(value, TensorList):
        return None if value.store.local else value
    if isinstance(value, jax.Array):
        return None if is_local(value) else TensorList.from_dense(device_array(value), "", "gpu")
    if not isinstance(value, (list, tuple)) or all(map(_is_local_sample, value)):
        return None
    arrays: list[Any] = [data_array(v) if _is_local_sample(v) else device_array(v) for v in value]
    check_alike(arrays)
    return TensorList.from_samples(arrays, "", "gpu")


def _is_local_sample(value: object) -> bool:
    array = value._value if isinstance(value, Tensor) else value
    return not isinstance(array, jax.Array) or is_local(array)


def own_sample(value: object) -> Any:
    """Returns a sample whose memory the user does not write to."""
    if not _is_local_sample(value):
        return value  # JAX's arrays do not change
    copied = data_array(value, copy=True)
    return TensorCPU(copied, value.layout()) if isinstance(value, Tensor) else copied


def host_sample(value: Any) -> Any:
    """Copies a result of `own_sample` to host memory, if it is on a device."""
    if isinstance(value, (np.ndarray, TensorCPU)):
        return value
    array = np.asarray(value)
    return TensorCPU(array, value.layout()) if isinstance(value, Tensor) else array


def layout_of(value: object) -> str:
    """Returns the layout of a batch that is a `TensorList` or consists of tensors; "" if it has none."""
    if isinstance(value, TensorList):
        return value.layout()
    if isinstance(value, (list, tuple)):
        return same_layout([sample.layout() for sample in value if isinstance(sample, Tensor)])
    return ""


class DataKind:
    """Element type, number of axes and layout of the batches of one output, which must not change."""

    def __init__(self) -> None:
        self._dtype: np.dtype[Any] | None = None
        self._ndim = 0
        self._layout = ""

    def check(self, samples: Samples, layout: str) -> None:
        """Raises RuntimeError, with DALI's text, if a batch is of another kind than the previous batch.

        Batches without samples are not checked. Batches without a layout may come before batches with a layout.
        """
        if not len(samples):
            return
        dtype, ndim = kind_of(samples, 0)
        if self._dtype is None:
            self._dtype, self._ndim = dtype, ndim
        if dtype != self._dtype:
            raise RuntimeError(
                "Type of the data fed to the external source has changed from the previous iteration. Type in the "
                f"previous iteration was {types.type_name(self._dtype)} and the current type is "
                f"{types.type_name(dtype)}."
            )
        if ndim != self._ndim:
            raise RuntimeError(
                "Number of dimensions of the data fed to the external source has changed from previous iteration. "
                f"Dimensionality in the previous iteration was {self._ndim} and the current is {ndim}."
            )
        if self._layout and layout != self._layout:
            raise RuntimeError(
                "Layout of the data fed to the external source has changed from previous iteration. Layout in the "
                f'previous iteration was "{self._layout}" and the current is "{layout}".'
            )
        self._layout = layout
