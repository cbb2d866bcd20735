from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._errors import check_samples
from jdali._kernels.fit import fit
from jdali._operators.record import PerSample, extents_of, operator, padded

_NAME = "sequence_rearrange"


def setup(sequence: BatchSpec, *, new_order: np.ndarray) -> BatchSpec:
    if sequence.layout and not sequence.layout.startswith("F"):
        raise ValueError(
            f"{_NAME}: Expected sequence as the input, where outermost dimension represents frames dimension `F`, got data "
            f'with layout = "{sequence.layout}".'
        )
    if sequence.ndim < 2:
        raise ValueError(
            f"{_NAME}: Sequence elements must have at least 1 dim, got {sequence.ndim} axes in all"
        )
    order, lengths = _orders(new_order)
    check_samples(
        lengths == 0,
        lambda _: f"{_NAME}: Empty result sequences are not allowed. new_order is empty",
        argument="new_order",
    )
    present = np.arange(order.shape[1]) < lengths[:, None]
    check_samples(
        present & ((order < 0) | (order >= sequence.extents[:, :1])),
        lambda i, at: (
            f"{_NAME}: new_order[{at}] must be between 0 and input_sequence_length = {sequence.extents[i, 0]} for sample {i}, "
            f"but it is: {order[i, at]}."
        ),
        argument="new_order",
    )
    return sequence.replace(extents=np.concatenate([lengths[:, None], sequence.extents[:, 1:]], axis=1))


def _orders(new_order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the orders, padded to [N, longest], and their lengths, [N]. A single number is an order of length 1."""
    if new_order.dtype == object:
        return (
            (padded(new_order), extents_of(new_order)[:, 0]) if len(new_order) else _orders(np.zeros((0, 0)))
        )
    order = new_order.reshape(len(new_order), -1) if len(new_order) else np.zeros((0, 0), np.int32)
    return order, np.full(len(order), order.shape[1])


@operator(setup=setup, source="operators/sequence/sequence_rearrange.h")
def sequence_rearrange(
    sequence: Array,
    /,
    *,
    new_order: PerSample[list[int]],
    out_shape: tuple[int, ...],
) -> Array:
    """Reorders the frames of a sequence: `out[i] = sequence[new_order[i]]`.

    Args:
        sequence: [F, ...], at least two axes, any type; a layout must begin with F.
        new_order: indices of frames, 0 to F - 1, at least one; a frame may be taken several times or not at all. The number of
            indices may differ by sample. A single number gives a sequence of one frame.

    Returns: [length of new_order, ...], type and layout of the input.

    Example: frames = fn.sequence_rearrange(frames, new_order=[3, 2, 1, 0])
    """
    order = jnp.atleast_1d(jnp.asarray(new_order, jnp.int32))
    return fit(jnp.take(sequence, order, axis=0, mode="clip"), out_shape)
