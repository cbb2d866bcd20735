"""Provides DALI's `plugin.jax.integration`: private functions with which programs convert tensors to `jax.Array`s."""

from __future__ import annotations

import jax

from jdali.tensors import TensorCPU, TensorGPU


def _to_jax_array(dali_tensor: TensorCPU | TensorGPU, copy: bool) -> jax.Array:
    """Converts a tensor to an array on its device.

    Args:
        dali_tensor: a tensor of a pipeline's output.
        copy: copy the values; the result is the same, because values never change.
    """
    array = dali_tensor.__jax_array__()
    return array.copy() if copy else array


def _jax_device(jax_array: jax.Array) -> object:
    """Returns the device of an array, or its sharding if it is on several devices."""
    return jax_array.device
